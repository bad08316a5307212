/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do whole streams wait for each other? By a barrier of native threads. It blocks the stream, so that nothing else
 * runs there: that is for streams that begin or measure together. Units wait for each other by ABT_barrier.
 *
 *   cc xstream_barrier.c $(pkg-config --cflags --libs argobots) -o xstream_barrier
 */
#include <abt.h>
#include <stdio.h>

enum { STREAMS = 3 };

static ABT_xstream_barrier barrier;
static double arrival[STREAMS], start[STREAMS];

static void measures(void *arg)
{
    int rank;
    (void)arg;
    ABT_self_get_xstream_rank(&rank);
    arrival[rank] = ABT_get_wtime();
    ABT_xstream_barrier_wait(barrier);
    start[rank] = ABT_get_wtime(); /* nobody is here before all have arrived */
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    ABT_thread units[STREAMS];
    int early = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_barrier_create(STREAMS, &barrier);
    for (int i = 1; i < STREAMS; i++) {
        /* Each stream has a pool of its own here: two units of one stream in the barrier would never leave it. */
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
        ABT_thread_create_on_xstream(streams[i], measures, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    }
    measures(NULL);
    for (int i = 1; i < STREAMS; i++) {
        ABT_thread_free(&units[i]);
        ABT_xstream_free(&streams[i]);
    }
    ABT_xstream_barrier_free(&barrier);
    for (int i = 0; i < STREAMS; i++) {
        for (int j = 0; j < STREAMS; j++)
            early += start[i] < arrival[j];
        printf("stream %d waited %.6f s\n", i, start[i] - arrival[i]);
    }
    printf("streams that started before all were there: %d\n", early);
    ABT_finalize();
    return early;
}
