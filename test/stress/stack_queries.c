/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Others ask for the stacks of ULTs that start, run, end and are revived meanwhile, in place and on stacks of their
 * own: whatever is answered about a unit that ran all the time holds the frame it ran in.
 */
#include "stress.h"

enum { UNITS = 6, OWN_SIZE = 50000 };

struct probe {
    ABT_thread thread;
    _Atomic(unsigned long) lives; /* odd while it runs */
    _Atomic(char *) here;         /* an address in its frame, while it runs */
};

static struct probe probes[UNITS];
static ABT_pool private;
static atomic_bool stop;
static _Atomic(long) asked, met, wrong;

static void live(void *arg)
{
    struct probe *probe = arg;
    char frame;
    atomic_store(&probe->here, &frame);
    atomic_fetch_add(&probe->lives, 1);
    for (int i = 0; i < (int)(probe - probes); i++)
        must(ABT_self_yield());
    atomic_fetch_add(&probe->lives, 1);
}

static void ask_about(struct probe *probe)
{
    void *addr;
    size_t size;
    unsigned long before = atomic_load(&probe->lives);
    char *here = atomic_load(&probe->here);
    must(ABT_thread_get_stack(probe->thread, &addr, &size));
    atomic_fetch_add(&asked, 1);
    if (before % 2 == 0 || atomic_load(&probe->lives) != before)
        return;
    atomic_fetch_add(&met, 1);
    if (!addr || here < (char *)addr || here >= (char *)addr + size)
        atomic_fetch_add(&wrong, 1);
}

static void *ask(void *arg)
{
    while (!atomic_load(&stop)) {
        for (int i = 0; i < UNITS; i++)
            ask_about(&probes[i]);
        yield_if_ult();
    }
    return arg;
}

static void ask_as_ult(void *arg)
{
    (void)ask(arg);
}

/* Each lives again and again: joined at once, which runs it in place, or when the others have run. */
static void play(void *arg)
{
    for (long round = 0; !atomic_load((atomic_bool *)arg); round++) {
        for (int i = 0; i < UNITS; i++) {
            must(ABT_thread_revive(private, live, &probes[i], &probes[i].thread));
            if (round % 2 == 0)
                must(ABT_thread_join(probes[i].thread));
        }
        for (int i = 0; i < UNITS; i++)
            must(ABT_thread_join(probes[i].thread));
    }
}

static void make(void *arg)
{
    ABT_thread_attr own;
    must(ABT_thread_attr_create(&own));
    must(ABT_thread_attr_set_stacksize(own, OWN_SIZE));
    for (int i = 0; i < UNITS; i++) {
        ABT_thread_attr attr = i % 3 == 2 ? own : ABT_THREAD_ATTR_NULL;
        must(ABT_thread_create(private, live, &probes[i], attr, &probes[i].thread));
        must(ABT_thread_join(probes[i].thread));
    }
    must(ABT_thread_attr_free(&own));
}

static ABT_xstream make_es(int num, ABT_pool *pools)
{
    ABT_xstream es;
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, num, pools, ABT_SCHED_CONFIG_NULL, &es));
    return es;
}

int main(void)
{
    static atomic_bool enough;
    ABT_thread player, maker, asker;
    pthread_t thread;
    stress_begin();
    must(ABT_init(0, NULL));
    ABT_pool pools[2], other;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &private));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[1]));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &other));
    pools[0] = private;
    ABT_xstream es[2] = {make_es(2, pools), make_es(1, &other)};

    must(ABT_thread_create(pools[1], make, NULL, ABT_THREAD_ATTR_NULL, &maker));
    must(ABT_thread_free(&maker));
    must(pthread_create(&thread, NULL, ask, NULL));
    must(ABT_thread_create(other, ask_as_ult, NULL, ABT_THREAD_ATTR_NULL, &asker));
    must(ABT_thread_create(pools[1], play, &enough, ABT_THREAD_ATTR_NULL, &player));
    for (double end = now() + tap_seconds(2); now() < end;)
        nap_us(10000);
    atomic_store(&enough, true);
    must(ABT_thread_free(&player));
    atomic_store(&stop, true);
    must(ABT_thread_free(&asker));
    must(pthread_join(thread, NULL));
    is_int(atomic_load(&wrong), 0, "%ld questions, %ld to units that ran all the time", atomic_load(&asked),
           atomic_load(&met));
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&probes[i].thread));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_finalize());
    return done_testing();
}
