/* SPDX-License-Identifier: BSD-3-Clause */
// Exceptions belong to the unit that handles them, however it leaves its stream and wherever it comes back.
#include <abt.h>
#include <exception>
#include <string>
#include <vector>
#include "tap.hh"
#include "watchdog.h"

// A unit that ends inside of a handler leaves its exception, as it leaves all that its functions own.
extern "C" const char *__lsan_default_suppressions()
{
    return "leak:__cxa_allocate_exception";
}

static std::atomic<int> wrong(0);

static void expect(bool right)
{
    if (!right)
        wrong++;
}

static void is_right(const char *what)
{
    ok(wrong.exchange(0) == 0, what);
}

static bool has_none()
{
    return !std::current_exception() && !std::uncaught_exception();
}

struct world {
    std::vector<ABT_xstream> streams;
    ABT_pool pool;
};

// A pool that all of so many streams share; of one stream it is the primary one's own, private one.
static world make_world(int streams)
{
    world w;
    ABT_xstream primary;
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&primary));
    if (streams == 1) {
        must(ABT_xstream_get_main_pools(primary, 1, &w.pool));
        return w;
    }
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &w.pool));
    must(ABT_xstream_set_main_sched_basic(primary, ABT_SCHED_DEFAULT, 1, &w.pool));
    for (int i = 1; i < streams; i++) {
        ABT_xstream es;
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &w.pool, ABT_SCHED_CONFIG_NULL, &es));
        w.streams.push_back(es);
    }
    return w;
}

// main may have come to any stream that shares its pool.
static void go_home()
{
    for (int rank = 1; must(ABT_self_get_xstream_rank(&rank)), rank != 0;)
        ABT_thread_yield();
}

static void end_world(world &w)
{
    for (ABT_xstream es : w.streams) {
        go_home();
        must(ABT_xstream_free(&es));
    }
    go_home();
    must(ABT_finalize());
}

// ---- Ways to leave the stream ---------------------------------------------------------------------------------------

static ABT_pool work_pool;
static ABT_mutex mutex;
static ABT_cond cond;
static ABT_rwlock rwlock;

static void catches_own(void *)
{
    expect(has_none());
    try {
        throw std::string("child");
    } catch (const std::string &text) {
        ABT_thread_yield();
        expect(text == "child");
    }
    expect(has_none());
}

static void quiet(void *)
{
    expect(has_none());
}

static void by_yield(int)
{
    ABT_thread_yield();
}

static void by_mutex(int)
{
    ABT_mutex_lock(mutex);
    ABT_thread_yield();
    ABT_mutex_unlock(mutex);
}

static void by_cond(int)
{
    struct timespec soon = {0, 0};
    ABT_mutex_lock(mutex);
    ABT_cond_timedwait(cond, mutex, &soon);
    ABT_mutex_unlock(mutex);
}

static void by_rwlock(int round)
{
    if (round % 3 == 0)
        ABT_rwlock_wrlock(rwlock);
    else
        ABT_rwlock_rdlock(rwlock);
    ABT_thread_yield();
    ABT_rwlock_unlock(rwlock);
}

static void by_join(int)
{
    ABT_thread child;
    must(ABT_thread_create(work_pool, catches_own, NULL, ABT_THREAD_ATTR_NULL, &child));
    must(ABT_thread_free(&child));
}

static void by_join_late(int)
{
    ABT_thread child;
    must(ABT_thread_create(work_pool, catches_own, NULL, ABT_THREAD_ATTR_NULL, &child));
    ABT_thread_yield();
    must(ABT_thread_join(child));
    must(ABT_thread_free(&child));
}

static void by_row(int)
{
    ABT_thread children[4];
    for (ABT_thread &child : children)
        must(ABT_thread_create(work_pool, quiet, NULL, ABT_THREAD_ATTR_NULL, &child));
    must(ABT_thread_free_many(4, children));
}

static void by_tasklet(int)
{
    ABT_task task;
    must(ABT_task_create(work_pool, quiet, NULL, &task));
    must(ABT_task_free(&task));
}

static void by_create_to(int)
{
    ABT_thread child;
    must(ABT_thread_create_to(work_pool, catches_own, NULL, ABT_THREAD_ATTR_NULL, &child));
    must(ABT_thread_free(&child));
}

static void by_eventual(int)
{
    ABT_eventual own;
    ABT_thread child;
    must(ABT_eventual_create(0, &own));
    must(ABT_thread_create(
        work_pool,
        [](void *arg) {
            expect(has_none());
            ABT_eventual_set(static_cast<ABT_eventual>(arg), NULL, 0);
        },
        own, ABT_THREAD_ATTR_NULL, &child));
    must(ABT_eventual_wait(own, NULL));
    must(ABT_thread_free(&child));
    must(ABT_eventual_free(&own));
}

static void by_suspend(int)
{
    ABT_thread self, child;
    must(ABT_self_get_thread(&self));
    must(ABT_thread_create(
        work_pool,
        [](void *arg) {
            expect(has_none());
            ABT_thread_state state;
            do
                ABT_thread_get_state(static_cast<ABT_thread>(arg), &state);
            while (state != ABT_THREAD_STATE_BLOCKED && ABT_thread_yield() == ABT_SUCCESS);
            must(ABT_thread_resume(static_cast<ABT_thread>(arg)));
        },
        self, ABT_THREAD_ATTR_NULL, &child));
    must(ABT_self_suspend());
    must(ABT_thread_free(&child));
}

static void by_sleep(int)
{
    must(ABT_thread_create(work_pool, quiet, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABTX_self_sleep(100000));
}

static void by_barrier(int)
{
    ABT_barrier pair;
    ABT_thread child;
    must(ABT_barrier_create(2, &pair));
    must(ABT_thread_create(
        work_pool,
        [](void *arg) {
            expect(has_none());
            must(ABT_barrier_wait(static_cast<ABT_barrier>(arg)));
        },
        pair, ABT_THREAD_ATTR_NULL, &child));
    must(ABT_barrier_wait(pair));
    must(ABT_thread_free(&child));
    must(ABT_barrier_free(&pair));
}

struct way {
    const char *name;
    void (*leave)(int round);
};

static const way ways[] = {{"yield", by_yield},       {"mutex", by_mutex},     {"condition", by_cond},
                           {"rwlock", by_rwlock},     {"join", by_join},       {"join late", by_join_late},
                           {"join many", by_row},     {"tasklet", by_tasklet}, {"create_to", by_create_to},
                           {"eventual", by_eventual}, {"suspend", by_suspend}, {"sleep", by_sleep},
                           {"barrier", by_barrier}};

// ---- Units that catch, leave, and throw on --------------------------------------------------------------------------

struct unit {
    const way *how;
    int number;
    ABT_thread thread;
};

// Leaves while an exception is on its way, too.
struct leaver {
    const unit &u;
    ~leaver()
    {
        expect(std::uncaught_exception());
        u.how->leave(u.number);
        expect(std::uncaught_exception());
    }
};

static void throw_past_leaver(const unit &u, int value)
{
    leaver l = {u};
    throw value;
}

static void catches(void *arg)
{
    enum { ROUNDS = 3 };
    const unit &u = *static_cast<unit *>(arg);
    expect(has_none());
    for (int round = 0; round < ROUNDS; round++) {
        try {
            try {
                throw u.number * ROUNDS + round;
            } catch (int) {
                u.how->leave(u.number + round);
                try {
                    throw_past_leaver(u, -u.number);
                } catch (int inner) {
                    expect(inner == -u.number);
                }
                throw;
            }
        } catch (int value) {
            u.how->leave(u.number + round);
            expect(value == u.number * ROUNDS + round);
        }
        expect(has_none());
    }
}

static void test_way(const way &how, int num)
{
    std::vector<unit> units(static_cast<std::size_t>(num));
    for (int i = 0; i < num; i++) {
        units[static_cast<std::size_t>(i)] = {&how, i + 1, ABT_THREAD_NULL};
        must(ABT_thread_create(work_pool, catches, &units[static_cast<std::size_t>(i)], ABT_THREAD_ATTR_NULL,
                               &units[static_cast<std::size_t>(i)].thread));
    }
    try {
        throw 0.5;
    } catch (double mine) {
        for (unit &u : units)
            must(ABT_thread_free(&u.thread));
        expect(mine == 0.5 && std::current_exception() && !std::uncaught_exception());
    }
    is_right(how.name);
}

static void test_ways(int streams)
{
    world w = make_world(streams);
    std::printf("# %d streams\n", streams);
    work_pool = w.pool;
    must(ABT_mutex_create(&mutex));
    must(ABT_cond_create(&cond));
    must(ABT_rwlock_create(&rwlock));
    for (const way &how : ways)
        test_way(how, how.leave == by_yield ? 2000 : 100);
    must(ABT_rwlock_free(&rwlock));
    must(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
    end_world(w);
}

// ---- Moves
// -----------------------------------------------------------------------------------------------------------

static ABT_xstream far_stream;

struct mover {
    ~mover()
    {
        ABT_thread self;
        int before, after;
        must(ABT_self_get_xstream_rank(&before));
        must(ABT_self_get_thread(&self));
        must(ABT_thread_migrate_to_xstream(self, far_stream));
        ABT_thread_yield();
        expect(std::uncaught_exception()); // first of all that happens there
        must(ABT_self_get_xstream_rank(&after));
        expect(before != after);
    }
};

static void moves(void *)
{
    expect(has_none());
    try {
        mover m;
        throw 7;
    } catch (int value) {
        expect(value == 7);
        ABT_thread_yield();
        try {
            throw;
        } catch (int again) {
            expect(again == 7);
        }
    }
    expect(has_none());
}

static void test_move()
{
    ABT_pool pool;
    ABT_xstream primary;
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&primary));
    must(ABT_xstream_get_main_pools(primary, 1, &pool));
    must(ABT_xstream_create(ABT_SCHED_NULL, &far_stream));
    for (int i = 0; i < 100; i++) {
        ABT_thread thread;
        must(ABT_thread_create(pool, moves, NULL, ABT_THREAD_ATTR_NULL, &thread));
        ABT_thread_yield();
        expect(has_none());
        must(ABT_thread_free(&thread));
        expect(has_none());
    }
    is_right("a move to another stream inside of a destructor, and of a handler");
    must(ABT_xstream_free(&far_stream));
    must(ABT_finalize());
}

// ---- Ends inside of a handler
// ----------------------------------------------------------------------------------------

static void exits(void *)
{
    expect(has_none());
    try {
        throw 1;
    } catch (int) {
        ABT_thread_exit();
    }
}

static void spins(void *)
{
    expect(has_none());
    try {
        throw 2;
    } catch (int) {
        for (;;)
            ABT_thread_yield();
    }
}

static void test_ends(int streams)
{
    world w = make_world(streams);
    for (int i = 0; i < 200; i++) {
        ABT_thread threads[4];
        void (*functions[])(void *) = {exits, spins, exits, quiet};
        for (int k = 0; k < 4; k++)
            must(ABT_thread_create(w.pool, functions[k], NULL, ABT_THREAD_ATTR_NULL, &threads[k]));
        if (i % 2)
            ABT_thread_yield();
        must(ABT_thread_cancel(threads[1]));
        for (ABT_thread &thread : threads)
            must(ABT_thread_free(&thread));
        quiet(NULL);
    }
    is_right("exit and cancellation inside of a handler");
    end_world(w);
}

// ---- Schedulers
// ------------------------------------------------------------------------------------------------------

static int sched_init(ABT_sched, ABT_sched_config)
{
    return ABT_SUCCESS;
}

static void sched_run(ABT_sched sched)
{
    ABT_pool pool;
    ABT_bool stop = ABT_FALSE;
    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    while (!stop) {
        try {
            throw 3;
        } catch (int) {
            ABT_unit next;
            must(ABT_pool_pop(pool, &next));
            if (next != ABT_UNIT_NULL)
                must(ABT_xstream_run_unit(next, pool));
            try {
                throw;
            } catch (int value) {
                expect(value == 3);
            }
        }
        expect(has_none());
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void test_sched()
{
    ABT_sched_def def = {};
    ABT_sched sched;
    ABT_pool pool;
    ABT_xstream es;
    must(ABT_init(0, NULL));
    def.type = ABT_SCHED_TYPE_ULT;
    def.init = sched_init;
    def.run = sched_run;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    std::vector<ABT_thread> units;
    for (int i = 0; i < 100; i++) {
        ABT_thread thread;
        if (i % 3)
            must(ABT_thread_create(pool, catches_own, NULL, ABT_THREAD_ATTR_NULL, &thread));
        else
            must(ABT_task_create(pool, quiet, NULL, &thread));
        units.push_back(thread);
    }
    for (ABT_thread &thread : units)
        must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
    is_right("a scheduler that runs units, and tasklets, inside of a handler");
    must(ABT_finalize());
}

int main()
{
    watchdog_begin(0);
    test_ways(1);
    test_ways(4);
    test_move();
    test_ends(1);
    test_ends(4);
    test_sched();
    return done_testing();
}
