/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With ABT_STACK_OVERFLOW_CHECK=mprotect and mprotect_strict the guard page lay below what ABT_thread_attr_get_stack
 * reports, and in the user's memory there was none: a program that looked for it at the first page boundary of the
 * stack did not find it. It writes there, and its handler opens the page.
 */
#include <signal.h>
#include <sys/mman.h>
#include "regress.h"

enum { DEFAULT, OWN, TINY, USER, NUM_KINDS };

static const char *const kind_names[] = {"default", "own size", "a page", "the user's"};
static size_t page, kind_sizes[NUM_KINDS];
static char *guard; /* where the next fault is expected */
static atomic_int faults;
static bool is_seen, is_inside, is_tiny;

static void open_guard(int sig, siginfo_t *info, void *context)
{
    char *addr = info->si_addr;

    (void)sig, (void)context;
    if (addr < guard || addr >= guard + page || mprotect(guard, page, PROT_READ | PROT_WRITE))
        _exit(3);
    faults++;
}

static void catch_faults(void)
{
    struct sigaction action = {.sa_sigaction = open_guard, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaction(SIGSEGV, &action, NULL);
}

/* The process's map says that the page is not to be accessed. */
static bool is_protected(const char *addr)
{
    char line[512], rights[8];
    uintptr_t low, high;
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &low, &high, rights) == 3 && (uintptr_t)addr >= low &&
            (uintptr_t)addr < high)
            found = rights[1] == '-';
    }
    if (maps)
        fclose(maps);
    return found;
}

/* A ULT's stack is small for stdio: the native thread's looks, while the ULT waits. */
static char *stack_low;
static size_t stack_size;

static void find_stack(void *arg)
{
    ABT_thread self;
    ABT_thread_attr attr;
    void *low;
    char here;

    must(ABT_self_get_thread(&self));
    must(ABT_thread_get_attr(self, &attr));
    must(ABT_thread_attr_get_stack(attr, &low, &stack_size));
    must(ABT_thread_attr_free(&attr));
    stack_low = low;
    is_inside = (uintptr_t)&here >= (uintptr_t)low && (uintptr_t)&here < (uintptr_t)low + stack_size;
    guard = (char *)(((uintptr_t)low + page - 1) & ~(page - 1));
    must(ABT_self_suspend());
    if (is_tiny)
        return;
    for (volatile char *at = guard + page + 63; at >= (char *)low; at--)
        *at = 1;
}

static void wait_until_blocked(ABT_thread thread)
{
    ABT_thread_state state;

    do {
        must(ABT_self_yield());
        must(ABT_thread_get_state(thread, &state));
    } while (state != ABT_THREAD_STATE_BLOCKED);
}

static void look_and_resume(ABT_thread thread)
{
    faults = 0;
    wait_until_blocked(thread);
    is_seen = is_protected(guard);
    must(ABT_thread_resume(thread));
    must(ABT_thread_join(thread));
}

static void test_kind(const char *check, int kind, ABT_pool pool, void *memory)
{
    ABT_thread_attr attr;
    ABT_thread thread;

    is_tiny = kind == TINY;
    must(ABT_thread_attr_create(&attr));
    if (kind == USER)
        must(ABT_thread_attr_set_stack(attr, memory, kind_sizes[USER]));
    else if (kind != DEFAULT)
        must(ABT_thread_attr_set_stacksize(attr, kind_sizes[kind]));
    for (int round = 0; round < 2; round++) {
        bool again = kind != DEFAULT || !strcmp(check, "mprotect_strict"); /* it has been opened */
        must(ABT_thread_create(pool, find_stack, NULL, attr, &thread));
        look_and_resume(thread);
        ok(is_inside, "%s, %s: the stack that is told is that of the ULT", check, kind_names[kind]);
        if (kind != DEFAULT)
            is_int(stack_size, kind_sizes[kind], "and of the size that was asked for");
        if (!is_tiny && (again || round == 0))
            ok(is_seen && faults == 1, "%s, %s: has a guard at its low end", check, kind_names[kind]);
        if (kind == USER)
            ok(!is_protected(guard), "the memory is the user's again when the ULT has ended");
        must(ABT_thread_revive(pool, find_stack, NULL, &thread));
        look_and_resume(thread);
        if (!is_tiny && again)
            ok(is_seen && faults == 1, "%s, %s: also when it is revived", check, kind_names[kind]);
        must(ABT_thread_free(&thread));
        if (kind == USER)
            memset(memory, 0, kind_sizes[USER]);
    }
    must(ABT_thread_attr_free(&attr));
}

/* One that is cancelled, or never runs, gives the user's memory back, too. */
static void test_unfinished(ABT_pool pool, bool starts_elsewhere, void *memory)
{
    ABT_thread_attr attr;
    ABT_thread thread;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stack(attr, memory, kind_sizes[USER]));
    for (int starts = starts_elsewhere; starts < 2; starts++) {
        must(ABT_thread_create(pool, unit_suspends, NULL, attr, &thread));
        if (starts)
            wait_until_blocked(thread);
        int code = ABT_thread_cancel(thread);
        if (starts || code != ABT_SUCCESS) {
            wait_until_blocked(thread);
            must(ABT_thread_resume(thread));
        }
        must(ABT_thread_join(thread));
        memset(memory, 0, kind_sizes[USER] / 2); /* what keeps the ULT together lies above, until it is freed */
        must(ABT_thread_free(&thread));
    }
    ok(ABT_thread_attr_set_stack(attr, memory, SIZE_MAX) != ABT_SUCCESS ||
           ABT_thread_create(pool, unit_suspends, NULL, attr, &thread) == ABT_ERR_INV_THREAD_ATTR,
       "memory that ends beyond all addresses is no stack");
    must(ABT_thread_attr_free(&attr));
}

/* Programs install their handlers before or after; the default stacks that have been opened stay so. */
static void test_mode(const char *check, bool handler_first, bool on_primary, char *memory)
{
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        ABT_xstream es;
        ABT_pool pool;

        signal(SIGSEGV, SIG_DFL);
        if (handler_first)
            catch_faults();
        setenv("ABT_STACK_OVERFLOW_CHECK", check, 1);
        must(ABT_init(0, NULL));
        if (!handler_first)
            catch_faults();
        if (on_primary)
            must(ABT_self_get_xstream(&es));
        else
            must(ABT_xstream_create(ABT_SCHED_NULL, &es));
        must(ABT_xstream_get_main_pools(es, 1, &pool));
        test_kind(check, kind, pool, memory);
        if (kind == USER)
            test_unfinished(pool, !on_primary, memory);
        if (!on_primary)
            must(ABT_xstream_free(&es));
        must(ABT_finalize());
    }
}

int main(void)
{
    static const char *const checks[] = {"mprotect", "mprotect_strict"};

    regress_begin();
    page = (size_t)sysconf(_SC_PAGESIZE);
    kind_sizes[OWN] = 12 * page + 848;
    kind_sizes[TINY] = page;
    kind_sizes[USER] = 16 * page + 40;
    char *memory = malloc(kind_sizes[USER] + 8);
    if (!memory)
        bail_out("no memory");
    for (int mode = 0; mode < 2; mode++) {
        for (int how = 0; how < 4; how++)
            test_mode(checks[mode], how & 1, how & 2, memory + 8);
    }
    free(memory);
    return done_testing();
}
