/* SPDX-License-Identifier: BSD-3-Clause */
/* What libabtio does with signals: none interrupts a user-defined function, and the program's handlers stay. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "io.h"

enum { MOST = 128, RESTORER = 0x4000000 /* the C library's own flag */ };

static abtio_backend backend;
static atomic_int heard;

static void hear(int number)
{
    atomic_fetch_add(&heard, 1);
}

/* --- The actions of all real-time signals --- */

struct actions {
    struct sigaction of[MOST];
};

static struct actions look(void)
{
    struct actions actions;
    memset(&actions, 0, sizeof(actions));
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
        sigaction(i, NULL, &actions.of[i]);
    return actions;
}

static bool same_set(const sigset_t *a, const sigset_t *b)
{
    for (int i = 1; i <= SIGRTMAX; i++) {
        if (sigismember(a, i) != sigismember(b, i))
            return false;
    }
    return true;
}

/* The first whose action differs, or 0. */
static int first_changed(const struct actions *before, const struct actions *after)
{
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
        const struct sigaction *a = &before->of[i], *b = &after->of[i];
        if (a->sa_handler != b->sa_handler || (a->sa_flags ^ b->sa_flags) & ~RESTORER ||
            !same_set(&a->sa_mask, &b->sa_mask))
            return i;
    }
    return 0;
}

/* What libabtio finds is left in *found, if that is not NULL: libabt has taken signals by then. */
static bool begin(int number, struct actions *found)
{
    abtio_config config = {.backend = backend, .signal = number};
    must(ABT_init(0, NULL));
    if (found)
        *found = look();
    if (abtio_init(&config) == 0)
        return true;
    must(ABT_finalize());
    return false;
}

/* What it leaves. */
static struct actions end(void)
{
    is_int(abtio_finalize(), 0, "abtio_finalize");
    struct actions left = look();
    must(ABT_finalize());
    return left;
}

/* --- A user-defined function --- */

struct function {
    sigset_t mask;
    int error;
    bool child_has_it;
    atomic_bool begun;
    int from; /* it reads from there, if that is not negative */
};

static void *ask_mask(void *mask)
{
    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return NULL;
}

/* In one system call, which a signal would end. */
static ssize_t run_long(void *arg)
{
    struct function *f = arg;
    struct timespec time = {.tv_nsec = 100 * MS};
    pthread_t thread;
    sigset_t mask;
    char byte;

    atomic_store(&f->begun, true);
    pthread_sigmask(SIG_SETMASK, NULL, &f->mask);
    if (pthread_create(&thread, NULL, ask_mask, &mask) == 0)
        pthread_join(thread, NULL);
    f->child_has_it = same_set(&mask, &f->mask);
    errno = 0;
    if (f->from >= 0)
        return read(f->from, &byte, 1) < 0 ? -errno : byte;
    f->error = nanosleep(&time, NULL) == 0 ? 0 : errno;
    return 42;
}

static void *write_soon(void *fd)
{
    nap_ms(100);
    if (write(*(int *)fd, "x", 1) < 0)
        bail_out("write: %s", strerror(errno));
    return NULL;
}

static void is_left_alone(void *unused)
{
    struct function f = {.from = -1};
    int fds[2];
    sigset_t own;
    pthread_t writer;
    abtio_op *op;

    pthread_sigmask(SIG_SETMASK, NULL, &own);
    is_int(abtio_blocking(run_long, &f, abtio_after(60000 * MS)), 42, "a user-defined function");
    ok(same_set(&f.mask, &own) && f.child_has_it, "has the caller's mask, and so have threads that it makes");
    atomic_store(&f.begun, false);
    is_int(abtio_blocking_nb(run_long, &f, ABTIO_FOREVER, &op), 0, "another one");
    while (!atomic_load(&f.begun))
        abtio_sleep(MS, ABTIO_FOREVER);
    is_int(abtio_cancel(op), -EALREADY, "which has begun when it is cancelled");
    is_int(abtio_op_wait(op), 42, "runs to its end");
    is_int(f.error, 0, "and its system call is not interrupted");
    abtio_op_free(&op);
    if (pipe(fds) < 0)
        bail_out("pipe: %s", strerror(errno));
    f.from = fds[0];
    pthread_create(&writer, NULL, write_soon, &fds[1]);
    ssize_t result = abtio_blocking(run_long, &f, abtio_after(20 * MS)); /* if it begins in time */
    pthread_join(writer, NULL);
    ok(result == 'x' || result == -ETIMEDOUT, "nor is one whose deadline passes: %zd", result);
    close(fds[0]);
    close(fds[1]);
}

/* --- Handlers --- */

/* A read that a deadline ends, on a native thread: by a backend that has others it is a splice. */
static void be_late(void *unused)
{
    int fds[2], to[2];

    if (pipe(fds) < 0 || pipe(to) < 0)
        bail_out("pipe: %s", strerror(errno));
    is_int(abtio_splice(fds[0], -1, to[1], -1, 1, 0, abtio_after(20 * MS)), -ETIMEDOUT, "a call that is late is ended");
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        close(to[i]);
    }
}

/* One that the program does not use. */
static void is_given_back(void)
{
    struct sigaction own = {.sa_handler = hear};
    struct actions found, now;

    sigaction(SIGRTMAX, &own, NULL);
    if (!begin(0, &found)) {
        skip(1, "there is no such backend");
        return;
    }
    now = look();
    int taken = first_changed(&found, &now);
    ok(taken > 0 && taken != SIGRTMAX, "a signal that the program handles is not taken");
    in_ult(be_late, NULL);
    now = end();
    is_int(first_changed(&found, &now), 0, "all signals are as they were found");
    own.sa_handler = SIG_DFL;
    sigaction(SIGRTMAX, &own, NULL);
}

/* One that the program names, and handles itself. */
static void is_shared(void)
{
    struct sigaction own = {.sa_handler = hear, .sa_flags = SA_RESTART};
    struct actions found, now;
    int named = SIGRTMIN + 3;

    sigaddset(&own.sa_mask, SIGUSR2);
    sigaction(named, &own, NULL);
    if (!begin(named, &found)) {
        skip(1, "there is no such backend");
        return;
    }
    now = look();
    is_int(first_changed(&found, &now), named, "the signal is taken that the program names");
    atomic_store(&heard, 0);
    in_ult(be_late, NULL);
    is_int(atomic_load(&heard), 0, "the program's handler does not run");
    kill(getpid(), named);
    for (int i = 0; i < 10000 && atomic_load(&heard) == 0; i++)
        nap_ms(1);
    is_int(atomic_load(&heard), 1, "but of what others send");
    now = end();
    is_int(first_changed(&found, &now), 0, "its action is as it was found");
    own.sa_handler = SIG_DFL;
    sigaction(named, &own, NULL);
}

/* The program takes it later. */
static void is_left_to_the_program(void)
{
    struct sigaction own = {.sa_handler = hear};
    struct actions found, now;

    if (!begin(0, &found)) {
        skip(1, "there is no such backend");
        return;
    }
    now = look();
    int taken = first_changed(&found, &now);
    in_ult(be_late, NULL); /* there is a thread with the former signal */
    sigaction(taken, &own, NULL);
    atomic_store(&heard, 0);
    in_ult(be_late, NULL);
    is_int(atomic_load(&heard), 0, "a handler that the program installs later does not run");
    now = end();
    ok(now.of[taken].sa_handler == hear, "and stays");
    own.sa_handler = SIG_DFL;
    sigaction(taken, &own, NULL);
    now.of[taken] = found.of[taken];
    is_int(first_changed(&found, &now), 0, "the others are as they were found");
}

static void is_forgotten_by_children(void)
{
    struct actions found, now;
    int status = -1;

    if (!begin(0, &found)) {
        skip(1, "there is no such backend");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        now = look();
        _exit(first_changed(&found, &now));
    }
    waitpid(child, &status, 0);
    is_int(status, 0, "in the child of a fork all signals are as they were found");
    end();
}

static void test_refusals(void)
{
    abtio_config config = {.backend = ABTIO_BACKEND_THREADS, .signal = SIGUSR1};

    must(ABT_init(0, NULL));
    is_int(abtio_init(&config), -EINVAL, "only real-time signals are taken");
    config.signal = SIGRTMAX + 1;
    is_int(abtio_init(&config), -EINVAL, "that exist");
    config.signal = 0;
    setenv("ABTIO_SIGNAL", "much", 1);
    is_int(abtio_init(&config), -EINVAL, "ABTIO_SIGNAL is no number");
    unsetenv("ABTIO_SIGNAL");
    is_int(abtio_init(&config), 0, "without it");
    is_int(abtio_finalize(), 0, "abtio_finalize");
    must(ABT_finalize());
}

int main(void)
{
    static void (*const tests[])(void) = {is_given_back, is_shared, is_left_to_the_program, is_forgotten_by_children};

    if (UNDER_TSAN)
        skip_all("TSan has handlers of its own, and shows them");
    watchdog_begin(0);
    test_refusals();
    for (backend = ABTIO_BACKEND_IO_URING; backend <= ABTIO_BACKEND_THREADS; backend++) {
        diag("backend %d", backend);
        if (begin(0, NULL)) {
            in_ult(is_left_alone, NULL);
            end();
        }
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
            tests[i]();
    }
    return done_testing();
}
