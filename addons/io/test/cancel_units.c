/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs that are cancelled (ABT_thread_cancel) while they are in a call. An operation is stored on the stack of its
 * caller: a source went on with those of ULTs that had ended. Each call of the header that waits has a row here.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include "contract.h"
#include "io.h"

/* What the calls wait for, mostly without success. */
static struct {
    int empty[2], full[2], pipe[2], file, listener;
    struct sockaddr_in address;
    abtio_acceptor *acceptor;
    abtio_buffers *buffers;
    abtio_receiver *receiver;
} with;

static void make_objects(void)
{
    char name[] = "/tmp/abtio-cancel-XXXXXX", bytes[512] = {0};

    make_pair(with.empty);
    if (pipe2(with.full, O_NONBLOCK) < 0 || pipe(with.pipe) < 0 || (with.file = mkstemp(name)) < 0)
        bail_out("pipe: %s", strerror(errno));
    unlink(name);
    while (write(with.full[1], bytes, sizeof(bytes)) > 0)
        ;
    with.listener = socket(AF_INET, SOCK_STREAM, 0);
    listen_on_loopback(with.listener, 100, &with.address);
    is_int(abtio_acceptor_create(with.listener, 0, &with.acceptor), 0, "%s: acceptor", backend_name);
    is_int(abtio_buffers_create(64, 64, &with.buffers), 0, "buffers");
    is_int(abtio_receiver_create(with.empty[1], 0, with.buffers, &with.receiver), 0, "receiver");
}

static void free_objects(void)
{
    is_int(abtio_acceptor_free(&with.acceptor), 0, "%s: the acceptor is free", backend_name);
    is_int(abtio_receiver_free(&with.receiver), 0, "the receiver is free");
    is_int(abtio_buffers_free(&with.buffers), 0, "the buffers are free");
    for (int i = 0; i < 2; i++) {
        close(with.empty[i]);
        close(with.full[i]);
        close(with.pipe[i]);
    }
    close(with.listener);
    close(with.file);
}

/* ---- The calls ------------------------------------------------------------------------------------------------- */

/* Long enough that a ULT is cancelled in it, and short enough to come to its end. */
static abtio_deadline soon(void)
{
    return abtio_after(5 * MS);
}

static ssize_t block_a_while(void *unused)
{
    usleep(1000);
    return 0;
}

static void close_unless_error(int fd)
{
    if (fd >= 0)
        close(fd);
}

#define CALL(name, ...)                                                                                                \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        char bytes[8] = "";                                                                                            \
        struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};                                              \
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};                                                    \
        (void)message;                                                                                                 \
        __VA_ARGS__;                                                                                                   \
    }

CALL(call_openat, abtio_openat(AT_FDCWD, "/nowhere/a", O_RDONLY, 0, soon()))
CALL(call_close, abtio_close(-1, soon()))
CALL(call_read, abtio_read(with.pipe[0], bytes, 8, soon()))
CALL(call_read_all, abtio_read_all(with.pipe[0], bytes, 8, soon()))
CALL(call_write, abtio_write(with.full[1], bytes, 8, soon()))
CALL(call_write_all, abtio_write_all(with.full[1], bytes, 8, soon()))
CALL(call_pread, abtio_pread(with.pipe[0], bytes, 8, -1, soon()))
CALL(call_pwrite, abtio_pwrite(with.full[1], bytes, 8, -1, soon()))
CALL(call_preadv, abtio_preadv(with.pipe[0], &iov, 1, -1, 0, soon()))
CALL(call_pwritev, abtio_pwritev(with.full[1], &iov, 1, -1, 0, soon()))
CALL(call_pread_all, abtio_pread_all(with.file, bytes, 8, 0, soon()))
CALL(call_pwrite_all, abtio_pwrite_all(with.file, bytes, 8, 0, soon()))
CALL(call_fsync, abtio_fsync(with.file, soon()))
CALL(call_fdatasync, abtio_fdatasync(with.file, soon()))
CALL(call_fallocate, abtio_fallocate(with.file, 0, 0, 4096, soon()))
CALL(call_ftruncate, abtio_ftruncate(with.file, 100, soon()))
CALL(call_mkostemp, char name[] = "/nowhere/XXXXXX"; abtio_mkostemp(name, 0, soon()))
CALL(call_unlinkat, abtio_unlinkat(AT_FDCWD, "/nowhere/a", 0, soon()))
CALL(call_renameat, abtio_renameat(AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b", 0, soon()))
CALL(call_mkdirat, abtio_mkdirat(AT_FDCWD, "/nowhere/a", 0700, soon()))
CALL(call_statx, struct statx now; abtio_statx(AT_FDCWD, "/", 0, STATX_SIZE, &now, soon()))
CALL(call_splice, abtio_splice(with.file, 0, with.full[1], -1, 8, SPLICE_F_NONBLOCK, soon()))
CALL(call_socket, abtio_socket(-1, SOCK_STREAM, 0, soon()))
CALL(call_accept, close_unless_error(abtio_accept(with.listener, NULL, NULL, 0, soon())))
CALL(call_connect, abtio_connect(with.file, (struct sockaddr *)&with.address, sizeof(with.address), soon()))
CALL(call_send, abtio_send(with.file, bytes, 8, 0, soon()))
CALL(call_recv, abtio_recv(with.empty[0], bytes, 8, 0, soon()))
CALL(call_send_all, abtio_send_all(with.file, bytes, 8, 0, soon()))
CALL(call_recv_all, abtio_recv_all(with.empty[0], bytes, 8, 0, soon()))
CALL(call_sendmsg, abtio_sendmsg(with.file, &message, 0, soon()))
CALL(call_recvmsg, abtio_recvmsg(with.empty[0], &message, 0, soon()))
CALL(call_shutdown, abtio_shutdown(with.file, SHUT_RD, soon()))
CALL(call_poll, abtio_poll(with.empty[0], POLLIN, soon()))
CALL(call_acceptor, close_unless_error(abtio_acceptor_accept(with.acceptor, abtio_after(60000 * MS))))
CALL(call_receiver, void *buf; abtio_receiver_recv(with.receiver, &buf, abtio_after(60000 * MS)))
CALL(call_sleep, abtio_sleep(1000 * MS, soon()))
CALL(call_getaddrinfo, struct addrinfo *list; struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
     if (abtio_getaddrinfo("no address", NULL, &hints, &list, soon()) == 0) freeaddrinfo(list))
CALL(call_blocking, abtio_blocking(block_a_while, NULL, soon()))

/* Handles that ULTs had when they ended are still to be freed: each has a place for one, which others find. */
enum { NUM = 6 };
static struct {
    abtio_op *op;
    abtio_acceptor *acceptor;
    abtio_receiver *receiver;
    char byte;
    void *buf;
} own[NUM];
static int own_index; /* of the ULT that runs */

static void free_own(void)
{
    for (int i = 0; i < NUM; i++) {
        abtio_op_free(&own[i].op);
        must(abtio_acceptor_free(&own[i].acceptor));
        must(abtio_receiver_free(&own[i].receiver));
    }
}

/* The caller's operation is started if `start` returns 0; then it is waited for, or whatever else, and freed. */
#define WITH_HANDLE(name, start, then)                                                                                 \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        int me = own_index;                                                                                            \
        abtio_op **op = &own[me].op;                                                                                   \
        if ((start) == 0) {                                                                                            \
            then;                                                                                                      \
            abtio_op_free(op);                                                                                         \
        }                                                                                                              \
    }

WITH_HANDLE(call_wait, abtio_sleep_nb(5 * MS, ABTIO_FOREVER, op), abtio_op_wait(*op))
WITH_HANDLE(call_wait_accept, abtio_acceptor_accept_nb(with.acceptor, soon(), op), abtio_op_wait(*op))
WITH_HANDLE(call_wait_any, abtio_sleep_nb(5 * MS, ABTIO_FOREVER, op), abtio_op_wait_any(1, op, ABTIO_FOREVER))
WITH_HANDLE(call_wait_many, abtio_sleep_nb(5 * MS, ABTIO_FOREVER, op), abtio_op *all[40] = {*op};
            abtio_op_wait_any(40, all, ABTIO_FOREVER))
WITH_HANDLE(call_cancel, abtio_recv_nb(with.empty[0], &own[me].byte, 1, 0, ABTIO_FOREVER, op), abtio_cancel(*op))
WITH_HANDLE(call_free, abtio_recv_nb(with.empty[0], &own[me].byte, 1, 0, ABTIO_FOREVER, op), )

static void call_acceptor_free(void)
{
    int me = own_index;
    if (abtio_acceptor_create(with.listener, 0, &own[me].acceptor) == 0 &&
        abtio_acceptor_accept_nb(own[me].acceptor, soon(), &own[me].op) == 0)
        abtio_op_free(&own[me].op);
    abtio_acceptor_free(&own[me].acceptor);
}

static void call_receiver_free(void)
{
    int me = own_index;
    if (abtio_receiver_create(with.empty[0], 0, with.buffers, &own[me].receiver) == 0 &&
        abtio_receiver_recv_nb(own[me].receiver, &own[me].buf, soon(), &own[me].op) == 0)
        abtio_op_free(&own[me].op);
    abtio_receiver_free(&own[me].receiver);
}

static const struct row {
    const char *function;
    void (*call)(void); /* NULL: it does not wait, or see below */
} rows[] = {
    {"abtio_openat", call_openat},
    {"abtio_close", call_close},
    {"abtio_read", call_read},
    {"abtio_read_all", call_read_all},
    {"abtio_write", call_write},
    {"abtio_write_all", call_write_all},
    {"abtio_pread", call_pread},
    {"abtio_pwrite", call_pwrite},
    {"abtio_preadv", call_preadv},
    {"abtio_pwritev", call_pwritev},
    {"abtio_pread_all", call_pread_all},
    {"abtio_pwrite_all", call_pwrite_all},
    {"abtio_fsync", call_fsync},
    {"abtio_fdatasync", call_fdatasync},
    {"abtio_fallocate", call_fallocate},
    {"abtio_ftruncate", call_ftruncate},
    {"abtio_mkostemp", call_mkostemp},
    {"abtio_unlinkat", call_unlinkat},
    {"abtio_renameat", call_renameat},
    {"abtio_mkdirat", call_mkdirat},
    {"abtio_statx", call_statx},
    {"abtio_splice", call_splice},
    {"abtio_socket", call_socket},
    {"abtio_accept", call_accept},
    {"abtio_connect", call_connect},
    {"abtio_send", call_send},
    {"abtio_recv", call_recv},
    {"abtio_send_all", call_send_all},
    {"abtio_recv_all", call_recv_all},
    {"abtio_sendmsg", call_sendmsg},
    {"abtio_recvmsg", call_recvmsg},
    {"abtio_shutdown", call_shutdown},
    {"abtio_poll", call_poll},
    {"abtio_sleep", call_sleep},
    {"abtio_getaddrinfo", call_getaddrinfo},
    {"abtio_blocking", call_blocking},
    {"abtio_op_wait", call_wait},
    {"abtio_op_wait", call_wait_accept},
    {"abtio_op_wait_any", call_wait_any},
    {"abtio_op_wait_any", call_wait_many},
    {"abtio_cancel", call_cancel},
    {"abtio_op_free", call_free},
    {"abtio_acceptor_free", call_acceptor_free},
    {"abtio_receiver_free", call_receiver_free},
    {"abtio_acceptor_accept", call_acceptor},
    {"abtio_receiver_recv", call_receiver},
    {"abtio_finalize", NULL}, /* below */
    {"abtio_after", NULL},
    {"abtio_moved", NULL},
    {"abtio_op_test", NULL},
    {"abtio_buffers_give_back", NULL},
};

enum { NUM_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void has_row(const char *function)
{
    size_t length = strlen(function);

    if (length > 3 && !strcmp(function + length - 3, "_nb"))
        return; /* they start operations, and do not wait */
    for (int i = 0; i < NUM_ROWS; i++) {
        if (!strcmp(rows[i].function, function))
            return;
    }
    ok(false, "%s waits, and has a row in the table", function);
}

/* ---- Each of them ---------------------------------------------------------------------------------------------- */

static atomic_int inside;

static const struct row *row_now;

static void call_again_and_again(void *arg)
{
    int me = (int)(intptr_t)arg;

    inside++;
    while (1) {
        own_index = me;
        row_now->call();
        ABT_thread_yield();
    }
}

static void scribble(void *unused)
{
    volatile char bytes[8000];

    memset((void *)bytes, 0xee, sizeof(bytes));
    ABT_thread_yield();
}

static void try_row(const struct row *row, ABT_pool pool)
{
    ABT_thread units[NUM];

    inside = 0;
    row_now = row;
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(pool, call_again_and_again, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &units[i]));
    while (inside < NUM)
        ABT_thread_yield();
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_cancel(units[i]));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_free(&units[i]));
    free_own();
    for (int i = 0; i < 2 * NUM; i++)
        in_ult(scribble, NULL);
    ok(true, "%s: ULTs are cancelled in %s", backend_name, row->function);
}

/* Who asks next gets the next connection, and the next bytes. */
static void ask_next(void *unused)
{
    void *buf;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    is_int(connect(fd, (struct sockaddr *)&with.address, sizeof(with.address)), 0, "connect");
    int accepted = abtio_acceptor_accept(with.acceptor, abtio_after(60000 * MS));
    ok(accepted >= 0, "%s: the next one gets the next connection", backend_name);
    is_int(write(with.empty[0], "hello", 5), 5, "write");
    is_int(abtio_receiver_recv(with.receiver, &buf, abtio_after(60000 * MS)), 5, "the next one gets the next bytes");
    is_int(abtio_buffers_give_back(with.buffers, buf), 0, "in a buffer");
    close(accepted);
    close(fd);
}

static void each_row(void)
{
    ABT_pool pool;

    must(ABT_self_get_last_pool(&pool));
    make_objects();
    for (int i = 0; i < NUM_ROWS; i++) {
        if (rows[i].call)
            try_row(&rows[i], pool);
    }
    in_ult(ask_next, NULL);
    free_objects();
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

static void start_ring(void *unused)
{
    abtio_sleep(MS, ABTIO_FOREVER);
}

static atomic_int busy_ends;

static void keep_busy(void *unused)
{
    inside++;
    while (!busy_ends)
        ;
}

static void finalize(void *unused)
{
    inside++;
    abtio_finalize();
    ABT_thread_yield();
}

/* It waits for a stream with a ring that is busy, and for a helper. */
static void cancel_finalize(abtio_backend backend)
{
    abtio_config config = {.backend = backend};
    ABT_pool pool, own;
    ABT_thread busy, unit;
    abtio_info info;

    must(ABT_init(0, NULL));
    if (abtio_init(&config) < 0) {
        skip(1, "there is no such backend");
        must(ABT_finalize());
        return;
    }
    must(ABT_self_get_last_pool(&own));
    ABT_xstream es = new_xstream();
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    must(ABT_thread_create(pool, start_ring, NULL, ABT_THREAD_ATTR_NULL, &unit));
    must(ABT_thread_free(&unit));
    inside = busy_ends = 0;
    must(ABT_thread_create(pool, keep_busy, NULL, ABT_THREAD_ATTR_NULL, &busy));
    while (inside < 1)
        ABT_thread_yield();
    must(ABT_thread_create(own, finalize, NULL, ABT_THREAD_ATTR_NULL, &unit));
    while (inside < 2)
        ABT_thread_yield();
    must(ABT_thread_cancel(unit));
    in_ult(scribble, NULL);
    busy_ends = 1;
    must(ABT_thread_free(&unit));
    in_ult(scribble, NULL);
    is_int(abtio_get_info(&info), -ENOTCONN, "a ULT that is cancelled in abtio_finalize ends it first");
    must(ABT_thread_free(&busy));
    is_int(abtio_init(&config), 0, "it begins again");
    must(abtio_finalize());
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
}

int main(void)
{
    watchdog_begin(0);
    if (!contract_for_each(TEST_SOURCE "/addons/io/include/abtio.h", "abtio_", "abtio_deadline", has_row))
        skip(1, "the header's source is not here");
    with_each_backend(each_row);
    cancel_finalize(ABTIO_BACKEND_IO_URING);
    cancel_finalize(ABTIO_BACKEND_THREADS);
    return done_testing();
}
