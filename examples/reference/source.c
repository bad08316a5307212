/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do streams find work that a runtime of mine keeps in its own list? By a source: a stream that has nothing else to
 * run asks it. Units are made only then.
 *
 *   cc source.c $(pkg-config --cflags --libs argobots) -o source
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>

enum { STREAMS = 2, TASKS = 200 };

static ABTX_source source;
static const volatile int *idle;
static atomic_int left, done; /* the list: how many tasks there are */
static int wanted;

static void task(void *arg)
{
    (void)arg;
    ABT_self_yield(); /* it runs as a ULT: it may wait, too */
    done++;
}

/* Called by a stream without work, on its scheduler's stack: it must not wait. */
static ABT_bool ask(void *arg, ABTX_work *work)
{
    int number = left;
    (void)arg;
    while (number > 0 && !atomic_compare_exchange_weak(&left, &number, number - 1))
        ;
    if (number <= 0)
        return ABT_FALSE;
    work->thread = ABT_THREAD_NULL; /* or a ready unit that is in no pool */
    work->func = task;
    work->arg = NULL;
    return ABT_TRUE;
}

static void add_task(void)
{
    left++;        /* first the work, and then the wake: so none is missed */
    if (*idle > 0) /* a hint that costs no call: would somebody take it at once? */
        wanted++;
    ABTX_source_wake_one(source);
}

/* A scheduler with a loop of its own asks by ABTX_xstream_check_sources. */
static void run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE, ran;
    ABT_pool pool;
    ABT_thread unit;

    ABT_sched_get_pools(sched, 1, 0, &pool);
    while (!stop) {
        ran = ABT_TRUE;
        ABT_pool_pop_thread(pool, &unit);
        if (unit != ABT_THREAD_NULL)
            ABT_self_schedule(unit, ABT_POOL_NULL);
        else
            ABTX_xstream_check_sources(&ran);
        ABT_xstream_check_events(sched);
        ABT_sched_has_to_stop(sched, &stop);
        if (!ran && !stop)
            ABTX_xstream_park_until(0, NULL, ABTX_after(1000000000));
    }
}

int main(int argc, char **argv)
{
    ABT_sched_def def = {.run = run};
    ABT_pool pool = ABT_POOL_NULL;
    ABT_sched sched;
    ABT_xstream streams[STREAMS];

    if (ABT_init(argc, argv) != ABT_SUCCESS || ABTX_source_create(ask, NULL, &source) != ABT_SUCCESS)
        return 1;
    ABTX_source_set_attr(source, ABT_THREAD_ATTR_NULL); /* as if nothing was said: stacks of the usual size */
    ABTX_source_get_idle(source, &idle);
    ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_xstream_create(ABT_SCHED_NULL, &streams[0]); /* predefined schedulers ask by themselves */
    ABT_xstream_create(sched, &streams[1]);
    for (int i = 0; i < STREAMS; i++)
        ABTX_source_attach(source, streams[i]);
    for (int i = 0; i < TASKS; i++)
        add_task();
    while (done < TASKS)
        ABTX_self_sleep(1000000);
    printf("%d tasks done; somebody would have taken one at once: %d times\n", (int)done, wanted);
    ABTX_source_detach(source, streams[0]); /* it does not ask any more */
    ABTX_source_free(&source);              /* detaches it from all */
    for (int i = 0; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    ABT_sched_free(&sched);
    ABT_finalize();
    return done != TASKS;
}
