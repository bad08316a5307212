#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static int signal_taken;

/* It is enough that the system call ends. */
static void interrupt(int number)
{
    (void)number;
}

int abtioi_signal_begin(void)
{
    struct sigaction action = {.sa_handler = interrupt}, now;

    for (int number = SIGRTMAX; number >= SIGRTMIN; number--) {
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL && sigaction(number, &action, NULL) == 0) {
            signal_taken = number;
            return 0;
        }
    }
    return -EAGAIN;
}

void abtioi_signal_end(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal_taken, &action, NULL);
}

int abtioi_signal(void)
{
    return signal_taken;
}

static void set_mask(int how, sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal_taken);
    pthread_sigmask(how, &set, before);
}

void abtioi_signal_let_in(sigset_t *before)
{
    set_mask(SIG_UNBLOCK, before);
}

void abtioi_signal_keep_out(void)
{
    set_mask(SIG_BLOCK, NULL);
}
