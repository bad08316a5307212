/* SPDX-License-Identifier: BSD-3-Clause */
/* Back-traces in what ABT_info prints of stacks: the calls that a unit waits in, innermost first, and no others. In a
 * build without them, the same text without any of these names. */
#include "common.h"

static bool traces; /* the build has them */

/* --- What is printed --- */

static char *print_stack(ABT_thread thread)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);

    if (!fp)
        bail_out("open_memstream");
    ok_abt(ABT_info_print_thread_stack(fp, thread));
    fclose(fp);
    return text;
}

/* Each name is in the text once, after the one before. */
static bool has_in_order(const char *text, const char *const *names)
{
    const char *at = text;

    for (; *names; names++) {
        at = strstr(at, *names);
        if (!at || strstr(at + 1, *names))
            return false;
    }
    return true;
}

static bool has_any(const char *text, const char *const *names)
{
    for (; *names; names++) {
        if (strstr(text, *names))
            return true;
    }
    return false;
}

/* In a build with back-traces the text shows these calls, and it never shows those. */
static void check_text(const char *what, const char *text, const char *const *calls, const char *const *others)
{
    if (!ok(traces ? has_in_order(text, calls) : !has_any(text, calls), "%s: its calls", what) ||
        !ok(!has_any(text, others), "%s: and no others", what))
        fprintf(stderr, "%s", text);
}

static void check_stack(const char *what, ABT_thread thread, const char *const *calls, const char *const *others)
{
    char *text = print_stack(thread), *line = strchr(text, '\n'); /* the first one names the unit's function */

    check_text(what, line ? line : text, calls, others);
    free(text);
}

/* --- Calls with names of their own --- */

/* After a call, so that the compiler makes no jump of it. */
static void stay(void)
{
    __asm__ volatile("" : : : "memory");
}

/* Blocks, or goes to a pool. */
static __attribute__((noinline)) void third_call(ABT_pool pool)
{
    if (pool) {
        must(ABT_self_set_associated_pool(pool));
        ABT_self_yield();
    } else {
        ABT_self_suspend();
    }
    stay();
}

static __attribute__((noinline)) void second_call(ABT_pool pool)
{
    third_call(pool);
    stay();
}

static __attribute__((noinline)) void first_call(void *pool)
{
    second_call(pool);
    stay();
}

static const char *const chain[] = {"third_call", "second_call", "first_call", NULL};
static const char *const joiners[] = {"joins_in", "joining_unit", NULL};
static const char *const none[] = {NULL};

static void resume_and_free(ABT_thread *thread)
{
    must(ABT_thread_resume(*thread));
    must(ABT_thread_free(thread));
}

/* --- Kinds of stacks --- */

/* The calls of a blocked ULT with these attributes. */
static void test_blocked(const char *what, ABT_thread_attr attr)
{
    ABT_thread thread;

    must(ABT_thread_create(own_pool(), first_call, NULL, attr, &thread));
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    check_stack(what, thread, chain, joiners);
    resume_and_free(&thread);
}

static void test_attributes(void)
{
    static char memory[65536] __attribute__((aligned(64)));
    ABT_thread_attr attr;

    test_blocked("a default stack", ABT_THREAD_ATTR_NULL);
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 100000));
    test_blocked("a larger stack", attr);
    must(ABT_thread_attr_set_stack(attr, memory, sizeof(memory)));
    test_blocked("the user's stack", attr);
    must(ABT_thread_attr_free(&attr));
}

/* --- On the joiner's stack --- */

static __attribute__((noinline)) void joins_in(ABT_thread *thread)
{
    ABT_thread_join(*thread);
    stay();
}

static __attribute__((noinline)) void joining_unit(void *thread)
{
    joins_in(thread);
    stay();
}

static void test_joiner(void)
{
    ABT_pool pool = own_pool();
    ABT_thread joiner, joinee;

    joiner = ult_in(pool, joining_unit, &joinee);
    joinee = ult_in(pool, first_call, NULL);
    wait_for(state_of(joinee) == ABT_THREAD_STATE_BLOCKED && state_of(joiner) == ABT_THREAD_STATE_BLOCKED);
    check_stack("a joinee in place", joinee, chain, joiners);
    check_stack("its joiner", joiner, joiners, chain);
    must(ABT_thread_resume(joinee));
    must(ABT_thread_free(&joiner));
    check_stack("one that has ended", joinee, none, chain);
    must(ABT_thread_free(&joinee));
}

/* --- Units that have no calls --- */

/* What is in a pool that belongs to no stream is to run here. */
static void take_over(ABT_pool pool)
{
    ABT_unit unit;

    while (must(ABT_pool_pop(pool, &unit)), unit != ABT_UNIT_NULL)
        must(ABT_pool_push(own_pool(), unit));
}

static void test_without(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(pool, first_call, own_pool());
    ABT_task task;

    check_stack("one that has not started", thread, none, chain);
    must(ABT_task_create(pool, do_nothing, NULL, &task));
    check_stack("a tasklet", task, none, chain);
    take_over(pool);
    must(ABT_thread_free(&thread));
    must(ABT_task_free(&task));
    must(ABT_pool_free(&pool));
}

/* --- Ready ones, and who prints --- */

static void print_pool(enum caller who, void *arg)
{
    char *text = NULL, *at, *end;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    int found = 0;

    if (!fp)
        bail_out("open_memstream");
    must(ABT_info_print_thread_stacks_in_pool(fp, arg));
    fclose(fp);
    for (at = strstr(text, "\nULT "); at; at = end) {
        end = strstr(at + 1, "\nULT ");
        if (end)
            *end = '\0';
        found += traces ? has_in_order(at, chain) : !has_any(at, chain);
        if (end)
            *end = '\n';
    }
    is_int(found, 3, "all of a pool, printed by a %s", caller_names[who]);
    free(text);
}

static void test_pool(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread threads[3];

    for (int i = 0; i < 3; i++)
        threads[i] = ult_in(own_pool(), first_call, pool);
    wait_for(size_of(pool) == 3);
    call_as_each(print_pool, pool);
    take_over(pool);
    for (int i = 0; i < 3; i++)
        must(ABT_thread_free(&threads[i]));
    must(ABT_pool_free(&pool));
}

struct asked {
    ABT_thread thread;
    char *text;
};

static void print_other(void *arg)
{
    struct asked *asked = arg;

    asked->text = print_stack(asked->thread);
}

static __attribute__((noinline)) void waits_for_printer(struct asked *asked)
{
    ABT_thread printer = ult_in(own_pool(), print_other, asked);

    while (state_of(printer) != ABT_THREAD_STATE_TERMINATED)
        ABT_self_yield();
    must(ABT_thread_free(&printer));
}

static void test_primary(void)
{
    static const char *const calls[] = {"waits_for_printer", " main+", NULL};
    struct asked asked = {.thread = self()};

    waits_for_printer(&asked);
    check_text("the primary ULT", asked.text, calls, chain);
    free(asked.text);
}

/* --- Many calls --- */

static __attribute__((noinline)) void goes_down(int depth)
{
    if (depth > 0)
        goes_down(depth - 1);
    else
        ABT_self_suspend();
    stay();
}

static void goes_deep(void *depth)
{
    goes_down((int)(intptr_t)depth);
    stay();
}

static void test_deep(void)
{
    ABT_thread_attr attr;
    ABT_thread thread;
    int found = 0;
    char *text;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 1 << 20));
    must(ABT_thread_create(own_pool(), goes_deep, (void *)(intptr_t)1000, attr, &thread));
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    text = print_stack(thread);
    for (char *at = text; (at = strstr(at, " goes_down")) != NULL; at++)
        found++;
    ok(traces ? found >= 90 && found <= 100 : found == 0, "the innermost of many calls");
    free(text);
    resume_and_free(&thread);
    must(ABT_thread_attr_free(&attr));
}

int main(void)
{
    ABT_bool enabled = -1;

    setenv("ABT_PRINT_RAW_STACK", "0", 1);
    must(ABT_init(0, NULL));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND, &enabled));
    ok(enabled == ABT_TRUE || enabled == ABT_FALSE, "back-traces: %s", enabled == ABT_TRUE ? "yes" : "no");
    traces = enabled == ABT_TRUE;
    test_attributes();
    test_joiner();
    test_without();
    test_pool();
    test_primary();
    test_deep();
    must(ABT_finalize());
    return done_testing();
}
