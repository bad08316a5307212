/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More processes than cores: in each, ULTs send messages around and call what is collective, each with a communicator
 * of its own, in an order of their own.
 */
#include "job.h"

enum { ULTS = 6, ROUNDS = 8 };

static MPI_Comm comms[ULTS];
static int wrong;

static void collective(int i, int round)
{
    int mine = job_rank + round, sum = -1, root = round % job_size, from = job_rank == root ? i : -1, all[16];

    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
    wrong += sum != job_size * (job_size - 1) / 2 + job_size * round;
    MPI_Bcast(&from, 1, MPI_INT, root, comms[i]);
    wrong += from != i;
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comms[i]);
    for (int k = 0; k < job_size; k++)
        wrong += all[k] != k + round;
    MPI_Barrier(comms[i]);
}

static void work(void *arg)
{
    int i = *(int *)arg;

    for (int round = 0; round < ROUNDS; round++) {
        collective(i, round);
        wrong += !job_send_around(i);
        if ((i + job_rank) % 2 == 0)
            ABT_thread_yield();
    }
}

int main(int argc, char **argv)
{
    int numbers[ULTS], all = -1;

    job_begin("8");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    for (int i = 0; i < ULTS; i++) {
        numbers[i] = (i + job_rank) % ULTS; /* the first one is another one in each process */
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    job_run(ULTS, work, numbers, sizeof(numbers[0]));
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    is_int(all, 0, "%d ULTs in each of %d processes", ULTS, job_size);
    for (int i = 0; i < ULTS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
