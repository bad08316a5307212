/* SPDX-License-Identifier: BSD-3-Clause */
/* Without a switch in assembly each context has a signal mask of its own; with one, the mask is the thread's. */
#include <pthread.h>
#include <signal.h>

#include "arch/ctx.h"
#include "base/build.h"
#include "tap.h"

enum { STACK = 65536 };

static char stack[STACK] __attribute__((aligned(64)));
static abti_ctx main_ctx, other_ctx;
static bool seen_in_other, seen_at_entry;

static void set_blocked(bool blocked)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static bool is_blocked(void)
{
    sigset_t set;

    pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, SIGUSR1);
}

static void other(void)
{
    seen_at_entry = is_blocked();
    set_blocked(true);
    abti_ctx_switch(&other_ctx, main_ctx);
    seen_in_other = is_blocked();
    abti_ctx_jump(main_ctx);
}

static void in_place(void *arg)
{
    set_blocked(true);
}

int main(void)
{
    bool own = !ABTI_BUILD_FCONTEXT;

    abti_ctx_start(&main_ctx, stack + STACK, other, NULL, NULL);
    ok(!seen_at_entry, "a context begins with the mask of the one that starts it");
    is_int(is_blocked(), !own, "a signal that the other blocks is %s here", own ? "not blocked" : "blocked");
    set_blocked(false);
    abti_ctx_switch(&main_ctx, other_ctx);
    is_int(seen_in_other, own, "and %s there", own ? "blocked" : "not blocked any more");
    set_blocked(false);
    abti_ctx_in_place(&main_ctx, NULL, in_place);
    is_int(is_blocked(), !own, "what runs on the same stack has %s mask", own ? "its own" : "the same");
    return done_testing();
}
