/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives of rank 0 that are all there before rank 1 sends: by ULTs that wait, by continuations, or without
 * libabt by requests alone, which is what the MPI library needs. Prints the best time of a round in microseconds, or
 * the most KiB that the first round has taken.
 *
 *     mpirun -n 2 continuations ult|continuation|request NUMBER OPERATIONS time|memory
 */
#include <abt.h>
#include <abtmpi.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int num, ended, *values;
static MPI_Request *requests;
static ABT_pool pool;
static ABT_eventual_memory all;

/* The KiB of memory that were in use at most until now. */
static long peak(void)
{
    struct rusage usage = {0};

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void end(void *arg)
{
    (void)arg;
    if (++ended == num)
        ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&all), NULL, 0);
}

static void receive(void *value)
{
    MPI_Recv(value, 1, MPI_INT, 1, (int)((int *)value - values), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end(NULL);
}

static void begin(char by, int tag)
{
    if (by == 'u')
        ABT_thread_create(pool, receive, &values[tag], ABT_THREAD_ATTR_NULL, NULL);
    else
        MPI_Irecv(&values[tag], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[tag]);
    if (by == 'c')
        ABTMPI_Continue(&requests[tag], end, NULL, pool, MPI_STATUS_IGNORE);
}

static void play_sender(void)
{
    MPI_Recv(NULL, 0, MPI_INT, 0, num, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < num; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

static double play_receiver(char by)
{
    double since = MPI_Wtime();

    ended = 0;
    ABT_eventual_reset(ABT_EVENTUAL_MEMORY_GET_HANDLE(&all));
    for (int i = 0; i < num; i++)
        begin(by, i);
    for (int i = 0; i < 3; i++) /* the ULTs begin to wait */
        ABT_thread_yield();
    MPI_Send(NULL, 0, MPI_INT, 1, num, MPI_COMM_WORLD);
    for (int i = 0; by == 'r' && i < num; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    if (by != 'r')
        ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&all), NULL);
    return MPI_Wtime() - since;
}

int main(int argc, char **argv)
{
    int level, rank;
    long before, memory = -1;
    double best = 1e9;

    if (argc != 5)
        return 2;
    num = atoi(argv[2]);
    values = malloc((size_t)num * sizeof(*values));
    requests = malloc((size_t)num * sizeof(MPI_Request));
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char by = argv[1][0];
    if (by != 'r')
        ABT_init(0, NULL);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < atoi(argv[3]) / num; i++) {
        if (rank > 0) {
            play_sender();
            continue;
        }
        before = peak();
        double time = play_receiver(by);
        best = time < best ? time : best;
        memory = memory < 0 ? peak() - before : memory;
    }
    if (rank == 0)
        printf("%.3f\n", strcmp(argv[4], "memory") ? best * 1e6 : (double)memory);
    MPI_Finalize();
    free(requests);
    free(values);
    return by == 'r' ? 0 : ABT_finalize();
}
