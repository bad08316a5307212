/* SPDX-License-Identifier: BSD-3-Clause */
#include "native.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "debug.h"

static atomic_uint delivered; /* counts what sleepers may want to look at */
static atomic_uint sleepers;

/*
 * A fence here, so that a sleeper that has just counted itself is always seen, would cost each operation more than all
 * else in this file. A sleeper that is missed polls by itself.
 */
void abtioi_native_wake(void)
{
    /* relaxed: see above */
    if (atomic_load_explicit(&sleepers, memory_order_relaxed) == 0)
        return;
    atomic_fetch_add(&delivered, 1); /* seq_cst: with abtioi_native_wait, which reads it before it polls */
    syscall(SYS_futex, &delivered, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void abtioi_native_wait(int (*poll)(void *arg), void *arg)
{
    const struct timespec most = {.tv_nsec = 1000000};

    abtioi_assert(poll);
    atomic_fetch_add(&sleepers, 1); /* seq_cst: before the poll; abtioi_native_wake reads it without order, see above */
    for (;;) {
        unsigned seen = atomic_load(&delivered); /* seq_cst: before the poll, with abtioi_native_wake */
        if (poll(arg))
            break;
        syscall(SYS_futex, &delivered, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
    }
    atomic_fetch_sub(&sleepers, 1); /* seq_cst: as good as any */
}

void abtioi_native_wait_fd(int fd, int64_t nanoseconds)
{
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    abtioi_assert(fd >= 0);
    ppoll(&poll_fd, 1, nanoseconds < 0 ? NULL : &time, NULL);
}

int abtioi_native_make_thread(void *(*main)(void *))
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    int code = pthread_attr_init(&attr);
    if (code != 0)
        return code;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, &attr, main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return code;
}
