/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong around operations: signals, full disks, peers, closes, ends, fork, kernels that refuse. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "child.h"
#include "io.h"

/* ---- Signals --------------------------------------------------------------------------------------------------- */

static atomic_bool storm;

static void no_more(int sig)
{
}

static void *make_storm(void *arg)
{
    while (storm) {
        pthread_kill(*(pthread_t *)arg, SIGUSR1);
        nap_ms(0.05);
    }
    return NULL;
}

struct echo {
    int fd;
    long wrong;
};

static void echo(void *arg)
{
    struct echo *e = arg;
    char buf[100];
    ssize_t n;

    while ((n = abtio_recv_all(e->fd, buf, sizeof(buf), 0, ABTIO_FOREVER)) == sizeof(buf))
        e->wrong += abtio_send_all(e->fd, buf, sizeof(buf), 0, ABTIO_FOREVER) != sizeof(buf);
    e->wrong += n != 0;
}

/* Handlers that interrupt system calls: nobody gets EINTR. */
static void signals(void)
{
    struct sigaction action = {.sa_handler = no_more};
    pthread_t self = pthread_self(), thread;
    int fds[2];
    long wrong = 0;
    char buf[100] = "";

    sigaction(SIGUSR1, &action, NULL);
    make_pair(fds);
    struct echo e = {fds[1], 0};
    storm = true;
    if (pthread_create(&thread, NULL, make_storm, &self))
        bail_out("pthread_create");
    ABT_thread ult = ult_in(main_pool(), echo, &e);
    for (int i = 0; i < 300; i++) {
        wrong += abtio_send_all(fds[0], buf, sizeof(buf), 0, ABTIO_FOREVER) != sizeof(buf);
        wrong += abtio_recv_all(fds[0], buf, sizeof(buf), 0, ABTIO_FOREVER) != sizeof(buf);
        wrong += i % 50 == 0 && abtio_sleep(MS, ABTIO_FOREVER) != 0;
    }
    abtio_shutdown(fds[0], SHUT_WR, ABTIO_FOREVER);
    must(ABT_thread_free(&ult));
    storm = false;
    pthread_join(thread, NULL);
    is_int(wrong + e.wrong, 0, "%s: no call is interrupted by signals", backend_name);
    close(fds[0]);
    close(fds[1]);
}

/* ---- Peers ----------------------------------------------------------------------------------------------------- */

struct closing {
    int fd;
    int64_t patience;
};

static void close_it(void *arg)
{
    const struct closing *closing = arg;

    abtio_sleep(closing->patience, ABTIO_FOREVER);
    is_int(abtio_close(closing->fd, ABTIO_FOREVER), 0, "close of a descriptor that another waits on");
}

/* False: the operation had not begun when the descriptor was closed. */
static bool try_close_in_flight(int64_t patience)
{
    int fds[2];
    char byte = 0;
    abtio_op *op;

    make_pair(fds);
    struct closing closing = {fds[0], patience};
    is_int(abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &op), 0, "%s: recv_nb", backend_name);
    in_ult(close_it, &closing);
    ssize_t sent = abtio_send(fds[1], "c", 1, 0, ABTIO_FOREVER), received = abtio_op_wait(op);
    abtio_op_free(&op);
    close(fds[1]);
    if (received == -EBADF)
        return false;
    is_int(sent, 1, "send");
    is_int(received, 1, "it goes on, and receives");
    is_int(byte, 'c', "what was sent");
    return true;
}

/* The operation goes on with what the descriptor was. A native thread may be late to begin it, on a busy machine. */
static void close_in_flight(void)
{
    enum { TRIES = 12 };
    int64_t patience = MS;

    if (UNDER_TSAN) {
        skip(1, "the sanitizer calls a close beside a read a race");
        return;
    }
    bool begun = false;
    for (int i = 0; i < TRIES && !begun; i++, patience *= 2)
        begun = try_close_in_flight(patience);
    ok(begun, "a descriptor is closed under an operation");
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

static void sleep_long(void *arg)
{
    *(ssize_t *)arg = abtio_sleep(3600000 * MS, ABTIO_FOREVER);
}

static atomic_bool outside_receives;

static void *receive_outside(void *arg)
{
    char byte;
    abtio_op *op;
    ssize_t n = abtio_recv_nb(*(int *)arg, &byte, 1, 0, abtio_after(3600000 * MS), &op);

    outside_receives = true;
    if (n == 0) {
        n = abtio_op_wait(op);
        abtio_op_free(&op);
    }
    return (void *)n;
}

/* abtio_finalize ends what is under way, whoever waits for it. */
static void finalize_in_flight(abtio_backend backend)
{
    int fds[2], before;
    char byte;
    abtio_op *op;
    pthread_t outside;
    void *result;
    ABT_thread on_second;
    ssize_t slept = 1, slept_on_second = 1;

    if (!begin_both(backend, &before))
        return;
    make_pair(fds);
    outside_receives = false;
    ABT_xstream second = new_xstream();
    must(ABT_thread_create_on_xstream(second, sleep_long, &slept_on_second, ABT_THREAD_ATTR_NULL, &on_second));
    ABT_thread thread = ult_in(main_pool(), sleep_long, &slept);
    if (pthread_create(&outside, NULL, receive_outside, &fds[0]))
        bail_out("pthread_create");
    is_int(abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &op), 0, "recv_nb");
    while (!outside_receives || !is_blocked(thread) || !is_blocked(on_second))
        abtio_sleep(MS, ABTIO_FOREVER);
    is_int(abtio_finalize(), 0, "abtio_finalize with operations under way");
    pthread_join(outside, &result);
    is_int((intptr_t)result, -ECANCELED, "an external thread gets the code");
    must(ABT_thread_free(&thread));
    must(ABT_thread_free(&on_second));
    is_int(slept, -ECANCELED, "a ULT gets the code");
    is_int(slept_on_second, -ECANCELED, "one of another stream, too");
    is_int(abtio_op_wait(op), -ECANCELED, "a handle tells");
    abtio_op_free(&op);
    close(fds[0]);
    close(fds[1]);
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
    must(ABT_finalize());
    ok(open_descriptors() <= before, "no descriptor is left");
}

/* ---- fork ------------------------------------------------------------------------------------------------------ */

/* The child begins anew, while the parent's operation goes on. */
static int child_of_fork(int fds[2])
{
    char byte;
    int mine[2];

    if (abtio_send(fds[0], "x", 1, 0, ABTIO_FOREVER) != -ENOTCONN || abtio_init(NULL) != 0)
        return 1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, mine) < 0)
        return 2;
    if (abtio_recv(mine[0], &byte, 1, 0, abtio_after(MS)) != -ETIMEDOUT)
        return 3;
    if (abtio_send(mine[1], "c", 1, 0, ABTIO_FOREVER) != 1 || abtio_recv(mine[0], &byte, 1, 0, ABTIO_FOREVER) != 1)
        return 4;
    return abtio_finalize() == 0 ? 0 : 5;
}

static void forks(void)
{
    int fds[2], status;
    char byte = 0;
    abtio_op *op;

    if (!FORKS_WITH_THREADS) {
        skip(6, "a sanitizer's locks may be held in the child of a process with several threads");
        return;
    }
    make_pair(fds);
    is_int(abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &op), 0, "%s: recv_nb", backend_name);
    abtio_sleep(MS, ABTIO_FOREVER);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(child_of_fork(fds));
    }
    is_int(waitpid(child, &status, 0), child, "waitpid");
    is_int(status, 0, "the child begins anew");
    is_int(abtio_op_test(op, NULL), 0, "the parent's operation goes on");
    is_int(abtio_send(fds[1], "p", 1, 0, ABTIO_FOREVER), 1, "send");
    is_int(abtio_op_wait(op), 1, "it is done");
    is_int(byte, 'p', "and has received");
    abtio_op_free(&op);
    close(fds[0]);
    close(fds[1]);
}

/* ---- A full disk ----------------------------------------------------------------------------------------------- */

/* Mounts that only this process sees: as root, or as the root of a user namespace. */
static bool have_own_mounts(void)
{
    char map[32];
    int size = snprintf(map, sizeof(map), "0 %u 1", (unsigned)getuid());

    if (unshare(CLONE_NEWNS) == 0)
        return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
        return false;
    int fd = open("/proc/self/uid_map", O_WRONLY);
    bool mapped = fd >= 0 && write(fd, map, (size_t)size) == size;
    close(fd);
    return mapped;
}

static int write_too_much(void *arg)
{
    static char buf[200 << 10];
    const abtio_config *config = arg;

    if (!have_own_mounts() || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", "/tmp", "tmpfs", 0, "size=128k"))
        return 77;
    must(ABT_init(0, NULL));
    if (abtio_init(config) != 0)
        return 77;
    int fd = abtio_openat(AT_FDCWD, "/tmp/f", O_RDWR | O_CREAT, 0600, ABTIO_FOREVER);
    ssize_t n = abtio_pwrite(fd, buf, sizeof(buf), 0, ABTIO_FOREVER);
    if (n <= 0 || n > 128 << 10)
        return 1; /* a plain write tells what has found room */
    if (abtio_pwrite_all(fd, buf, sizeof(buf), 0, ABTIO_FOREVER) != -ENOSPC)
        return 2;
    if (abtio_fallocate(fd, 0, 0, 1 << 20, ABTIO_FOREVER) != -ENOSPC)
        return 3;
    if (abtio_ftruncate(fd, 0, ABTIO_FOREVER) != 0 || abtio_pwrite_all(fd, buf, 1 << 10, 0, ABTIO_FOREVER) != 1 << 10)
        return 4;
    abtio_close(fd, ABTIO_FOREVER);
    must(abtio_finalize());
    must(ABT_finalize());
    return 0;
}

static void full_disk(void)
{
    for (int backend = ABTIO_BACKEND_IO_URING; backend <= ABTIO_BACKEND_THREADS; backend++) {
        abtio_config config = {.backend = (abtio_backend)backend};
        int code = child_run(write_too_much, &config, NULL, 0);
        if (code == 77)
            skip(1, "no tmpfs may be mounted, or there is no such backend");
        else
            is_int(code, 0, "a disk that is full, backend %d", backend);
    }
}

/* ---- A kernel without rings ------------------------------------------------------------------------------------ */

/* These system calls, of which the numbers follow each other, fail with this error from now on in this thread. */
static bool refuse(unsigned first, unsigned last, unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 5, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int without_rings(void *arg)
{
    int error = *(int *)arg, fds[2];
    abtio_config rings = {.backend = ABTIO_BACKEND_IO_URING};
    abtio_info info;
    char byte;

    if (!refuse(SYS_io_uring_setup, SYS_io_uring_setup, (unsigned)error))
        return 77;
    must(ABT_init(0, NULL));
    if (abtio_init(&rings) != -error)
        return 1;
    if (abtio_init(NULL) != 0 || abtio_get_info(&info) != 0)
        return 2;
    if (info.backend != ABTIO_BACKEND_THREADS || !strstr(info.reason, strerror(error)))
        return 3;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 || abtio_send(fds[0], "x", 1, 0, ABTIO_FOREVER) != 1 ||
        abtio_recv(fds[1], &byte, 1, 0, ABTIO_FOREVER) != 1)
        return 4;
    must(abtio_finalize());
    must(ABT_finalize());
    return 0;
}

static void refused(void)
{
    int errors[] = {ENOSYS, EPERM};

    for (int i = 0; i < 2; i++) {
        int code = child_run(without_rings, &errors[i], NULL, 0);
        if (code == 77)
            skip(1, "the system allows no filters");
        else
            is_int(code, 0, "io_uring_setup gives %s", strerror(errors[i]));
    }
}

/* ---- A kernel that takes rings away ---------------------------------------------------------------------------- */

static int taken_fds[2], later_fds[2];
static ssize_t taken_result = 1, later_result = -1;

static void receive_taken(void *arg)
{
    char byte;

    taken_result = abtio_recv(taken_fds[0], &byte, 1, 0, ABTIO_FOREVER);
}

static void receive_later(void *arg)
{
    char byte;

    later_result = abtio_recv(later_fds[0], &byte, 1, 0, ABTIO_FOREVER);
}

/* A receiver in a ring that is taken away: it goes on without it, and without the buffers that the ring has had. */
struct received {
    abtio_buffers *buffers;
    abtio_receiver *receiver;
    abtio_op *op;
    void *buf, *held;
    int fds[2];
};

static bool begin_receiving(struct received *received)
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, received->fds) == 0 && write(received->fds[1], "held", 4) == 4 &&
           abtio_buffers_create(8, 2, &received->buffers) == 0 &&
           abtio_receiver_create(received->fds[0], 0, received->buffers, &received->receiver) == 0 &&
           abtio_receiver_recv(received->receiver, &received->held, ABTIO_FOREVER) == 4 &&
           abtio_receiver_recv_nb(received->receiver, &received->buf, ABTIO_FOREVER, &received->op) == 0;
}

/* What is received now, three times with two buffers. */
static bool goes_on_receiving(struct received *received)
{
    bool good = true;

    for (int i = 0; i < 3; i++) {
        good &= write(received->fds[1], "later", 5) == 5;
        good &= abtio_receiver_recv(received->receiver, &received->buf, ABTIO_FOREVER) == 5;
        good = good && !memcmp(received->buf, "later", 5);
        good = good && abtio_buffers_give_back(received->buffers, received->buf) == 0;
    }
    return good;
}

static bool end_receiving(struct received *received)
{
    return !memcmp(received->held, "held", 4) && abtio_buffers_give_back(received->buffers, received->held) == 0 &&
           abtio_receiver_free(&received->receiver) == 0 && abtio_buffers_free(&received->buffers) == 0;
}

/* What the ring has taken ends with an error, and the rest goes on without it. */
static int ring_taken_away(void *arg)
{
    const unsigned *last = arg;
    abtio_config rings = {.backend = ABTIO_BACKEND_IO_URING};
    struct received received;
    ABT_thread taken, later;
    abtio_op *op, *queued, *accepts;
    abtio_acceptor *acceptor;
    int listener = socket(AF_INET, SOCK_STREAM, 0); /* bound by listen */
    char byte;

    must(ABT_init(0, NULL));
    if (abtio_init(&rings) != 0 || listen(listener, 1) < 0 || abtio_acceptor_create(listener, 0, &acceptor) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, taken_fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, later_fds) < 0)
        return 77;
    must(ABT_thread_create(main_pool(), receive_taken, NULL, ABT_THREAD_ATTR_NULL, &taken));
    if (abtio_recv_nb(taken_fds[1], &byte, 1, 0, ABTIO_FOREVER, &op) != 0 ||
        abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &accepts) != 0 || !begin_receiving(&received) ||
        abtio_sleep(10 * MS, ABTIO_FOREVER) != 0 || /* the stream sleeps in its ring */
        abtio_recv_nb(later_fds[1], &byte, 1, 0, ABTIO_FOREVER, &queued) != 0)
        return 1;
    if (!refuse(SYS_io_uring_enter, *last, EPERM))
        return 77;
    must(ABT_thread_create(main_pool(), receive_later, NULL, ABT_THREAD_ATTR_NULL, &later));
    must(ABT_thread_free(&taken));
    if (taken_result != -EIO || abtio_op_wait(op) != -EIO || abtio_cancel(op) != -EALREADY)
        return 2;
    if (abtio_send(later_fds[1], "x", 1, 0, ABTIO_FOREVER) != 1)
        return 3;
    must(ABT_thread_free(&later));
    if (later_result != 1 || abtio_op_test(queued, NULL) || abtio_cancel(queued) != 0)
        return 4;
    if (abtio_recv(later_fds[0], &byte, 1, 0, abtio_after(MS)) != -ETIMEDOUT)
        return 5;
    if (abtio_op_wait(accepts) != -EIO || abtio_acceptor_accept(acceptor, abtio_after(MS)) != -ETIMEDOUT)
        return 6;
    if (abtio_op_wait(received.op) != -EIO || !goes_on_receiving(&received))
        return 7;
    abtio_op_free(&received.op);
    if (!end_receiving(&received))
        return 8;
    abtio_op_free(&op);
    abtio_op_free(&queued);
    abtio_op_free(&accepts);
    must(abtio_acceptor_free(&acceptor));
    must(abtio_finalize());
    must(ABT_finalize());
    return 0;
}

static void taken_away(void)
{
    static const struct {
        unsigned last;
        const char *name;
    } filters[] = {{SYS_io_uring_enter, "io_uring_enter"}, {SYS_io_uring_register, "all but io_uring_setup"}};

    for (int i = 0; i < 2; i++) {
        unsigned last = filters[i].last;
        int code = child_run(ring_taken_away, &last, NULL, 0);
        if (code == 77)
            skip(1, "there are no rings, or no filters");
        else
            is_int(code, 0, "a filter that comes later forbids %s", filters[i].name);
    }
}

/* ---- A kernel that gives rings no tables ------------------------------------------------------------------------ */

enum { BY_FILTER, BY_LIMIT_OF_MEMORY, BY_LIMIT_OF_FILES, WAYS };

/* Whether the kernel refuses from now on. Limits of memory do not hold for the superuser. */
static bool forbid(int way)
{
    struct rlimit pages = {65536, 65536}, files;

    if (way == BY_FILTER)
        return refuse(SYS_io_uring_register, SYS_io_uring_register, EPERM);
    if (way == BY_LIMIT_OF_MEMORY)
        return setrlimit(RLIMIT_MEMLOCK, &pages) == 0 && (geteuid() != 0 || setresuid(65534, 65534, 65534) == 0);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 64;
    return setrlimit(RLIMIT_NOFILE, &files) == 0;
}

/* What is registered and cannot be had is used as ever; what can be had is used. */
static int without_tables(void *arg)
{
    enum { SIZE = 1 << 20 };
    abtio_config rings = {.backend = ABTIO_BACKEND_IO_URING};
    abtio_info info;
    int way = *(int *)arg, fds[2];
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pipe(fds) < 0 || dup2(fds[1], 100) != 100 || memory == MAP_FAILED || (way != BY_FILTER && !forbid(way)))
        return 77;
    must(ABT_init(0, NULL));
    if (abtio_init(&rings) != 0 || (abtio_sleep(MS, ABTIO_FOREVER), way == BY_FILTER && !forbid(way)))
        return 77;
    must(abtio_register_memory(memory, SIZE));
    must(abtio_register_memory(memory + 4096, 4096));
    must(abtio_register_file(fds[0]));
    must(abtio_register_file(100));
    let_stream_look();
    for (int i = 0; i < 10; i++) {
        strcpy(memory, "table");
        if (abtio_write(100, memory, 6, ABTIO_FOREVER) != 6 ||
            abtio_read(fds[0], memory + 4096, 6, ABTIO_FOREVER) != 6 || strcmp(memory + 4096, "table") != 0)
            return 1;
    }
    must(abtio_get_info(&info));
    static const unsigned expected[WAYS][3] = {{4, 0, 0}, {1, 10, 20}, {1, 20, 10}};
    if (info.num_refused != expected[way][0] || info.num_in_memory != expected[way][1] ||
        info.num_on_files != expected[way][2])
        return 2;
    must(abtio_unregister_memory(memory));
    must(abtio_unregister_file(fds[0]));
    struct received received;
    if (!begin_receiving(&received) || abtio_cancel(received.op) != 0 || !goes_on_receiving(&received) ||
        abtio_op_wait(received.op) != -ECANCELED)
        return 3;
    abtio_op_free(&received.op);
    if (!end_receiving(&received))
        return 4;
    must(abtio_finalize());
    must(ABT_finalize());
    return 0;
}

static void no_tables(void)
{
    static const char *const names[WAYS] = {"a filter", "RLIMIT_MEMLOCK", "RLIMIT_NOFILE"};

    for (int way = 0; way < WAYS; way++) {
        int code = child_run(without_tables, &way, NULL, 0);
        if (code == 77)
            skip(1, "there are no rings, or no %s", names[way]);
        else
            is_int(code, 0, "what is registered is refused by %s", names[way]);
    }
}

static void tests(void)
{
    signals();
    close_in_flight();
    forks();
}

int main(void)
{
    watchdog_begin(0);
    refused();
    taken_away();
    no_tables();
    full_disk();
    with_each_backend(tests);
    finalize_in_flight(ABTIO_BACKEND_THREADS);
    finalize_in_flight(ABTIO_BACKEND_IO_URING);
    return done_testing();
}
