/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I end what is not wanted any more? A unit is asked to end, and ends when it is next to run or yields. A stream
 * is asked to stop, and leaves the units in its pools to others. Nothing is unwound: what a unit holds it keeps.
 *
 *   cc cancel.c $(pkg-config --cflags --libs argobots) -o cancel
 */
#include <abt.h>
#include <stdio.h>

static int rounds, begun, tasklet_ran, after_exit;

static void never_ends(void *arg)
{
    (void)arg;
    for (;;) {
        rounds++;
        ABTX_self_put_off_cancel(ABT_TRUE, NULL);
        begun++; /* what is begun is ended, also if the cancel comes in between */
        ABT_self_yield();
        begun--;
        ABTX_self_put_off_cancel(ABT_FALSE, NULL); /* then it ends here */
        ABT_self_yield();
    }
}

static void tasklet(void *arg)
{
    (void)arg;
    tasklet_ran = 1;
}

/* Ends itself and the stream that it runs on. */
static void stops_the_stream(void *arg)
{
    (void)arg;
    ABT_xstream_exit();
    after_exit = 1;
}

static ABT_xstream stream_of(ABT_pool pool)
{
    ABT_xstream stream;
    ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream);
    return stream;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_xstream stream;
    ABT_thread unit, last;
    ABT_task task;
    size_t left, left_by_exit;
    int at_the_end;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_thread_create(pool, never_ends, NULL, ABT_THREAD_ATTR_NULL, &unit);

    /* A join would wait for ever: the pool is never empty. */
    stream = stream_of(pool);
    ABT_xstream_cancel(stream);
    ABT_xstream_free(&stream);
    ABT_pool_get_size(pool, &left);
    printf("a stream was cancelled; units left in its pool: %d\n", (int)left);

    /* The same from inside. */
    ABT_thread_create(pool, stops_the_stream, NULL, ABT_THREAD_ATTR_NULL, &last);
    stream = stream_of(pool);
    ABT_thread_free(&last);
    ABT_xstream_free(&stream);
    ABT_pool_get_size(pool, &left_by_exit);
    printf("a unit has ended its stream; units left in its pool: %d\n", (int)left_by_exit);

    /* The tasklet has not run yet, and will not: it is freed when a stream would run it. */
    ABT_task_create(pool, tasklet, NULL, &task);
    if (ABT_task_cancel(task) != ABT_SUCCESS || ABT_thread_cancel(unit) != ABT_SUCCESS)
        return 0; /* ABT_ERR_FEATURE_NA: the library was configured without */
    stream = stream_of(pool);
    ABT_task_free(&task);
    ABT_thread_free(&unit);
    at_the_end = rounds;
    ABT_xstream_free(&stream);
    ABT_pool_free(&pool);
    ABT_finalize();
    printf("two units were cancelled; the tasklet ran: %s\n", tasklet_ran ? "yes" : "no");
    return left != 1 || left_by_exit != 1 || tasklet_ran || after_exit || rounds != at_the_end || begun != 0;
}
