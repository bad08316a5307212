/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/fault.h"

#include <errno.h>
#include <unistd.h>
#include "base/atomic.h"
#include "os/vm.h"

/* The room that a handler, ours or the user's, may need beyond the frame of the signal, which grows with the vector
 * units. */
enum { FAULT_STACK = 64 * 1024 };

/*
 * One of the signals. abti_fault_watch and abti_fault_unwatch write all of it but `spent`. They do not run at the same
 * time, and write before our handler is installed, or while it passes everything on as it did.
 */
static struct watched {
    int sig;
    bool below;              /* at the last _unwatch another handler was in our place: it may pass faults on to ours */
    struct sigaction before; /* what our handler has replaced */
    _Atomic(bool) spent;     /* a signal has used it up: SA_RESETHAND allows `before` one */
} signals[] = {{.sig = SIGSEGV}, {.sig = SIGBUS}};

static _Atomic(abti_fault_look) watcher;

static bool calls_function(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* A fault cannot be ignored: it comes again when the handler returns. A signal of kill or raise does not. */
static void take_course(int sig, bool ignored, bool sent)
{
    if (sent && ignored)
        return;
    signal(sig, SIG_DFL);
    if (sent)
        raise(sig);
}

/* Does what the kernel would have done without us. The kernel has seen to the mask and SA_NODEFER, see handler_for. */
static void pass_on(struct watched *w, siginfo_t *info, void *context)
{
    const struct sigaction *old = &w->before;
    bool sent = info->si_code <= 0;
    if (!calls_function(old))
        take_course(w->sig, old->sa_handler == SIG_IGN, sent);
    else if (old->sa_flags & (int)SA_RESETHAND && /* release: pairs with the acquire in fault_unwatch (os/fault.c).
                                                     acquire: of no use */
             abti_exchange_acq_rel(&w->spent, true))
        take_course(w->sig, false, sent);
    else
        abti_pass_on(old, w->sig, info, context);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    /* acquire: pairs with the release in abti_fault_watch */
    abti_fault_look look = abti_load_acquire(&watcher);
    if (info->si_code > 0 && look)
        look(info->si_addr, context);
    errno = saved_errno;
    pass_on(sig == signals[0].sig ? &signals[0] : &signals[1], info, context);
}

/* Our handler, which the kernel calls as it would call the old one, but on the signal stack. */
static struct sigaction handler_for(const struct sigaction *old)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (calls_function(old)) {
        action.sa_mask = old->sa_mask;
        action.sa_flags |= old->sa_flags & (SA_NODEFER | SA_RESTART);
    } else {
        action.sa_flags |= SA_RESTART; /* as if an ignored signal had not come */
    }
    return action;
}

static bool fault_is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fault;
}

/*
 * Installs our handler, but not above one that passes faults on to it, or puts it back for the next one: the faults
 * would go round and round. If it turns out that such a handler does not do so, we learn of no faults, as before
 * abti_fault_unwatch.
 */
static void fault_watch(struct watched *w)
{
    struct sigaction now;
    if (sigaction(w->sig, NULL, &now) != 0 || fault_is_ours(&now) || (w->below && calls_function(&now)))
        return;
    struct sigaction action = handler_for(&now);
    w->before = now;
    abti_store_relaxed(&w->spent, false); /* relaxed: no handler of ours is installed that would look at it */
    sigaction(w->sig, &action, NULL);
}

static void fault_unwatch(struct watched *w)
{
    struct sigaction now;
    if (sigaction(w->sig, NULL, &now) != 0)
        return;
    w->below = !fault_is_ours(&now);
    if (w->below)
        return;
    struct sigaction old = w->before;
    if (abti_load_acquire(&w->spent)) /* acquire: pairs with the exchange in pass_on */
        old.sa_handler = SIG_DFL;
    sigaction(w->sig, &old, NULL);
}

void abti_fault_watch(abti_fault_look look)
{
    for (size_t i = 0; i < ABTI_ARRAY_LEN(signals); i++)
        fault_watch(&signals[i]);
    /* release: pairs with the acquire in on_fault, so that a handler sees what `look` needs */
    abti_store_release(&watcher, look);
}

void abti_fault_unwatch(void)
{
    /* release: pairs with the acquire in on_fault, which publishes nothing here */
    abti_store_release(&watcher, NULL);
    for (size_t i = 0; i < ABTI_ARRAY_LEN(signals); i++)
        fault_unwatch(&signals[i]);
}

/*
 * A signal stack that nobody uses, since threads come and go. acquire and release: each exchange in
 * abti_fault_stack_map pairs with that in abti_fault_stack_unmap which stored the stack, whose old user has left it
 * before.
 */
static _Atomic(void *) spare;

void *abti_fault_stack_map(void)
{
    void *stack = abti_exchange_acq_rel(&spare, NULL);
    return stack ? stack : abti_vm_map(FAULT_STACK); /* acquire, release: see `spare`, abti_fault_stack_unmap */
}

void abti_fault_stack_unmap(void *stack)
{
    /* acquire, release: pairs with abti_fault_stack_map, see `spare` */
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
