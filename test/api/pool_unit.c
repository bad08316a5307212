/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From units of user-defined pools to work units and back; and the primary ULT and those of threads that enter as units
 * of such pools.
 */
#include "common.h"

#include "handle_pool.h"

/* The map of handles is asked for once there is something in it. */
static void test_map(bool old)
{
    struct handle_pool self_pool, own_pool;
    ABT_thread thread, other, back;
    ABT_unit unit;

    must(ABT_init(0, NULL));
    handle_pool_begin(&self_pool, old, true);
    thread = ult_in(self_pool.pool, do_nothing, NULL);
    for (int i = 0; i < 3; i++) {
        must(ABT_thread_get_unit(thread, &unit));
        must(ABT_unit_get_thread(unit, &back));
        ok(unit == (ABT_unit)thread && back == thread, "a unit that is its own handle");
        must(ABT_pool_pop(self_pool.pool, &unit));
        must(ABT_pool_push(self_pool.pool, unit));
        if (i == 0)
            handle_pool_begin(&own_pool, old, false);
        other = i < 2 ? ult_in(own_pool.pool, do_nothing, NULL) : ABT_THREAD_NULL;
        for (int j = 0; j < 3 && i < 2; j++) {
            must(ABT_thread_get_unit(other, &unit));
            must(ABT_unit_get_thread(unit, &back));
            ok(unit != (ABT_unit)other && back == other, "and one that is not");
            must(ABT_pool_pop(own_pool.pool, &unit));
            must(ABT_unit_get_thread(unit, &back));
            is_ptr(back, other, "popped");
            must(ABT_pool_push(own_pool.pool, unit));
        }
        if (i < 2) {
            must(ABT_pool_pop_thread(own_pool.pool, &back));
            must(ABT_self_schedule(back, ABT_POOL_NULL));
            must(ABT_thread_free(&other));
        }
    }
    must(ABT_pool_pop(self_pool.pool, &unit));
    must(ABT_unit_get_thread(unit, &back));
    must(ABT_self_schedule(back, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    ok(self_pool.created == self_pool.freed && own_pool.created == own_pool.freed, "all units are freed");
    handle_pool_end(&self_pool);
    handle_pool_end(&own_pool);
    must(ABT_finalize());
}

/* The primary ULT, which never ends, lives in such a pool and leaves it. */
static void test_primary(bool old, bool is_self)
{
    struct handle_pool here;
    ABT_pool first;

    must(ABT_init(0, NULL));
    first = own_pool();
    handle_pool_begin(&here, old, is_self);
    ABT_pool pools[] = {here.pool, first};
    must(ABT_xstream_set_main_sched(own_xstream(), handle_sched(2, pools)));
    for (int i = 0; i < 12; i++) {
        struct work work = {0};
        must(ABT_self_set_associated_pool(i % 3 ? here.pool : first));
        must(ABT_self_yield());
        is_int(handles_alive(&here), i % 3 ? 1 : 0, "the primary ULT has a unit there, or none");
        ABT_thread thread = ult_in(here.pool, i % 2 ? work_quickly : work_and_exit, &work);
        if (i % 4 == 0)
            must(ABT_thread_join(thread));
        must(ABT_thread_free(&thread));
        ok(work.begun == 1 && work.ended == 1, "joined by the primary ULT");
    }
    must(ABT_self_set_associated_pool(first));
    must(ABT_self_yield());
    must(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_DEFAULT, 1, &first));
    is_int(here.created, here.freed, "no unit is left");
    handle_pool_end(&here);
    must(ABT_finalize());
}

/* The ULT of a native thread that enters does so, too. A pool that refuses it keeps the thread out. */
static void *enter(void *arg)
{
    struct handle_pool *here = arg;
    struct work work = {0};
    ABT_sched sched = handle_sched(1, &here->pool);
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    int num = 0;

    atomic_store(&here->refuse, true);
    ok_err(ABTX_xstream_enter(sched, &xstream), ABT_ERR_OTHER);
    must(ABT_xstream_get_num(&num));
    ok(num == 1 && here->created == 0 && here->refused == 1, "a thread that its first pool refuses does not enter");
    atomic_store(&here->refuse, false);
    ok_abt(ABTX_xstream_enter(sched, &xstream));
    for (int i = 0; i < 8; i++) {
        ABT_thread thread = ult_in(here->pool, i % 2 ? work_and_yield : work_and_exit, &work);
        is_int(handles_alive(here), 2, "the ULT of the thread has a unit there, and the other one");
        must(ABT_self_yield());
        must(ABT_thread_free(&thread));
    }
    is_int(work.ended, 8, "joined by the ULT of the thread");
    ok_abt(ABTX_xstream_leave(&xstream));
    is_int(handles_alive(here), 0, "no unit is left");
    return NULL;
}

static void test_entered(bool old, bool is_self)
{
    struct handle_pool here;
    pthread_t thread;

    must(ABT_init(0, NULL));
    handle_pool_begin(&here, old, is_self);
    must(pthread_create(&thread, NULL, enter, &here));
    must(pthread_join(thread, NULL));
    handle_pool_end(&here);
    must(ABT_finalize());
}

/* --- A unit that others know before create_unit has returned --- */

enum { TOLD = 300000 };

static _Atomic(ABT_thread) told;
static atomic_int asked;
static atomic_bool stop;

/* The other thread comes when create_unit returns, or a little later. */
static void tell(ABT_thread thread)
{
    static unsigned calls;

    atomic_store(&told, thread);
    for (volatile unsigned i = ++calls % 64; i > 0; i--)
        ;
}

static void *ask(void *arg)
{
    for (unsigned looks = 1; !atomic_load(&stop); looks++) {
        ABT_thread thread = atomic_exchange(&told, NULL);
        ABT_unit_id id;
        if (looks % 4096 == 0)
            sched_yield(); /* the CPUs may be few */
        if (!thread)
            continue;
        must(ABT_thread_get_id(thread, &id));
        count_up(&asked);
    }
    return NULL;
}

static void test_told(bool old, bool is_self)
{
    struct handle_pool here;
    struct work work = {0};
    pthread_t asker;
    int made = 0;

    must(ABT_init(0, NULL));
    handle_pool_begin(&here, old, is_self);
    atomic_store(&here.on_made, tell);
    asked = 0;
    atomic_store(&stop, false);
    must(pthread_create(&asker, NULL, ask, NULL));
    for (double end = now() + 2; made < TOLD && now() < end; made++) {
        ABT_thread thread = ult_in(here.pool, work_quickly, &work), popped;
        must(ABT_pool_pop_thread(here.pool, &popped));
        must(ABT_self_schedule(popped, ABT_POOL_NULL));
        for (unsigned looks = 1; atomic_load(&asked) <= made; looks++) {
            if (looks % 4096 == 0)
                sched_yield();
        }
        must(ABT_thread_free(&thread));
    }
    atomic_store(&stop, true);
    pthread_join(asker, NULL);
    is_int(here.freed, made, "others may ask for ids as soon as create_unit knows the unit");
    handle_pool_end(&here);
    must(ABT_finalize());
}

int main(void)
{
    for (int i = 0; i < 4; i++)
        test_map(i % 2);
    for (int i = 0; i < 4; i++)
        test_primary(i % 2, i / 2);
    for (int i = 0; i < 4; i++)
        test_entered(i % 2, i / 2);
    for (int i = 0; i < 4; i++)
        test_told(i % 2, i / 2);
    return done_testing();
}
