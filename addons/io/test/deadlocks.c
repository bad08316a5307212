/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With ABT_DEADLOCK_CHECK=abort a program goes on whose units wait for what comes from outside: by a native thread of
 * the library, by a ring, or by a handler of the program that libabtio calls. Each case is a process of its own,
 * and what it waits for comes from another process. The check leaves no descriptor open.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include "child.h"
#include "emulated.h"
#include "io.h"
#include "sanitizers.h"

enum { LATE_MS = 1500, NO_BACKEND = 9 };

static int ends[2];                    /* of a stream: the second is another process's, which writes a byte */
static int listener;                   /* it connects there twice */
static char fifo[64];                  /* it opens that for writing */
static ABT_eventual eventual;          /* the handler sets it */
static int64_t deadline;               /* of the case */
static struct sockaddr_in listener_at; /* the listener's address */

static void check(bool right)
{
    if (!right)
        _exit(2);
}

/* ---- Calls and operations -------------------------------------------------------------------------------------- */

static void read_one(void *unused)
{
    char byte;

    check(abtio_read(ends[0], &byte, 1, deadline) == 1);
}

static void read_later(void *unused)
{
    abtio_op *op;
    char byte;

    check(abtio_read_nb(ends[0], &byte, 1, deadline, &op) == 0 && abtio_op_wait(op) == 1);
    abtio_op_free(&op);
}

static void read_or_sleep(void *unused)
{
    abtio_op *ops[2];
    char byte;

    check(abtio_sleep_nb(60000 * MS, ABTIO_FOREVER, &ops[0]) == 0);
    check(abtio_read_nb(ends[0], &byte, 1, deadline, &ops[1]) == 0);
    check(abtio_op_wait_any(2, ops, ABTIO_FOREVER) == 1);
    abtio_op_free(&ops[0]);
    abtio_op_free(&ops[1]);
}

static void poll_it(void *unused)
{
    check(abtio_poll(ends[0], POLLIN, deadline) > 0);
}

static void sleep_late(void *unused)
{
    check(abtio_sleep(LATE_MS * MS, ABTIO_FOREVER) == 0);
}

static void open_fifo(void *unused)
{
    int fd = abtio_openat(AT_FDCWD, fifo, O_RDONLY | O_CLOEXEC, 0, deadline);
    check(fd >= 0);
    close(fd);
}

/* ---- Functions and lookups, for native threads ----------------------------------------------------------------- */

static atomic_bool reads; /* a native thread is about to */

static ssize_t read_natively(void *byte)
{
    atomic_store(&reads, true);
    return read(ends[0], byte, 1);
}

static ssize_t return_one(void *unused)
{
    return 1;
}

static void read_in_helper(void *unused)
{
    char byte;

    check(abtio_blocking(read_natively, &byte, deadline) == 1);
}

static void await_reader(void)
{
    while (!atomic_load(&reads))
        ABTX_self_sleep(MS);
}

/* All native threads that there may be are at something. */
static abtio_op *occupy_helper(void)
{
    static char byte;
    abtio_op *op;

    check(abtio_blocking_nb(read_natively, &byte, ABTIO_FOREVER, &op) == 0);
    return op;
}

static void function_behind(void *unused)
{
    abtio_op *op = occupy_helper();

    check(abtio_blocking(return_one, NULL, deadline) == 1);
    abtio_op_free(&op);
}

static void lookup_behind(void *unused)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *list;
    abtio_op *op = occupy_helper();

    check(abtio_getaddrinfo("127.0.0.1", NULL, &hints, &list, deadline) == 0);
    freeaddrinfo(list);
    abtio_op_free(&op);
}

static void cancel_function(void *unused)
{
    abtio_op *op = occupy_helper();

    await_reader();
    check(abtio_cancel(op) == -EALREADY);
    abtio_op_free(&op);
}

static void finalize_over(void *unused)
{
    ABT_pool pool;

    must(ABT_self_get_last_pool(&pool));
    ABT_thread reader = ult_in(pool, read_in_helper, unused);
    await_reader();
    must(abtio_finalize());
    must(ABT_thread_free(&reader));
}

/* ---- Sources --------------------------------------------------------------------------------------------------- */

static void accept_one(void *acceptor)
{
    int fd = abtio_acceptor_accept(acceptor, deadline);
    check(fd >= 0);
    close(fd);
}

static void accept_two(void *unused)
{
    abtio_acceptor *acceptor;
    ABT_pool pool;

    must(ABT_self_get_last_pool(&pool));
    must(abtio_acceptor_create(listener, 0, &acceptor));
    ABT_thread other = ult_in(pool, accept_one, acceptor);
    accept_one(acceptor);
    must(ABT_thread_free(&other));
    must(abtio_acceptor_free(&acceptor));
}

static void receive(void *unused)
{
    abtio_buffers *buffers;
    abtio_receiver *receiver;
    void *buf;

    must(abtio_buffers_create(16, 1, &buffers));
    must(abtio_receiver_create(ends[0], 0, buffers, &receiver));
    check(abtio_receiver_recv(receiver, &buf, deadline) == 1);
    must(abtio_buffers_give_back(buffers, buf));
    must(abtio_receiver_free(&receiver));
    must(abtio_buffers_free(&buffers));
}

struct kept {
    abtio_buffers *buffers;
    void *buf;
};

static void give_back_late(void *kept_)
{
    struct kept *kept = kept_;

    read_one(NULL);
    must(abtio_buffers_give_back(kept->buffers, kept->buf));
}

/* The only buffer comes back when the other ULT has read its byte. */
static void receive_without_buffer(void *unused)
{
    struct kept kept;
    abtio_receiver *receiver;
    ABT_pool pool;
    int fds[2];
    void *buf = NULL;

    make_pair(fds);
    must(ABT_self_get_last_pool(&pool));
    must(abtio_buffers_create(16, 1, &kept.buffers));
    must(abtio_receiver_create(fds[0], 0, kept.buffers, &receiver));
    check(write(fds[1], "a", 1) == 1 && abtio_receiver_recv(receiver, &kept.buf, ABTIO_FOREVER) == 1);
    ABT_thread other = ult_in(pool, give_back_late, &kept);
    check(write(fds[1], "b", 1) == 1 && abtio_receiver_recv(receiver, &buf, deadline) == 1);
    must(ABT_thread_free(&other));
    must(abtio_buffers_give_back(kept.buffers, buf));
    must(abtio_receiver_free(&receiver));
    must(abtio_buffers_free(&kept.buffers));
    close(fds[0]);
    close(fds[1]);
}

/* ---- Other callers, and who else wakes ------------------------------------------------------------------------- */

static void read_in_region(void *unused)
{
    char byte;

    must(ABTX_blocking_begin());
    check(read(ends[0], &byte, 1) == 1);
    must(ABTX_blocking_end());
}

static void read_in_tasklet(void *unused)
{
    ABT_pool pool;
    ABT_task tasklet;

    must(ABT_self_get_last_pool(&pool));
    must(ABT_task_create(pool, read_one, unused, &tasklet));
    must(ABT_task_free(&tasklet));
}

static void *read_then_set(void *unused)
{
    read_one(unused);
    must(ABT_eventual_set(eventual, NULL, 0));
    return NULL;
}

static void read_in_thread(void *unused)
{
    pthread_t thread;

    check(pthread_create(&thread, NULL, read_then_set, unused) == 0);
    must(ABT_eventual_wait(eventual, NULL));
    pthread_join(thread, NULL);
}

static void set_now(int number)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

/* Under TSan a handler runs when its thread calls the C library next. */
static void wait_for_handler(void *unused)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX};
    struct itimerspec when = {.it_value = {.tv_sec = LATE_MS / 1000, .tv_nsec = LATE_MS % 1000 * MS}};

    if (UNDER_TSAN)
        return;
    check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &when, NULL) == 0);
    must(ABT_eventual_wait(eventual, NULL));
    timer_delete(timer);
}

/* ---- The cases ------------------------------------------------------------------------------------------------- */

static const struct way {
    const char *name;
    void (*body)(void *);
    bool late;            /* it has a deadline that it does not reach */
    unsigned max_threads; /* 0: libabtio's default */
    bool handles;         /* the program has a handler of the signal that it gives to libabtio */
} ways[] = {
    {.name = "a read", .body = read_one},
    {.name = "a read with a deadline", .body = read_one, .late = true},
    {.name = "an operation", .body = read_later},
    {.name = "one of two operations", .body = read_or_sleep},
    {.name = "a poll", .body = poll_it},
    {.name = "a sleep", .body = sleep_late},
    {.name = "the open of a FIFO", .body = open_fifo},
    {.name = "a function", .body = read_in_helper},
    {.name = "a function that is held back", .body = function_behind, .max_threads = 1},
    {.name = "a lookup that is held back", .body = lookup_behind, .max_threads = 1},
    {.name = "a lookup with a deadline that is held back", .body = lookup_behind, .late = true, .max_threads = 1},
    {.name = "the cancel of a function", .body = cancel_function},
    {.name = "abtio_finalize", .body = finalize_over},
    {.name = "an acceptor, by two", .body = accept_two},
    {.name = "an acceptor with a deadline, by two", .body = accept_two, .late = true},
    {.name = "a receiver", .body = receive},
    {.name = "a buffer", .body = receive_without_buffer},
    {.name = "a blocking region", .body = read_in_region},
    {.name = "a tasklet", .body = read_in_tasklet},
    {.name = "a native thread", .body = read_in_thread},
    {.name = "a handler", .body = wait_for_handler, .handles = true},
};

enum { NUM_WAYS = sizeof(ways) / sizeof(ways[0]), NUM_BACKENDS = 2 };

static const struct {
    abtio_backend id;
    const char *name;
} backends[NUM_BACKENDS] = {{ABTIO_BACKEND_THREADS, "threads"}, {ABTIO_BACKEND_IO_URING, "io_uring"}};

struct attempt {
    const struct way *way;
    abtio_backend backend;
};

static int wait_so(void *attempt_)
{
    const struct attempt *attempt = attempt_;
    const struct way *way = attempt->way;
    abtio_config config = {.backend = attempt->backend, .max_threads = way->max_threads};
    int before = open_descriptors();

    if (way->handles) {
        config.signal = SIGRTMAX;
        signal(SIGRTMAX, set_now);
    }
    deadline = way->late ? abtio_after(60000 * MS) : ABTIO_FOREVER;
    setenv("ABT_DEADLOCK_CHECK", "abort", 1);
    must(ABT_init(0, NULL));
    if (abtio_init(&config) != 0)
        return NO_BACKEND;
    must(ABT_eventual_create(0, &eventual));
    in_ult(way->body, NULL);
    must(ABT_eventual_free(&eventual));
    (void)abtio_finalize(); /* one of the cases has done so */
    must(ABT_finalize());
    return open_descriptors() <= before ? 0 : 3;
}

static int release_late(void *unused)
{
    poll(NULL, 0, LATE_MS);
    check(write(ends[1], "a", 1) == 1);
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(connect(fd, (struct sockaddr *)&listener_at, sizeof(listener_at)) == 0);
    }
    check(open(fifo, O_WRONLY | O_CLOEXEC) >= 0);
    return 0;
}

static pid_t child_start(int (*act)(void *), void *arg)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        bail_out("fork");
    if (child == 0)
        child_main(-1, act, arg);
    return child;
}

/* All wait at a time. */
static struct running {
    pid_t waits, releases;
    char fifo[sizeof(fifo)];
} running[NUM_WAYS][NUM_BACKENDS];

static void begin(int way, int backend)
{
    struct attempt attempt = {&ways[way], backends[backend].id};
    struct running *now = &running[way][backend];

    make_pair(ends);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listen_on_loopback(listener, 2, &listener_at);
    snprintf(fifo, sizeof(fifo), "/tmp/abtio-deadlocks-%d-%d-%d", (int)getpid(), way, backend);
    memcpy(now->fifo, fifo, sizeof(fifo));
    if (mkfifo(fifo, 0600) < 0)
        bail_out("mkfifo: %s", strerror(errno));
    now->waits = child_start(wait_so, &attempt);
    now->releases = child_start(release_late, NULL);
    close(ends[0]);
    close(ends[1]);
    close(listener);
}

/* The other process may wait for the FIFO to be opened. */
static void end(int way, int backend)
{
    const struct running *now = &running[way][backend];
    int status = 0;

    if (waitpid(now->waits, &status, 0) != now->waits)
        bail_out("waitpid");
    kill(now->releases, SIGKILL);
    if (waitpid(now->releases, NULL, 0) != now->releases)
        bail_out("waitpid");
    unlink(now->fifo);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_BACKEND)
        skip(1, "there is no such backend");
    else
        is_int(status, 0, "%s: %s is waited for", backends[backend].name, ways[way].name);
}

int main(void)
{
    watchdog_begin(0);
    if (is_emulated())
        skip_all("the emulator's children of a fork cannot make threads");
    for (int i = 0; i < NUM_WAYS * NUM_BACKENDS; i++)
        begin(i / NUM_BACKENDS, i % NUM_BACKENDS);
    for (int i = 0; i < NUM_WAYS * NUM_BACKENDS; i++)
        end(i / NUM_BACKENDS, i % NUM_BACKENDS);
    return done_testing();
}
