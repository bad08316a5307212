/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's handler of SIGSEGV between those of the user's. One that passes faults on to it, and a second ABT_init,
 * made them call each other for ever; the mask and the flags of the one before were forgotten.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "child.h"
#include "emulated.h"
#include "regress.h"

enum { LOOP = 99, GOOD = 7, BAD = 8 };

static int call(void *act)
{
    (*(void (**)(void))act)();
    return 0;
}

static int end_of(void (*act)(void))
{
    return child_run(call, &act, NULL, 0);
}

static void install(void (*handler)(int, siginfo_t *, void *), int flags, struct sigaction *old)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    if (sigaction(SIGSEGV, &action, old))
        _exit(BAD);
}

static int *volatile nowhere = (int *)8;

static void fault(void *arg)
{
    *nowhere = 1;
}

/* In a ULT of a second stream. */
static void fault_in_ult(void)
{
    ABT_thread ult;
    ABT_xstream es = new_xstream();
    must(ABT_thread_create_on_xstream(es, fault, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void exit_good(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    _exit(GOOD);
}

/* --- A handler above ours --- */

static struct sigaction below;
static volatile int calls;

static void chain(int sig, siginfo_t *info, void *context)
{
    if (++calls > 3)
        _exit(LOOP);
    below.sa_sigaction(sig, info, context);
}

static void put_back(int sig, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    if (++calls > 3)
        _exit(LOOP);
    sigaction(sig, &below, NULL);
}

static void init_below(void (*handler)(int, siginfo_t *, void *))
{
    must(ABT_init(0, NULL));
    install(handler, 0, &below);
    must(ABT_finalize());
    must(ABT_init(0, NULL));
}

static void chain_to_handler(void)
{
    install(exit_good, 0, NULL);
    init_below(chain);
    fault_in_ult();
}

static void chain_to_default(void)
{
    init_below(chain);
    fault_in_ult();
}

static void chain_sent(void)
{
    init_below(chain);
    raise(SIGSEGV);
}

static void chain_many_times(void)
{
    install(exit_good, 0, NULL);
    init_below(chain);
    for (int i = 0; i < 10; i++) {
        must(ABT_finalize());
        must(ABT_init(0, NULL));
    }
    fault_in_ult();
}

static void put_back_default(void)
{
    init_below(put_back);
    fault_in_ult();
}

/* The user has removed the own handler, which leaves ours. */
static void ours_put_back(void)
{
    install(exit_good, 0, NULL);
    must(ABT_init(0, NULL));
    install(chain, 0, &below);
    must(ABT_finalize());
    sigaction(SIGSEGV, &below, NULL);
    must(ABT_init(0, NULL));
    fault_in_ult();
}

/* With the own handler gone altogether ours comes back, and goes at the end. */
static void all_removed(void)
{
    struct sigaction now;
    init_below(chain);
    must(ABT_finalize());
    signal(SIGSEGV, SIG_DFL);
    must(ABT_init(0, NULL));
    sigaction(SIGSEGV, NULL, &now);
    if (now.sa_handler == SIG_DFL)
        _exit(BAD);
    must(ABT_finalize());
    sigaction(SIGSEGV, NULL, &now);
    _exit(now.sa_handler == SIG_DFL ? GOOD : BAD);
}

static void test_above(void)
{
    is_int(end_of(chain_to_handler), GOOD, "a chain ends at the handler that was there first");
    is_int(end_of(chain_to_default), 128 + SIGSEGV, "or with the default action");
    is_int(end_of(chain_sent), 128 + SIGSEGV, "so it does for a signal that was sent");
    is_int(end_of(chain_many_times), GOOD, "after many rounds, too");
    is_int(end_of(put_back_default), 128 + SIGSEGV, "a handler that puts ours back for the next fault");
    is_int(end_of(ours_put_back), GOOD, "ours, put back by the user");
    is_int(end_of(all_removed), GOOD, "ours, when there is no other one any more");
}

/* --- The one below ours --- */

static sigjmp_buf out;

static void check_mask(int sig, siginfo_t *info, void *context)
{
    sigset_t now;
    (void)info, (void)context;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    _exit(sigismember(&now, SIGUSR1) && sigismember(&now, sig) && !sigismember(&now, SIGUSR2) ? GOOD : BAD);
}

/* qemu-riscv64 7.2 looks for the mask where other processors have it. */
static void mask_is_kept_by_system(void)
{
    install(check_mask, 0, NULL);
    fault(NULL);
}

static void mask_is_kept(void)
{
    install(check_mask, 0, NULL);
    must(ABT_init(0, NULL));
    fault_in_ult();
}

static void check_nodefer(int sig, siginfo_t *info, void *context)
{
    sigset_t now;
    (void)info, (void)context;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    _exit(sigismember(&now, SIGUSR1) && !sigismember(&now, sig) ? GOOD : BAD);
}

static void nodefer_is_kept(void)
{
    install(check_nodefer, SA_NODEFER, NULL);
    must(ABT_init(0, NULL));
    fault_in_ult();
}

static void fault_again(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    if (++calls == 2)
        _exit(GOOD);
    fault(NULL);
}

static void fault_in_handler(void)
{
    install(fault_again, 0, NULL);
    must(ABT_init(0, NULL));
    fault_in_ult();
}

static void fault_in_handler_nodefer(void)
{
    install(fault_again, SA_NODEFER, NULL);
    must(ABT_init(0, NULL));
    fault_in_ult();
}

static void jump_out(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    calls++;
    siglongjmp(out, 1);
}

static void survive(void *arg)
{
    if (sigsetjmp(out, 1) == 0)
        fault(NULL);
}

static void survive_on(ABT_xstream es)
{
    ABT_thread ult;
    must(ABT_thread_create_on_xstream(es, survive, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void jumps(void)
{
    install(jump_out, 0, NULL);
    must(ABT_init(0, NULL));
    ABT_xstream es = new_xstream();
    for (int i = 0; i < 1000; i++)
        survive_on(es);
    _exit(calls == 1000 ? GOOD : BAD);
}

static void reset_hand(void)
{
    install(jump_out, (int)SA_RESETHAND, NULL);
    must(ABT_init(0, NULL));
    ABT_xstream es = new_xstream();
    survive_on(es);
    survive_on(es); /* does not */
    _exit(BAD);
}

static void reset_hand_restored(void)
{
    struct sigaction now;
    install(jump_out, (int)SA_RESETHAND, NULL);
    must(ABT_init(0, NULL));
    survive(NULL);
    must(ABT_finalize());
    sigaction(SIGSEGV, NULL, &now);
    _exit(now.sa_handler == SIG_DFL ? GOOD : BAD);
}

static void reset_hand_unused(void)
{
    struct sigaction now;
    install(jump_out, (int)SA_RESETHAND, NULL);
    must(ABT_init(0, NULL));
    must(ABT_finalize());
    sigaction(SIGSEGV, NULL, &now);
    _exit(now.sa_sigaction == jump_out && now.sa_flags & (int)SA_RESETHAND ? GOOD : BAD);
}

/* Its flags count for functions only. */
static void ignored_with_flags(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    must(ABT_init(0, NULL));
    raise(SIGSEGV);
    _exit(GOOD);
}

static void ignored_fault(void)
{
    signal(SIGSEGV, SIG_IGN);
    must(ABT_init(0, NULL));
    fault_in_ult();
    _exit(BAD);
}

static void bus_error(void)
{
    struct sigaction action = {.sa_sigaction = exit_good, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    must(ABT_init(0, NULL));
    FILE *empty = tmpfile();
    volatile char *page = empty ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0) : MAP_FAILED;
    _exit(page == MAP_FAILED ? BAD : page[0] + BAD);
}

static void test_masks(void)
{
    if (is_emulated() && end_of(mask_is_kept_by_system) != GOOD) {
        skip(2, "the emulator forgets the mask of a handler");
        return;
    }
    is_int(end_of(mask_is_kept), GOOD, "the mask of the old handler");
    is_int(end_of(nodefer_is_kept), GOOD, "SA_NODEFER");
}

static void test_below(void)
{
    is_int(end_of(fault_in_handler), 128 + SIGSEGV, "a fault in it");
    is_int(end_of(fault_in_handler_nodefer), GOOD, "the same with SA_NODEFER");
    is_int(end_of(jumps), GOOD, "it jumps out, again and again");
    is_int(end_of(reset_hand), 128 + SIGSEGV, "SA_RESETHAND: one signal");
    is_int(end_of(reset_hand_restored), GOOD, "SA_RESETHAND: it does not come back");
    is_int(end_of(reset_hand_unused), GOOD, "SA_RESETHAND: unused it does");
    is_int(end_of(ignored_with_flags), GOOD, "SIG_IGN with SA_SIGINFO");
    is_int(end_of(ignored_fault), 128 + SIGSEGV, "a fault is not ignored");
    is_int(end_of(bus_error), GOOD, "SIGBUS");
}

int main(void)
{
    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("sanitizers have handlers of their own");
    test_above();
    test_masks();
    test_below();
    return done_testing();
}
