/*
 * The create_unit of a user-defined pool, which takes the work unit itself for its handle, tells another thread of the
 * unit, and that asks for its number. That the unit is its own handle was noted only after create_unit had returned,
 * over what the other thread was changing: it hung, or the note was lost.
 */
#include "regress.h"

#include <sched.h>
#include <stdatomic.h>
#include "tap.h"

enum { UNITS = 40000, ROOM = 64 };

static _Atomic(ABT_thread) told;
static atomic_int answers, tagged;
static int pace;
static ABT_thread units[ROOM];
static int num;

static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    (void)pool;
    atomic_store(&told, thread);
    for (volatile int i = pace; i > 0; i--)
        ; /* a while that differs */
    return (ABT_unit)thread;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool;
    (void)unit;
}

static ABT_bool is_empty(ABT_pool pool)
{
    (void)pool;
    return num == 0 ? ABT_TRUE : ABT_FALSE;
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    (void)pool;
    (void)context;
    return num > 0 ? units[--num] : ABT_THREAD_NULL;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    (void)pool;
    (void)context;
    atomic_fetch_add(&tagged, (int)((uintptr_t)unit & 1));
    units[num++] = (ABT_thread)((uintptr_t)unit & ~(uintptr_t)1);
}

static void *ask(void *arg)
{
    unsigned looks = 0;

    (void)arg;
    while (atomic_load(&answers) < UNITS) {
        ABT_thread thread = atomic_exchange(&told, NULL);
        ABT_unit_id id;
        if (!thread) {
            if (++looks % 1024 == 0) /* most looks come at once: what is looked for takes a few ns */
                sched_yield();
            continue;
        }
        must(ABT_thread_get_id(thread, &id));
        atomic_fetch_add(&answers, 1);
    }
    return NULL;
}

static void nothing(void *arg)
{
    (void)arg;
}

int main(void)
{
    ABT_pool_user_def def;
    ABT_pool pool;
    ABT_sched sched;
    ABT_xstream xstream;
    pthread_t asker;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def));
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
    must(ABT_pool_user_def_free(&def));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_self(&xstream));
    must(ABT_xstream_set_main_sched(xstream, sched));
    must_succeed(pthread_create(&asker, NULL, ask, NULL), "pthread_create", __FILE__, __LINE__);
    for (int i = 0; i < UNITS; i++) {
        ABT_thread thread;
        pace = i % 150;
        must(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
        for (unsigned looks = 1; atomic_load(&answers) <= i; looks++) {
            if (looks % 1024 == 0)
                sched_yield();
        }
        must(ABT_thread_free(&thread));
    }
    pthread_join(asker, NULL);
    is_int(atomic_load(&answers), UNITS, "each unit has told its number");
    is_int(atomic_load(&tagged), 0, "and was pushed by its handle");
    must(ABT_finalize());
    return done_testing();
}
