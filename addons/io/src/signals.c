/* SPDX-License-Identifier: BSD-3-Clause */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "abt.h"
#include "debug.h"

static int taken;
static bool announced;                /* to libabt: the program's handler may be called, and wake units */
static struct sigaction before[NSIG]; /* the program's; written before ours is there */
static sigset_t blocked;              /* what a thread of the program blocks it may take by sigwait or a descriptor */

static void signals_interrupt(int number, siginfo_t *info, void *context);

/* ---- The handler ----------------------------------------------------------------------------------------------- */

/* Another one has sent it, to the process as a rule: it does what it did. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *program = &before[number];

    if (program->sa_flags & SA_SIGINFO) {
        program->sa_sigaction(number, info, context);
    } else if (program->sa_handler == SIG_DFL) {
        sigaction(number, program, NULL); /* it ends the process as soon as this one returns */
        pthread_kill(pthread_self(), number);
    } else if (program->sa_handler != SIG_IGN) {
        program->sa_handler(number);
    }
}

/* Of ours it is enough that the system call ends. */
static void signals_interrupt(int number, siginfo_t *info, void *context)
{
    int error = errno;

    bool has_value = info->si_code == SI_TIMER || info->si_code == SI_QUEUE;
    if (!has_value || info->si_value.sival_ptr != abtioi_signal_mark())
        pass_on(number, info, context);
    errno = error;
}

static bool is_ours(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == signals_interrupt;
}

/* ---- The choice ------------------------------------------------------------------------------------------------ */

static bool signal_take(int number)
{
    struct sigaction action = {.sa_sigaction = signals_interrupt};

    if (sigaction(number, NULL, &before[number]) < 0)
        return false;
    action.sa_flags = SA_SIGINFO | (before[number].sa_flags & SA_ONSTACK);
    action.sa_mask = before[number].sa_mask;
    if (sigaction(number, &action, NULL) < 0)
        return false;
    taken = number;
    return true;
}

static bool is_free(int number)
{
    struct sigaction now;
    return !sigismember(&blocked, number) && sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == SIG_DFL;
}

static bool take_free(void)
{
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--) {
        if (is_free(number) && signal_take(number))
            return true;
    }
    return false;
}

/* The check for deadlocks finds our handler, and not the one behind it. */
static void signal_announce(bool now)
{
    if (now != announced)
        ABTX_expect_external_wake(now ? 1 : -1);
    announced = now;
}

static bool calls_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

int abtioi_signal_begin(int number)
{
    if (number != 0 && (number < SIGRTMIN || number > SIGRTMAX))
        return -EINVAL;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!(number ? signal_take(number) : take_free()))
        return -EAGAIN;
    signal_announce(calls_handler(&before[taken]));
    return 0;
}

void abtioi_signal_end(void)
{
    if (is_ours(taken))
        sigaction(taken, &before[taken], NULL);
    taken = 0;
    signal_announce(false);
}

int abtioi_signal(void)
{
    abtioi_assert(taken >= SIGRTMIN && taken <= SIGRTMAX);
    if (!is_ours(taken))
        (void)take_free(); /* without one the program's handler learns of its own signal */
    return taken;
}

void *abtioi_signal_mark(void)
{
    return &taken;
}

static void set_mask(int how, int number, sigset_t *old)
{
    sigset_t set;

    abtioi_assert(number >= SIGRTMIN && number <= SIGRTMAX);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(how, &set, old);
}

void abtioi_signal_let_in(int number, sigset_t *old)
{
    set_mask(SIG_UNBLOCK, number, old);
}

void abtioi_signal_keep_out(int number)
{
    set_mask(SIG_BLOCK, number, NULL);
}

void abtioi_signal_send(int number, pid_t thread)
{
    siginfo_t info;

    abtioi_assert(number >= SIGRTMIN && number <= SIGRTMAX && thread > 0);
    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = abtioi_signal_mark();
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, &info);
}
