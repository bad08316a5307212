/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call ends: one that waits for what does not come when its deadline has passed and when it is cancelled, and one
 * that does not wait by itself. Opens of a FIFO wait for the other end.
 */
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "../src/calls.h"
#include "io.h"

enum { SIZE = 64 };

static char bytes[SIZE];
static struct iovec list = {bytes, SIZE};
static struct msghdr message = {.msg_iov = &list, .msg_iovlen = 1};
static char directory[] = "/tmp/abtio-ends-XXXXXX";

/* What a call can wait for without success, and what it need not wait for. */
static int empty[2], full[2];              /* pipes */
static int quiet[2], stuffed[2], spare[2]; /* sockets: nothing comes, and nothing more can be sent */
static int listener, file;                 /* nobody connects to the former */
static int unconnected;
static struct sockaddr_un backlog = {.sun_family = AF_UNIX};
static struct statx status;
static struct addrinfo *addresses;

/* --- Setting up --- */

static void need(bool good, const char *what)
{
    if (!good)
        bail_out("%s: %s", what, strerror(errno));
}

static void fill(int fd)
{
    static const char much[4096];
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, much, sizeof(much)) > 0)
        ;
    fcntl(fd, F_SETFL, flags);
}

/* Connects until the backlog is full; those stay. */
static void fill_backlog(void)
{
    int fd;
    do {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        need(fd >= 0, "socket");
    } while (connect(fd, (struct sockaddr *)&backlog, sizeof(backlog)) == 0);
    close(fd);
}

static void set_up(void)
{
    need(mkdtemp(directory) && chdir(directory) == 0, "mkdtemp");
    need(pipe(empty) == 0 && pipe(full) == 0, "pipe");
    make_pair(quiet);
    make_pair(stuffed);
    make_pair(spare);
    fill(full[1]);
    fill(stuffed[1]);
    file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    need(file >= 0 && mkfifo("fifo", 0600) == 0, "mkfifo");
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(backlog.sun_path, "nobody");
    need(bind(listener, (struct sockaddr *)&backlog, sizeof(backlog)) == 0 && listen(listener, 0) == 0, "listen");
    int other = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(backlog.sun_path, "busy");
    need(bind(other, (struct sockaddr *)&backlog, sizeof(backlog)) == 0 && listen(other, 0) == 0, "listen");
    fill_backlog();
    unconnected = socket(AF_UNIX, SOCK_STREAM, 0);
}

static void tear_down(void)
{
    static const char *const names[] = {"file", "fifo", "nobody", "busy", "made", "renamed"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(names[i]);
    rmdir("directory");
    need(chdir("/") == 0 && rmdir(directory) == 0, directory);
}

/* --- Rows --- */

struct row {
    const char *name, *what;
    ssize_t (*call)(abtio_deadline deadline);
    int (*start)(abtio_deadline deadline, abtio_op **op);
    bool waits;
    void (*after)(ssize_t result);
    struct row *next;
};

static struct row *first_row, **last_row = &first_row;

static void after_nothing(ssize_t result)
{
}

static void after_open(ssize_t result)
{
    if (result >= 0)
        close((int)result);
    unlink("made");
}

static void after_name(ssize_t result)
{
    unlink("made");
    unlink("renamed");
    rmdir("directory");
}

static void after_lookup(ssize_t result)
{
    if (result == 0)
        freeaddrinfo(addresses);
}

#define ROW(name, what, waits, after, ...) ROW_AT(name, what, waits, after, __LINE__, __VA_ARGS__)
#define ROW_AT(name, what, waits, after, line, ...) ROW_IN(name, what, waits, after, line, __VA_ARGS__)
#define ROW_IN(name, what, waits, after, line, ...)                                                                    \
    static ssize_t call_##line(abtio_deadline deadline)                                                                \
    {                                                                                                                  \
        return abtio_##name(__VA_ARGS__, deadline);                                                                    \
    }                                                                                                                  \
    static int start_##line(abtio_deadline deadline, abtio_op **op)                                                    \
    {                                                                                                                  \
        return abtio_##name##_nb(__VA_ARGS__, deadline, op);                                                           \
    }                                                                                                                  \
    __attribute__((constructor)) static void add_##line(void)                                                          \
    {                                                                                                                  \
        static struct row row = {#name, what, call_##line, start_##line, waits, after, NULL};                          \
        *last_row = &row;                                                                                              \
        last_row = &row.next;                                                                                          \
    }                                                                                                                  \
    struct row
#define WAITS(name, what, ...) ROW(name, what, true, after_open, __VA_ARGS__)
#define ENDS(name, after, ...) ROW(name, "by itself", false, after, __VA_ARGS__)

/* Arguments that are made anew each time. */
static char *new_template(void)
{
    static char template[] = "made-XXXXXX";
    strcpy(template + 5, "XXXXXX");
    return template;
}

static int new_socket(void)
{
    close(unconnected);
    return unconnected = socket(AF_UNIX, SOCK_STREAM, 0);
}

static int copied;

static int new_copy(void)
{
    return copied = dup(file);
}

static void after_close(ssize_t result)
{
    if (result < 0)
        close(copied);
}

static const char *new_file(void)
{
    close(open("made", O_CREAT | O_WRONLY, 0600));
    return "made";
}

static void after_mkostemp(ssize_t result)
{
    char path[64], name[256];
    if (result < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)result);
    ssize_t size = readlink(path, name, sizeof(name) - 1);
    if (size > 0) {
        name[size] = 0;
        unlink(name);
    }
    close((int)result);
}

WAITS(openat, "a FIFO to read", AT_FDCWD, "fifo", O_RDONLY | O_CLOEXEC, 0);
WAITS(openat, "a FIFO to write", AT_FDCWD, "fifo", O_WRONLY | O_CLOEXEC, 0);
WAITS(openat, "a FIFO that need not be made", AT_FDCWD, "fifo", O_RDONLY | O_CREAT, 0600);
WAITS(openat, "a FIFO that cannot be cut", AT_FDCWD, "fifo", O_WRONLY | O_TRUNC, 0);
WAITS(read, "an empty pipe", empty[0], bytes, SIZE);
WAITS(write, "a full pipe", full[1], bytes, SIZE);
WAITS(pread, "an empty pipe", empty[0], bytes, SIZE, -1);
WAITS(pwrite, "a full pipe", full[1], bytes, SIZE, -1);
WAITS(preadv, "an empty pipe", empty[0], &list, 1, -1, 0);
WAITS(pwritev, "a full pipe", full[1], &list, 1, -1, 0);
WAITS(read_all, "an empty pipe", empty[0], bytes, SIZE);
WAITS(write_all, "a full pipe", full[1], bytes, SIZE);
WAITS(pread_all, "an empty pipe", empty[0], bytes, SIZE, -1);
WAITS(pwrite_all, "a full pipe", full[1], bytes, SIZE, -1);
WAITS(splice, "an empty pipe", empty[0], -1, file, -1, SIZE, 0);
WAITS(splice, "a full pipe", file, 0, full[1], -1, SIZE, 0);
WAITS(splice, "an empty pipe and a socket", empty[0], -1, quiet[1], -1, SIZE, 0);
WAITS(accept, "nobody connects", listener, NULL, NULL, 0);
WAITS(connect, "a full backlog", new_socket(), (struct sockaddr *)&backlog, sizeof(backlog));
WAITS(send, "a full socket", stuffed[1], bytes, SIZE, 0);
WAITS(recv, "nothing comes", quiet[0], bytes, SIZE, 0);
WAITS(send_all, "a full socket", stuffed[1], bytes, SIZE, 0);
WAITS(recv_all, "nothing comes", quiet[0], bytes, SIZE, 0);
WAITS(sendmsg, "a full socket", stuffed[1], &message, 0);
WAITS(recvmsg, "nothing comes", quiet[0], &message, 0);
WAITS(poll, "nothing comes", quiet[0], POLLIN);
WAITS(sleep, "an hour", INT64_C(3600000) * MS);

ENDS(openat, after_open, AT_FDCWD, "made", O_CREAT | O_RDWR, 0600);
ENDS(openat, after_open, AT_FDCWD, "file", O_RDONLY, 0);
ENDS(openat, after_open, AT_FDCWD, "fifo", O_RDONLY | O_NONBLOCK, 0);
ENDS(openat, after_open, AT_FDCWD, "fifo", O_RDWR, 0);
ENDS(close, after_close, new_copy());
ENDS(fsync, after_nothing, file);
ENDS(fdatasync, after_nothing, file);
ENDS(fallocate, after_nothing, file, 0, 0, 4096);
ENDS(ftruncate, after_nothing, file, 4096);
ENDS(mkostemp, after_mkostemp, new_template(), O_CLOEXEC);
ENDS(unlinkat, after_name, AT_FDCWD, new_file(), 0);
ENDS(renameat, after_name, AT_FDCWD, new_file(), AT_FDCWD, "renamed", 0);
ENDS(mkdirat, after_name, AT_FDCWD, "directory", 0700);
ENDS(statx, after_nothing, AT_FDCWD, "file", 0, STATX_BASIC_STATS, &status);
ENDS(socket, after_open, AF_UNIX, SOCK_STREAM, 0);
ENDS(shutdown, after_nothing, spare[0], SHUT_RD);
ENDS(getaddrinfo, after_lookup, "127.0.0.1", NULL, NULL, &addresses);

static ssize_t return_one(void *unused)
{
    return 1;
}

ENDS(blocking, after_nothing, return_one, NULL);

static void test_table(void)
{
#define CALL(type, name, ...) #name,
    static const char *const calls[] = {ABTIO_ALL_CALLS(CALL)};
#undef CALL
    size_t num = sizeof(calls) / sizeof(calls[0]), found = 0;

    for (size_t i = 0; i < num; i++) {
        const struct row *row = first_row;
        while (row && strcmp(row->name, calls[i]) != 0)
            row = row->next;
        found += row != NULL;
        if (!row)
            diag("abtio_%s has no row", calls[i]);
    }
    ok(found == num, "each of %zu calls has a row", num);
}

/* --- Trying them --- */

/* It may end before the cancel comes, or its deadline may come first, if this machine is very slow. */
static void try_one_that_ends(const struct row *row)
{
    abtio_op *op;

    ssize_t result = row->call(abtio_after(60000 * MS));
    row->after(result);
    ok(result >= 0, "%s: %s %s: %zd", backend_name, row->name, row->what, result);
    is_int(row->start(ABTIO_FOREVER, &op), 0, "and another one");
    int cancelled = abtio_cancel(op);
    result = abtio_op_wait(op);
    row->after(result);
    ok((cancelled == 0 && result == -ECANCELED) || (cancelled == -EALREADY && result >= 0),
       "which is cancelled: %d, %zd", cancelled, result);
    abtio_op_free(&op);
}

static void try_one_that_waits(const struct row *row)
{
    abtio_op *op;

    ssize_t result = row->call(abtio_after(5 * MS));
    row->after(result);
    is_int(result, -ETIMEDOUT, "%s: %s, %s: a deadline", backend_name, row->name, row->what);
    is_int(row->start(abtio_after(5 * MS), &op), 0, "by _nb");
    result = abtio_op_wait(op);
    row->after(result);
    is_int(result, -ETIMEDOUT, "by _nb");
    abtio_op_free(&op);
    is_int(row->start(ABTIO_FOREVER, &op), 0, "without a deadline");
    abtio_sleep(2 * MS, ABTIO_FOREVER); /* so that it has begun, as a rule */
    is_int(abtio_cancel(op), 0, "it is cancelled");
    result = abtio_op_wait(op);
    row->after(result);
    is_int(result, -ECANCELED, "with that result");
    abtio_op_free(&op);
}

static void try_rows(void *unused)
{
    for (const struct row *row = first_row; row; row = row->next) {
        if (row->waits)
            try_one_that_waits(row);
        else
            try_one_that_ends(row);
    }
}

/* --- Opens of a FIFO, and the other end comes --- */

/* Writers come and go, also without a byte, and readers. The other end of one that has begun to wait. */
static void *be_other_end(void *flags)
{
    nap_ms(30);
    int fd = open("fifo", *(int *)flags);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void meet(int flags, int other, bool nb)
{
    pthread_t thread;
    abtio_op *op;
    ssize_t result;

    pthread_create(&thread, NULL, be_other_end, &other);
    if (nb) {
        is_int(abtio_openat_nb(AT_FDCWD, "fifo", flags, 0, ABTIO_FOREVER, &op), 0, "%s: openat_nb", backend_name);
        result = abtio_op_wait(op);
        abtio_op_free(&op);
    } else {
        result = abtio_openat(AT_FDCWD, "fifo", flags, 0, ABTIO_FOREVER);
    }
    pthread_join(thread, NULL);
    ok(result >= 0, "%s: an open of a FIFO waits for the other end, flags %#x: %zd", backend_name, (unsigned)flags,
       result);
    if (result >= 0)
        close((int)result);
}

static void open_fifos(void *unused)
{
    for (int i = 0; i < 2; i++) {
        meet(O_RDONLY, O_WRONLY, i);
        meet(O_WRONLY, O_RDONLY, i);
        meet(O_RDONLY | O_CREAT, O_WRONLY, i);
        meet(O_WRONLY | O_TRUNC, O_RDONLY, i);
    }
    is_int(abtio_openat(AT_FDCWD, "fifo", O_WRONLY | O_NONBLOCK, 0, ABTIO_FOREVER), -ENXIO, "one that is not to wait");
}

/* --- A close that waits for what is to be sent --- */

static void close_in_time(void *unused)
{
    static const struct linger linger = {1, 3600};
    struct sockaddr_in address;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);

    listen_on_loopback(server, 1, &address);
    need(connect(client, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
    int peer = accept(server, NULL, NULL);
    fill(client);
    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    int result = -ETIMEDOUT; /* nothing is done if the deadline comes before the call begins */
    for (int64_t wait = 20 * MS; result == -ETIMEDOUT; wait *= 2)
        result = abtio_close(client, abtio_after(wait));
    is_int(result, 0, "%s: a socket that lingers is closed in time", backend_name);
    close(peer);
    close(server);
}

static void all(void)
{
    in_ult(try_rows, NULL);
    in_ult(open_fifos, NULL);
    in_ult(close_in_time, NULL);
}

int main(void)
{
    watchdog_begin(0);
    set_up();
    test_table();
    with_each_backend(all);
    tear_down();
    return done_testing();
}
