/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives of rank 0 that are all there before rank 1 sends: by ULTs that wait, or by continuations. Prints the best
 * time of a round in microseconds, or the KiB that the first round has taken.
 *
 *     mpirun -n 2 continuations ult|continuation NUMBER OPERATIONS time|memory
 */
#include <abt.h>
#include <abtmpi.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int num, ended, *values;
static ABT_pool pool;
static ABT_eventual_memory all;

static long resident(void)
{
    long total = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
        abort();
    fclose(file);
    return pages * 4;
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

static void begin(bool by_ult, int tag)
{
    MPI_Request request;

    if (by_ult) {
        ABT_thread_create(pool, receive, &values[tag], ABT_THREAD_ATTR_NULL, NULL);
        return;
    }
    MPI_Irecv(&values[tag], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    ABTMPI_Continue(&request, end, NULL, pool, MPI_STATUS_IGNORE);
}

static void play_sender(void)
{
    MPI_Recv(NULL, 0, MPI_INT, 0, num, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < num; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

/* Adds the KiB that are taken when all receives are there. */
static double play_receiver(bool by_ults, long *memory)
{
    double since = MPI_Wtime();

    ended = 0;
    ABT_eventual_reset(ABT_EVENTUAL_MEMORY_GET_HANDLE(&all));
    *memory -= resident();
    for (int i = 0; i < num; i++)
        begin(by_ults, i);
    for (int i = 0; i < 3; i++) /* the ULTs begin to wait */
        ABT_thread_yield();
    *memory += resident();
    MPI_Send(NULL, 0, MPI_INT, 1, num, MPI_COMM_WORLD);
    ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&all), NULL);
    return MPI_Wtime() - since;
}

int main(int argc, char **argv)
{
    int level, rank;
    long memory, first = -1;
    double best = 1e9;

    if (argc != 5)
        return 2;
    num = atoi(argv[2]);
    values = malloc((size_t)num * sizeof(*values));
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ABT_init(0, NULL);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < atoi(argv[3]) / num; i++) {
        if (rank > 0) {
            play_sender();
            continue;
        }
        memory = 0;
        double time = play_receiver(!strcmp(argv[1], "ult"), &memory);
        best = time < best ? time : best;
        first = first < 0 ? memory : first;
    }
    if (rank == 0)
        printf("%.3f\n", strcmp(argv[4], "memory") ? best * 1e6 : (double)first);
    MPI_Finalize();
    free(values);
    return ABT_finalize();
}
