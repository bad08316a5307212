/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For maint/check-gdb: units in each state, waiting for every kind of object, in known functions with a known variable.
 * Then a call of `stopped`, for a breakpoint, and an end in good order. The table `expected` says what a debugger
 * should find. By its argument:
 *
 *   abort  dumps core in `stopped`
 *   cycle  has two units more, which hold a mutex each and wait for the other one's
 */
#include <abt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 10, IN_PLACE = 3, FREED = 300, MOST = 400 };

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != ABT_SUCCESS) {                                                                                   \
            fprintf(stderr, "%s fails\n", #call);                                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Of each unit: its function, its state, how the description of its wait begins, and its variable `mark`. */
struct expected {
    ABT_thread handle;
    const char *function, *state, *waits;
    int mark; /* -1: it has none */
} expected[MOST];
int num_expected;
ABT_unit_id first_id; /* of the first unit there; few others have one, as nobody asks */

static ABT_pool own_pool, other_pool, idle_pool;
static ABT_mutex mutex, recursive, cond_mutex, pair[2];
static ABT_cond cond;
static ABT_rwlock rwlock;
static ABT_eventual eventual, any[2], in_place_waits;
static ABT_future future;
static ABT_barrier barrier;
static volatile int arrived, returned, running, go;
static volatile uintptr_t joiner_frame;
int num_in_place; /* units in_place on their joiners' stacks */

static __attribute__((noinline)) void arrive(volatile int *mark)
{
    __atomic_fetch_add(&arrived, *mark >= 0, __ATOMIC_SEQ_CST);
}

/*
 * Every other one has run before it waits: the shortest ways to wait are for those behind which such a unit stands. The
 * others of its variables lie in registers, which the switch has to keep.
 */
#define WAITER(name, ...)                                                                                              \
    static __attribute__((noinline)) void name(void *arg)                                                              \
    {                                                                                                                  \
        volatile int mark = (int)(intptr_t)arg;                                                                        \
        long kept1 = mark + 1, kept2 = mark + 2, kept3 = mark + 3, kept4 = mark + 4, kept5 = mark + 5;                 \
        __asm__ volatile("" : "+r"(kept1), "+r"(kept2), "+r"(kept3), "+r"(kept4), "+r"(kept5));                        \
        if (mark / EACH % 2)                                                                                           \
            MUST(ABT_thread_yield());                                                                                  \
        arrive(&mark);                                                                                                 \
        __VA_ARGS__;                                                                                                   \
        __asm__ volatile("" : : "r"(kept1), "r"(kept2), "r"(kept3), "r"(kept4), "r"(kept5));                           \
        mark = -1;                                                                                                     \
    }

WAITER(wait_mutex, MUST(ABT_mutex_lock(mutex)); MUST(ABT_mutex_unlock(mutex)))
WAITER(wait_recursive, MUST(ABT_mutex_lock(recursive)); MUST(ABT_mutex_unlock(recursive)))
WAITER(wait_cond, MUST(ABT_mutex_lock(cond_mutex)); MUST(ABT_cond_wait(cond, cond_mutex));
       MUST(ABT_mutex_unlock(cond_mutex)))
WAITER(wait_rwlock, MUST(ABT_rwlock_rdlock(rwlock)); MUST(ABT_rwlock_unlock(rwlock)))
WAITER(wait_eventual, MUST(ABT_eventual_wait(eventual, NULL)))
WAITER(wait_future, MUST(ABT_future_wait(future)))
WAITER(wait_barrier, MUST(ABT_barrier_wait(barrier)))
WAITER(wait_suspend, MUST(ABT_self_suspend()))
WAITER(wait_sleep, MUST(ABTX_self_sleep(1000 * INT64_C(1000000000))))
WAITER(wait_either, int index; MUST(ABTX_eventual_wait_any_until(2, any, &index, ABTX_FOREVER)))

static ABT_thread create(ABT_pool pool, void (*function)(void *), const char *name, const char *state,
                         const char *waits, int mark)
{
    struct expected *e = &expected[num_expected];
    *e = (struct expected){.function = name, .state = state, .waits = waits, .mark = mark};
    MUST(ABT_thread_create(pool, function, (void *)(intptr_t)num_expected++, ABT_THREAD_ATTR_NULL, &e->handle));
    return e->handle;
}

/* Its variable is its place in the table. */
static ABT_thread create_waiter(ABT_pool pool, void (*function)(void *), const char *name, const char *waits)
{
    return create(pool, function, name, "blocked", waits, num_expected);
}

#define CREATE_WAITER(pool, function, waits) create_waiter(pool, function, #function, waits)

static __attribute__((noinline)) void join_other(void *arg)
{
    volatile int mark = (int)(intptr_t)arg;
    arrive(&mark);
    MUST(ABT_thread_join(expected[0].handle));
    mark = -1;
}

static __attribute__((noinline)) void in_place(void *arg)
{
    volatile int mark = (int)(intptr_t)arg;
    arrive(&mark);
    num_in_place += joiner_frame - (uintptr_t)&mark < 4096;
    MUST(ABT_eventual_set(in_place_waits, NULL, 0));
    MUST(ABT_eventual_wait(eventual, NULL));
    mark = -1;
}

/* The next unit of the private pool has not started: it runs on this stack, if no event check is due. */
static __attribute__((noinline)) void join_in_place(void *arg)
{
    volatile int mark = (int)(intptr_t)arg;
    arrive(&mark);
    joiner_frame = (uintptr_t)&mark;
    MUST(ABT_thread_join(CREATE_WAITER(own_pool, in_place, "eventual")));
    mark = -1;
}

static void make_in_place(void)
{
    for (int i = 0; i < IN_PLACE; i++) {
        CREATE_WAITER(own_pool, join_in_place, "the end of ULT");
        MUST(ABT_eventual_wait(in_place_waits, NULL));
        MUST(ABT_eventual_reset(in_place_waits));
    }
}

static void returns(void *arg)
{
    __atomic_fetch_add(&returned, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void runs(void *arg)
{
    volatile int mark = (int)(intptr_t)arg;
    running = mark;
    while (!go)
        ;
}

static void make_waiters(ABT_pool pool)
{
    for (int i = 0; i < EACH; i++) {
        CREATE_WAITER(pool, wait_eventual, "eventual");
        CREATE_WAITER(pool, wait_mutex, "mutex");
        CREATE_WAITER(pool, wait_recursive, "mutex");
        CREATE_WAITER(pool, wait_cond, "cond");
        CREATE_WAITER(pool, wait_rwlock, "rwlock");
        CREATE_WAITER(pool, wait_future, "future");
        CREATE_WAITER(pool, wait_barrier, "barrier");
        CREATE_WAITER(pool, wait_suspend, "being resumed");
        CREATE_WAITER(pool, wait_sleep, "a time");
        CREATE_WAITER(pool, wait_either, "any of");
    }
}

/* A stack of the user's, and one of another size. */
static void make_own_stacks(void)
{
    static char stack[65536] __attribute__((aligned(64)));
    for (int i = 0; i < 2; i++) {
        struct expected *e = &expected[num_expected];
        ABT_thread_attr attr;
        MUST(ABT_thread_attr_create(&attr));
        MUST(i ? ABT_thread_attr_set_stacksize(attr, 100000) : ABT_thread_attr_set_stack(attr, stack, sizeof(stack)));
        *e = (struct expected){
            .function = "wait_eventual", .state = "blocked", .waits = "eventual", .mark = num_expected};
        MUST(ABT_thread_create(own_pool, wait_eventual, (void *)(intptr_t)num_expected++, attr, &e->handle));
        MUST(ABT_thread_attr_free(&attr));
    }
}

static void free_some(ABT_pool pool)
{
    static ABT_thread threads[FREED];
    for (int i = 0; i < FREED; i++)
        MUST(ABT_thread_create(pool, returns, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    for (int i = 0; i < FREED; i++)
        MUST(ABT_thread_free(&threads[i]));
    for (int i = 0; i < FREED; i++)
        MUST(ABT_thread_create(pool, returns, NULL, ABT_THREAD_ATTR_NULL, NULL));
}

static void wait_until_freed(int num)
{
    while (returned < num)
        MUST(ABT_thread_yield());
    /* A unit that frees itself does so after its function, before the stream runs another one. */
    ABT_thread last;
    MUST(ABT_thread_create(own_pool, returns, NULL, ABT_THREAD_ATTR_NULL, &last));
    MUST(ABT_thread_free(&last));
    MUST(ABT_thread_create(other_pool, returns, NULL, ABT_THREAD_ATTR_NULL, &last));
    MUST(ABT_thread_free(&last));
}

static void make_others(void)
{
    for (int i = 0; i < EACH; i++) {
        create(own_pool, returns, "returns", "terminated", "", -1);
        create(idle_pool, returns, "returns", "ready", "not started", -1);
        ABT_task task;
        MUST(ABT_task_create(idle_pool, returns, NULL, &task));
        expected[num_expected++] = (struct expected){task, "returns", "ready", "not started", -1};
    }
}

static void wait_until_all_have_come(void)
{
    int waiters = 0;
    for (int i = 0; i < num_expected; i++)
        waiters += !strcmp(expected[i].state, "blocked");
    for (;;) {
        ABT_thread_state state = ABT_THREAD_STATE_BLOCKED;
        for (int i = 0; i < num_expected && state == ABT_THREAD_STATE_BLOCKED; i++)
            if (!strcmp(expected[i].state, "blocked"))
                MUST(ABT_thread_get_state(expected[i].handle, &state));
        if (state == ABT_THREAD_STATE_BLOCKED && arrived == waiters)
            return;
        MUST(ABT_thread_yield());
    }
}

static __attribute__((noinline)) void lock_both(void *arg)
{
    volatile int mark = (int)(intptr_t)arg, first = expected[mark].waits[0] == 'M';
    expected[mark].waits = "mutex";
    MUST(ABT_mutex_lock(pair[first]));
    MUST(ABT_thread_yield());
    arrive(&mark);
    MUST(ABT_mutex_lock(pair[!first]));
}

/* Where the breakpoint is. */
__attribute__((noinline)) void stopped(bool dump)
{
    if (dump)
        abort();
}

static ABT_mutex make_recursive(void)
{
    ABT_mutex_attr attr;
    ABT_mutex made;
    MUST(ABT_mutex_attr_create(&attr));
    MUST(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    MUST(ABT_mutex_create_with_attr(attr, &made));
    MUST(ABT_mutex_attr_free(&attr));
    return made;
}

static void make_objects(void)
{
    MUST(ABT_mutex_create(&mutex));
    MUST(ABT_mutex_create(&cond_mutex));
    recursive = make_recursive();
    pair[0] = make_recursive();
    pair[1] = make_recursive();
    MUST(ABT_cond_create(&cond));
    MUST(ABT_rwlock_create(&rwlock));
    MUST(ABT_eventual_create(0, &eventual));
    MUST(ABT_eventual_create(0, &any[0]));
    MUST(ABT_eventual_create(0, &any[1]));
    MUST(ABT_eventual_create(0, &in_place_waits));
    MUST(ABT_future_create(3, NULL, &future));
    MUST(ABT_barrier_create(2 * EACH + 1, &barrier));
    MUST(ABT_mutex_lock(mutex));
    MUST(ABT_mutex_lock(recursive));
    MUST(ABT_rwlock_wrlock(rwlock));
    MUST(ABT_future_set(future, NULL));
}

static void wake_all(void)
{
    MUST(ABT_mutex_unlock(mutex));
    MUST(ABT_mutex_unlock(recursive));
    MUST(ABT_rwlock_unlock(rwlock));
    MUST(ABT_cond_broadcast(cond));
    MUST(ABT_eventual_set(eventual, NULL, 0));
    MUST(ABT_eventual_set(any[1], NULL, 0));
    MUST(ABT_future_set(future, NULL));
    MUST(ABT_future_set(future, NULL));
    MUST(ABT_barrier_wait(barrier));
    for (int i = 0; i < num_expected; i++) {
        if (!strcmp(expected[i].waits, "being resumed"))
            MUST(ABT_thread_resume(expected[i].handle));
        if (!strcmp(expected[i].waits, "a time"))
            MUST(ABT_thread_cancel(expected[i].handle));
    }
}

/* The pool that nobody has served is served now. */
static void end(ABT_xstream secondary)
{
    ABT_xstream third;
    MUST(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &idle_pool, ABT_SCHED_CONFIG_NULL, &third));
    for (int i = 0; i < num_expected; i++)
        MUST(ABT_thread_free(&expected[i].handle));
    MUST(ABT_xstream_free(&secondary));
    MUST(ABT_xstream_free(&third));
    MUST(ABT_pool_free(&idle_pool));
    MUST(ABT_mutex_free(&mutex));
    MUST(ABT_finalize());
}

int main(int argc, char **argv)
{
    ABT_xstream primary, secondary;
    alarm(100);
    MUST(ABT_init(argc, argv));
    MUST(ABT_xstream_self(&primary));
    MUST(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &own_pool));
    MUST(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &other_pool));
    MUST(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &idle_pool));
    MUST(ABT_xstream_set_main_sched_basic(primary, ABT_SCHED_DEFAULT, 1, &own_pool));
    MUST(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &other_pool, ABT_SCHED_CONFIG_NULL, &secondary));
    make_objects();
    free_some(own_pool);
    free_some(other_pool);
    wait_until_freed(4 * FREED);
    make_waiters(own_pool);
    make_waiters(other_pool);
    CREATE_WAITER(own_pool, join_other, "the end of ULT");
    make_own_stacks();
    make_others();
    wait_until_all_have_come();
    make_in_place();
    if (argc > 1 && !strcmp(argv[1], "cycle")) {
        CREATE_WAITER(own_pool, lock_both, "mutex");
        CREATE_WAITER(own_pool, lock_both, "Mutex");
    }
    wait_until_all_have_come();
    MUST(ABT_thread_get_id(expected[0].handle, &first_id));
    create(other_pool, runs, "runs", "running", "on thread", num_expected);
    while (!running)
        MUST(ABT_thread_yield());
    stopped(argc > 1 && !strcmp(argv[1], "abort"));
    go = 1;
    if (argc > 1) {
        puts("done");
        fflush(stdout);
        _exit(0); /* of the two units in the cycle neither ends */
    }
    wake_all();
    end(secondary);
    puts("done");
    return 0;
}
