/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mixed work on files and sockets by some streams, with random deadlines, cancels and resets, for some seconds
 * (ABT_TEST_SECONDS, or the first argument). Units compute, so that others serve the rings of their streams, and
 * streams come and go. Nothing may be lost: each byte that a stream socket has taken comes out once and in order,
 * whatever was cancelled meanwhile; each operation ends once; no descriptor and no memory is left.
 */
#include <malloc.h>
#include "io.h"

enum { STREAMS = 7, WORKERS = 12, COMPUTE = 3, CHUNK = 3000, FILE_PAGES = 16, PAGE = 512 };

static ABT_pool pool;
static double ends_at;
static char dir[] = "/tmp/abtio-soak-XXXXXX";
static int dir_fd;

/* What has happened, of all workers. */
static struct {
    atomic_long bytes, operations, cancelled, late, resets, wrong;
} sum;

static bool goes_on(void)
{
    return now() < ends_at;
}

struct dice {
    uint64_t state;
};

static unsigned roll(struct dice *dice, unsigned sides)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice->state >> 33) % sides;
}

/* Now and then a short one, or one that has passed. */
static abtio_deadline roll_deadline(struct dice *dice)
{
    switch (roll(dice, 4)) {
    case 0: return abtio_after(roll(dice, 200) * INT64_C(1000));
    case 1: return abtio_after(1000 * MS);
    default: return ABTIO_FOREVER;
    }
}

static void wrong(const char *what, ssize_t result)
{
    if (atomic_fetch_add(&sum.wrong, 1) < 10)
        diag("%s: %s: %zd", backend_name, what, result);
}

/* ---- Stream sockets: a sender, and a receiver whose operations are cancelled ----------------------------------- */

struct connection {
    int fds[2];
    unsigned seed;
};

/* The n-th byte that is sent. */
static char nth(uint64_t n)
{
    return (char)(n * 131 >> 3);
}

static void send_bytes(void *arg)
{
    struct connection *c = arg;
    struct dice dice = {c->seed};
    char buf[CHUNK];
    uint64_t sent = 0;

    while (goes_on()) {
        unsigned size = 1 + roll(&dice, CHUNK);
        for (unsigned i = 0; i < size; i++)
            buf[i] = nth(sent + i);
        ssize_t n = abtio_send(c->fds[0], buf, size, 0, roll_deadline(&dice));
        atomic_fetch_add(&sum.operations, 1);
        if (n > 0)
            sent += (uint64_t)n;
        else if (n == -ETIMEDOUT)
            atomic_fetch_add(&sum.late, 1);
        else
            wrong("send", n);
    }
    abtio_shutdown(c->fds[0], SHUT_WR, ABTIO_FOREVER);
    atomic_fetch_add(&sum.bytes, (long)sent);
}

static void cancel_it(void *op)
{
    int code = abtio_cancel(op);
    if (code != 0 && code != -EALREADY)
        wrong("cancel", code);
}

/* Receives, and cancels that, or has another unit cancel it, or just waits. */
static ssize_t receive(struct connection *c, char *buf, unsigned size, struct dice *dice)
{
    abtio_op *op;
    ABT_thread canceller = ABT_THREAD_NULL;

    int code = abtio_recv_nb(c->fds[1], buf, size, 0, roll_deadline(dice), &op);
    if (code < 0)
        return code;
    switch (roll(dice, 4)) {
    case 0: abtio_cancel(op); break;
    case 1: must(ABT_thread_create(pool, cancel_it, op, ABT_THREAD_ATTR_NULL, &canceller)); break;
    default: break;
    }
    ssize_t result = abtio_op_wait(op);
    if (canceller != ABT_THREAD_NULL)
        must(ABT_thread_free(&canceller));
    abtio_op_free(&op);
    return result;
}

static void look_at_bytes(const char *buf, ssize_t n, uint64_t received)
{
    for (ssize_t i = 0; i < n; i++) {
        if (buf[i] != nth(received + (uint64_t)i)) {
            wrong("a byte at the wrong place", (ssize_t)received + i);
            break;
        }
    }
}

static void receive_bytes(void *arg)
{
    struct connection *c = arg;
    struct dice dice = {c->seed * 7 + 1};
    char buf[CHUNK];
    uint64_t received = 0;
    ssize_t n;

    while ((n = receive(c, buf, 1 + roll(&dice, CHUNK), &dice)) != 0) {
        atomic_fetch_add(&sum.operations, 1);
        if (n == -ECANCELED)
            atomic_fetch_add(&sum.cancelled, 1);
        else if (n == -ETIMEDOUT)
            atomic_fetch_add(&sum.late, 1);
        else if (n < 0)
            wrong("recv", n);
        look_at_bytes(buf, n, received);
        received += n > 0 ? (uint64_t)n : 0;
    }
    atomic_fetch_sub(&sum.bytes, (long)received);
}

static void receive_by_receiver(void *arg)
{
    struct connection *c = arg;
    struct dice dice = {c->seed * 11 + 1};
    abtio_buffers *buffers;
    abtio_receiver *receiver;
    uint64_t received = 0;
    ssize_t n;
    void *buf;

    if (abtio_buffers_create(CHUNK, 16, &buffers) != 0 || abtio_receiver_create(c->fds[1], 0, buffers, &receiver) != 0)
        bail_out("there is no receiver");
    while ((n = abtio_receiver_recv(receiver, &buf, roll_deadline(&dice))) != 0) {
        atomic_fetch_add(&sum.operations, 1);
        if (n == -ETIMEDOUT)
            atomic_fetch_add(&sum.late, 1);
        else if (n < 0)
            wrong("receiver_recv", n);
        if (n <= 0)
            continue;
        look_at_bytes(buf, n, received);
        received += (uint64_t)n;
        abtio_buffers_give_back(buffers, buf);
    }
    if (abtio_receiver_free(&receiver) != 0 || abtio_buffers_free(&buffers) != 0)
        wrong("receiver_free or buffers_free", 0);
    atomic_fetch_sub(&sum.bytes, (long)received);
}

/* ---- Connections that are reset -------------------------------------------------------------------------------- */

struct victim {
    int listener;
    int code;
};

static void be_reset(void *arg)
{
    struct victim *v = arg;
    char buf[64];
    ssize_t n;

    int fd = abtio_accept(v->listener, NULL, NULL, SOCK_CLOEXEC, ABTIO_FOREVER);
    if (fd < 0) {
        v->code = fd;
        return;
    }
    while ((n = abtio_recv(fd, buf, sizeof(buf), 0, ABTIO_FOREVER)) > 0)
        ;
    v->code = (int)n;
    abtio_close(fd, ABTIO_FOREVER);
}

static void reset_peers(void *arg)
{
    struct sockaddr_in addr;
    struct linger linger = {.l_onoff = 1};
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    listen_on_loopback(listener, 4, &addr);
    while (goes_on()) {
        struct victim victim = {listener, 1};
        ABT_thread thread;
        must(ABT_thread_create(pool, be_reset, &victim, ABT_THREAD_ATTR_NULL, &thread));
        int fd = abtio_socket(AF_INET, SOCK_STREAM, 0, ABTIO_FOREVER);
        int code = abtio_connect(fd, (struct sockaddr *)&addr, sizeof(addr), ABTIO_FOREVER);
        if (code != 0)
            wrong("connect", code);
        abtio_send(fd, "hello", 5, 0, ABTIO_FOREVER);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
        abtio_close(fd, ABTIO_FOREVER);
        must(ABT_thread_free(&thread));
        if (victim.code != -ECONNRESET)
            wrong("recv of a connection that was reset", victim.code);
        atomic_fetch_add(&sum.resets, 1);
    }
    close(listener);
}

/* ---- Files ----------------------------------------------------------------------------------------------------- */

static char pages[WORKERS][2][PAGE]; /* what each writes and reads */

/* Their memory is registered, or not any more. Who has done that meanwhile does not matter. */
static void change_memory(struct dice *dice)
{
    int code = roll(dice, 2) ? abtio_register_memory(pages, sizeof(pages)) : abtio_unregister_memory(pages);
    if (code != 0 && code != -EEXIST && code != -ENOENT)
        wrong("register_memory", code);
}

static void read_back(int fd, struct dice *dice, const unsigned char *written, char *buf)
{
    abtio_op *op;
    unsigned page = roll(dice, FILE_PAGES);

    int code = abtio_pread_nb(fd, buf, PAGE, page * PAGE, ABTIO_FOREVER, &op);
    if (code < 0) {
        wrong("pread_nb", code);
        return;
    }
    if (roll(dice, 3) == 0)
        abtio_cancel(op);
    ssize_t n = abtio_op_wait(op);
    abtio_op_free(&op);
    if (n == -ECANCELED)
        atomic_fetch_add(&sum.cancelled, 1);
    else if (n != PAGE || (unsigned char)buf[0] != written[page] || (unsigned char)buf[PAGE - 1] != written[page])
        wrong("pread", n);
}

static void use_file(void *arg)
{
    struct dice dice = {(uintptr_t)arg};
    unsigned char written[FILE_PAGES] = {0};
    char name[32], *buf = pages[(uintptr_t)arg][0];

    snprintf(name, sizeof(name), "f%u", (unsigned)(uintptr_t)arg);
    int fd = abtio_openat(dir_fd, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, ABTIO_FOREVER);
    if (fd < 0 || abtio_ftruncate(fd, FILE_PAGES * PAGE, ABTIO_FOREVER) != 0)
        wrong("openat", fd);
    if (abtio_register_file(fd) != 0)
        wrong("register_file", fd);
    while (goes_on()) {
        unsigned page = roll(&dice, FILE_PAGES);
        written[page]++;
        memset(buf, written[page], PAGE);
        ssize_t n = abtio_pwrite_all(fd, buf, PAGE, page * PAGE, ABTIO_FOREVER);
        if (n != PAGE)
            wrong("pwrite_all", n);
        read_back(fd, &dice, written, pages[(uintptr_t)arg][1]);
        atomic_fetch_add(&sum.operations, 2);
        if (roll(&dice, 50) == 0)
            abtio_fdatasync(fd, ABTIO_FOREVER);
        if (roll(&dice, 100) == 0)
            change_memory(&dice);
        abtio_sleep(roll(&dice, 300) * INT64_C(1000), ABTIO_FOREVER);
    }
    if (abtio_unregister_file(fd) != 0 || abtio_close(fd, ABTIO_FOREVER) != 0 ||
        abtio_unlinkat(dir_fd, name, 0, ABTIO_FOREVER) != 0)
        wrong("close or unlinkat", 0);
}

/* ---- Streams that are busy, and that come and go --------------------------------------------------------------- */

/* Mostly for about as long as it takes until a stream counts as busy. */
static void compute(void *arg)
{
    struct dice dice = {(uintptr_t)arg};

    while (goes_on()) {
        double end = now() + roll(&dice, roll(&dice, 10) ? 12 : 50) * 1e-3;
        while (now() < end)
            ;
        abtio_sleep(roll(&dice, 20) * MS, ABTIO_FOREVER);
    }
}

static void come_and_go(void)
{
    ABT_xstream stream;

    while (goes_on()) {
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream));
        abtio_sleep(10 * MS, ABTIO_FOREVER);
        must(ABT_xstream_join(stream));
        must(ABT_xstream_free(&stream));
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static void work(void)
{
    static struct connection connections[WORKERS];
    static ABT_thread threads[WORKERS][4], busy[COMPUTE];

    for (uintptr_t i = 0; i < WORKERS; i++) {
        struct connection *c = &connections[i];
        c->seed = (unsigned)i + 1;
        make_pair(c->fds);
        must(ABT_thread_create(pool, send_bytes, c, ABT_THREAD_ATTR_NULL, &threads[i][0]));
        must(ABT_thread_create(pool, i % 3 ? receive_bytes : receive_by_receiver, c, ABT_THREAD_ATTR_NULL,
                               &threads[i][1]));
        must(ABT_thread_create(pool, use_file, (void *)i, ABT_THREAD_ATTR_NULL, &threads[i][2]));
        must(ABT_thread_create(pool, reset_peers, NULL, ABT_THREAD_ATTR_NULL, &threads[i][3]));
    }
    for (uintptr_t i = 0; i < COMPUTE; i++)
        must(ABT_thread_create(pool, compute, (void *)(i + 1), ABT_THREAD_ATTR_NULL, &busy[i]));
    come_and_go();
    for (int i = 0; i < COMPUTE; i++)
        must(ABT_thread_free(&busy[i]));
    for (int i = 0; i < WORKERS; i++) {
        for (int k = 0; k < 4; k++)
            must(ABT_thread_free(&threads[i][k]));
        close(connections[i].fds[0]);
        close(connections[i].fds[1]);
    }
}

/* Under ASan, whose allocator tells nothing to the C library. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    return info.uordblks + info.hblkhd;
}

static double seconds;

/* Some rounds, so that memory can be seen to stay what it is after the first. */
static void soak(void)
{
    enum { ROUNDS = 4 };
    ABT_xstream streams[STREAMS - 1];
    size_t after_first = 0, after = 0;

    memset(&sum, 0, sizeof(sum));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    for (int i = 0; i < STREAMS - 1; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));
    for (int round = 0; round < ROUNDS; round++) {
        ends_at = now() + seconds / ROUNDS / 2;
        work();
        after = allocated();
        if (round == 0)
            after_first = after;
    }
    for (int i = 0; i < STREAMS - 1; i++) {
        must(ABT_xstream_join(streams[i]));
        must(ABT_xstream_free(&streams[i]));
    }
    is_int(sum.wrong, 0, "%s: nothing went wrong", backend_name);
    is_int(sum.bytes, 0, "each byte that was sent was received");
    ok(after > 0 && after <= after_first + after_first / 4 + (1 << 20), "memory is flat: %zu, %zu", after_first, after);
    /* On a busy machine there may be none late, of the few that have a short deadline */
    ok(sum.operations > 100 && sum.cancelled > 0 && sum.resets > 0,
       "%ld operations, %ld cancelled, %ld late, %ld resets", sum.operations, sum.cancelled, sum.late, sum.resets);
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : tap_seconds(4);
    watchdog_begin((unsigned)seconds * 2);
    if (!mkdtemp(dir) || (dir_fd = open(dir, O_RDONLY | O_DIRECTORY)) < 0)
        bail_out("%s: %s", dir, strerror(errno));
    with_each_backend(soak);
    rmdir(dir);
    return done_testing();
}
