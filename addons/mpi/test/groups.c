/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs of each process make communicators at the same time: some with the other process, each in an order of its own,
 * and one with nobody else. The MPI library numbers communicators, which one at a time can do: whoever makes one waits
 * for those who make others, and must let them go on.
 */
#include "job.h"

enum { ULTS = 4, ROUNDS = 20 };

static MPI_Comm comms[ULTS];
static int right;

static void make_groups(int i)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Group group;
        MPI_Comm comm;
        int size = 0;

        MPI_Comm_group(comms[i], &group);
        MPI_Comm_create_group(comms[i], group, i, &comm);
        MPI_Comm_size(comm, &size);
        right += size == job_size;
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        ABT_thread_yield();
    }
}

static void copy_self(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm copy;
        int size = 0;

        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Comm_size(copy, &size);
        right += size == 1;
        MPI_Comm_free(&copy);
        ABT_thread_yield();
    }
}

static void work(void *arg)
{
    int i = *(int *)arg;

    if (i == 0)
        copy_self();
    else
        make_groups(i);
}

int main(int argc, char **argv)
{
    int numbers[ULTS];

    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    for (int i = 0; i < ULTS; i++) {
        numbers[i] = job_rank == 0 ? i : ULTS - 1 - i;
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    job_run(ULTS, work, numbers, sizeof(numbers[0]));
    is_int(right, ULTS * ROUNDS, "communicators of several ULTs");
    for (int i = 0; i < ULTS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
