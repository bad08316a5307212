/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application of the asynchronous tasks of tasks.h, in the style of HDF5's: nothing is lost or done twice or out of
 * order, what waits in the background is counted, and idle streams sleep until an external thread has something to do.
 */
#include "tasks.h"

enum { APPS = 3, BATCHES = 12, BATCH = 10, HELD = 20 };

static void *use_engine(void *arg)
{
    struct task tasks[BATCH];
    int number = *(int *)arg;

    for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; i < BATCH; i++) {
            struct task *after = i > 0 && i % 4 == 0 ? &tasks[i - 1] : NULL;
            ask(&tasks[i], &engine.objects[(number + i * (batch + 1)) % OBJECTS], after, batch * BATCH + i);
        }
        for (int i = 0; i < BATCH; i++)
            finish(&tasks[i], (number + i) % 3);
        for (int i = 0; i < BATCH; i++)
            must(ABT_eventual_free(&tasks[i].done));
    }
    return NULL;
}

static void test_tasks(void)
{
    pthread_t apps[APPS];
    int numbers[APPS + 1], right = 0;

    for (int i = 0; i <= APPS; i++) {
        numbers[i] = i;
        if (i < APPS)
            must(pthread_create(&apps[i], NULL, use_engine, &numbers[i]));
    }
    use_engine(&numbers[APPS]);
    for (int i = 0; i < APPS; i++)
        pthread_join(apps[i], NULL);
    for (int i = 0; i < OBJECTS; i++)
        right += engine.objects[i].value == engine.objects[i].expected;
    is_int(right, OBJECTS, "all objects were changed in the order asked for");
    is_int(atomic_load(&engine.over), (APPS + 1) * BATCHES * BATCH, "every task was run");
    is_int(atomic_load(&engine.collisions), 0, "never two at a time; locks were tried %ld times in vain",
           atomic_load(&engine.retries));
    is_int(total_size_of(engine.pool), 0, "the pool is empty");
}

static atomic_int passed;
static _Atomic(pthread_t) background; /* where the gate was passed last */

static void pass_gate(void *gate)
{
    ABT_unit_id id;

    must(ABT_self_get_thread_id(&id));
    must(ABT_eventual_wait(gate, NULL));
    atomic_store(&background, pthread_self());
    atomic_fetch_add(&passed, 1);
}

/* What waits in the background is counted. ULTs that have ended are used again. */
static void test_held(void)
{
    ABT_thread threads[HELD];
    ABT_eventual gate;

    must(ABT_eventual_create(0, &gate));
    for (int round = 0; round < 2; round++) {
        atomic_store(&passed, 0);
        for (int i = 0; i < HELD; i++) {
            if (round == 0)
                must(ABT_thread_create(engine.pool, pass_gate, gate, ABT_THREAD_ATTR_NULL, &threads[i]));
            else
                must(ABT_thread_revive(engine.pool, pass_gate, gate, &threads[i]));
        }
        ok(settles_at(engine.pool, HELD), "tasks that wait are counted");
        must(ABT_eventual_set(gate, NULL, 0));
        ok(soon(total_size_of(engine.pool) == 0), "until they go on");
        for (int i = 0; i < HELD; i++) {
            while (state_of(threads[i]) != ABT_THREAD_STATE_TERMINATED)
                client_yield();
        }
        is_int(atomic_load(&passed), HELD, "all have gone on");
        must(ABT_eventual_reset(gate));
    }
    for (int i = 0; i < HELD; i++)
        must(ABT_thread_free(&threads[i]));
    must(ABT_eventual_free(&gate));
}

static void *push_from_outside(void *gate)
{
    must(ABT_thread_create(engine.pool, pass_gate, gate, ABT_THREAD_ATTR_NULL, NULL));
    return NULL;
}

static void test_idle(void)
{
    ABT_eventual gate;
    pthread_t native;
    double share = cpu_share(cpu_clock_of(atomic_load(&background)), 200, 0.2);

    ok(policy_is_active() || share < 0.2, "an idle stream costs %.2f of a CPU", share);
    must(ABT_eventual_create(0, &gate));
    must(ABT_eventual_set(gate, NULL, 0));
    atomic_store(&passed, 0);
    must(pthread_create(&native, NULL, push_from_outside, gate));
    ok(soon(atomic_load(&passed) == 1), "a task of an external thread wakes it");
    pthread_join(native, NULL);
    must(ABT_eventual_free(&gate));
}

int main(void)
{
    int num = client_streams();

    client_begin();
    need_checks(); /* external threads ask who they are */
    start_engine(num);
    test_tasks();
    test_held();
    test_idle();
    stop_engine(num);
    return done_testing();
}
