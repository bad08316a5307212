#include "os/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>
#include "base/atomic.h"
#include "base/compiler.h"
#include "os/vm.h"

/* What a handler, ours or the user's, may need beyond the frame of the signal, which grows with the vector units. */
enum { FAULT_STACK = 64 * 1024 };

static const int signals[] = {SIGSEGV, SIGBUS};

/* Written by abti_fault_watch and _unwatch, which do not run at the same time; read by the handler. */
static struct sigaction before[ABTI_ARRAY_LEN(signals)];
static void (*watcher)(void *addr);

/* Lets the signal do what it would have done. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    struct sigaction *old = &before[sig == signals[0] ? 0 : 1];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(sig, info, context);
        return;
    }
    bool sent = info->si_code <= 0; /* by kill or raise: it does not come again when we return */
    if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(sig);
    } else if (!sent || old->sa_handler == SIG_DFL) {
        signal(sig, SIG_DFL); /* a fault cannot be ignored */
        if (sent)
            raise(sig);
    }
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    if (info->si_code > 0 && watcher)
        watcher(info->si_addr);
    errno = saved_errno;
    pass_on(sig, info, context);
}

void abti_fault_watch(void (*look)(void *addr))
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    watcher = look;
    for (size_t i = 0; i < ABTI_ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, &before[i]);
}

void abti_fault_unwatch(void)
{
    for (size_t i = 0; i < ABTI_ARRAY_LEN(signals); i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
            sigaction(signals[i], &before[i], NULL);
    }
    watcher = NULL;
}

/* One that nobody uses: threads come and go. */
static _Atomic(void *) spare;

void *abti_fault_stack_map(void)
{
    void *stack = abti_exchange_acq_rel(&spare, NULL);
    return stack ? stack : abti_vm_map(FAULT_STACK);
}

void abti_fault_stack_unmap(void *stack)
{
    abti_vm_unmap(abti_exchange_acq_rel(&spare, stack), FAULT_STACK);
}

void abti_fault_stack_forget(void)
{
    abti_fault_stack_unmap(NULL);
}

void abti_fault_enter(void *stack)
{
    stack_t now, ours = {.ss_sp = stack, .ss_size = FAULT_STACK};
    if (stack && sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
        sigaltstack(&ours, NULL);
}

void abti_fault_leave(void *stack)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (stack && sigaltstack(NULL, &now) == 0 && now.ss_sp == stack)
        sigaltstack(&none, NULL);
}
