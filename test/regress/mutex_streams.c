/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mutex is taken again and again by ULTs of many more streams than there are processors, each with a pool of its own,
 * by units beside them, and by external threads. One of the streams is held up for a while now and then, so that a ULT
 * that was woken there does not come. All get the mutex as often as they want it.
 */
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

enum { STREAMS = 16, EXTERNALS = 3, ROUNDS = 10000, FEWER_ROUNDS = 500, OF_TASKLETS = 1 };

static ABT_mutex mutex;
static ABT_pool pools[STREAMS];
static int rounds;
static int inside;
static long count;

static void use(bool yields)
{
    must(ABT_mutex_lock(mutex));
    if (inside++)
        fail("two inside");
    count++;
    if (yields)
        must(ABT_thread_yield());
    inside--;
    must(ABT_mutex_unlock(mutex));
}

/* Where tasklets wait natively, nobody yields inside. */
static void use_often(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        use(i % 64 == 1 && (long)arg != OF_TASKLETS);
        if (i % 128 == 5)
            must(ABT_thread_yield());
    }
}

static void *use_externally(void *arg)
{
    for (int i = 0; i < rounds; i++)
        use(false);
    return arg;
}

static void use_once(void *arg)
{
    use(false);
}

/* Takes it natively now and then, and holds up the stream meanwhile and afterwards. */
static void use_by_tasklets(void *arg)
{
    for (int i = 0; i < rounds / 32; i++) {
        ABT_task task;
        must(ABT_task_create(pools[OF_TASKLETS], use_once, NULL, &task));
        must(ABT_task_free(&task));
        nap_ms(0.2);
    }
}

static void run(void)
{
    ABT_thread ults[STREAMS + 2];
    pthread_t externals[EXTERNALS];

    for (long i = 0; i < STREAMS + 1; i++)
        must(ABT_thread_create(pools[i % STREAMS], use_often, (void *)(i % STREAMS), ABT_THREAD_ATTR_NULL, &ults[i]));
    must(ABT_thread_create(pools[OF_TASKLETS], use_by_tasklets, NULL, ABT_THREAD_ATTR_NULL, &ults[STREAMS + 1]));
    for (int i = 0; i < EXTERNALS; i++)
        must(pthread_create(&externals[i], NULL, use_externally, NULL));
    for (int i = 0; i < STREAMS + 2; i++)
        must(ABT_thread_free(&ults[i]));
    for (int i = 0; i < EXTERNALS; i++)
        must(pthread_join(externals[i], NULL));
}

int main(void)
{
    ABT_xstream streams[STREAMS];

    regress_begin();
    rounds = is_emulated() || UNDER_DELAYS || UNDER_TSAN ? FEWER_ROUNDS : ROUNDS;
    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    for (int i = 0; i < STREAMS; i++) {
        pools[i] = make_pool(i % 2 ? ABT_POOL_ACCESS_MPSC : ABT_POOL_ACCESS_MPMC);
        streams[i] = make_es(1, &pools[i]);
    }
    run();
    is_int(count, (STREAMS + 1 + EXTERNALS) * (long)rounds + rounds / 32, "each has had it every time");
    is_int(ABT_mutex_trylock(mutex), ABT_SUCCESS, "nobody has it");
    must(ABT_mutex_unlock(mutex));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_mutex_free(&mutex));
    ok_abt(ABT_finalize());
    return done_testing();
}
