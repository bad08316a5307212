/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several streams that share a pool, and one with a pool of its own: a ULT whose message is found by another one's look
 * is switched to, or pushed where it runs for long or others are ready, and is woken once in any case. And a scheduler
 * that waits for a message while no other stream looks.
 */
#include "job.h"

enum { STREAMS = 2, ULTS = 24, ROUNDS = 60, LONG_US = 50, OWN = 8, TAG_SCHED = ULTS };

static ABT_pool shared, own;
static atomic_int right, wrong;

static void compute(void)
{
    double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < LONG_US * 1e-6)
        ;
}

/* Each ULT has a partner in the other process; now and then one computes, or lets others run. */
static void exchange(void *arg)
{
    int tag = *(int *)arg, value, other = 1 - job_rank;

    for (int i = 0; i < ROUNDS; i++) {
        int mine = i * 1000 + tag;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        if (i % 3 == 0) {
            MPI_Sendrecv(&mine, 1, MPI_INT, other, tag, &value, 1, MPI_INT, other, tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(&value, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&mine, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, statuses);
        }
        atomic_fetch_add(value == mine ? &right : &wrong, 1);
        if ((i + tag) % 17 == 0)
            compute();
        else if ((i + tag) % 5 == 0)
            ABT_thread_yield();
    }
}

static void run(void)
{
    static int tags[ULTS];
    ABT_xstream xstreams[STREAMS + 1];
    ABT_thread ults[ULTS];

    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &shared);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &own);
    for (int i = 0; i <= STREAMS; i++)
        ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, i < STREAMS ? &shared : &own, ABT_SCHED_CONFIG_NULL,
                                 &xstreams[i]);
    for (int i = 0; i < ULTS; i++) {
        tags[i] = i;
        ABT_thread_create(i < OWN ? own : shared, exchange, &tags[i], ABT_THREAD_ATTR_NULL, &ults[i]);
    }
    for (int i = 0; i < ULTS; i++)
        ABT_thread_free(&ults[i]);
    for (int i = 0; i <= STREAMS; i++)
        ABT_xstream_free(&xstreams[i]);
}

static atomic_int got_by_sched = -1;

static int sched_init(ABT_sched sched, ABT_sched_config config)
{
    return ABT_SUCCESS;
}

/* Its pool is empty. */
static void sched_run(ABT_sched sched)
{
    ABT_bool stop;

    if (atomic_load(&got_by_sched) < 0) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 1, TAG_SCHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        atomic_store(&got_by_sched, value);
    }
    ABT_xstream_check_events(sched);
    ABT_sched_has_to_stop(sched, &stop);
    while (!stop) {
        usleep(LONG_US);
        ABT_xstream_check_events(sched);
        ABT_sched_has_to_stop(sched, &stop);
    }
}

static void wait_in_sched(void)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = sched_init, .run = sched_run};
    ABT_xstream xstream;
    ABT_sched sched;
    int value = 77;

    if (job_rank == 1) {
        usleep(2000 * LONG_US);
        MPI_Send(&value, 1, MPI_INT, 0, TAG_SCHED, MPI_COMM_WORLD);
        return;
    }
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &own);
    ABT_sched_create(&def, 1, &own, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_xstream_create(sched, &xstream);
    while (atomic_load(&got_by_sched) < 0)
        usleep(LONG_US);
    is_int(atomic_load(&got_by_sched), 77, "a scheduler gets a message");
    ABT_xstream_free(&xstream);
    ABT_sched_free(&sched);
}

int main(int argc, char **argv)
{
    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    for (int i = 0; i < 3; i++)
        run();
    is_int(atomic_load(&wrong), 0, "no message is mistaken for another");
    is_int(atomic_load(&right), 3 * ULTS * ROUNDS, "all ULTs get all messages");
    wait_in_sched();
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
