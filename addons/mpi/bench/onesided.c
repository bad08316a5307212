/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided calls of the bare main thread or of ULTs of rank 0, on a window of rank 1, which waits in MPI_Barrier.
 * Prints microseconds for one operation with what completes it.
 *
 *     mpirun -n 2 onesided bare|ult NUMBER OPERATIONS fetch|put|local|lock
 */
#include <abt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5 };

static int num, operations;
static MPI_Win win;

static void fetch(void)
{
    int one = 1, before;

    MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void put(void)
{
    int one = 1;

    MPI_Put(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
}

static void put_locally(void)
{
    int one = 1;

    MPI_Put(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_flush_local(1, win);
}

static void lock(void)
{
    int one = 1;

    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"fetch", fetch}, {"put", put}, {"local", put_locally}, {"lock", lock}};

static void repeat(void *arg)
{
    void (*run)(void) = *(void (**)(void))arg;

    for (int i = 0; i < operations / num; i++)
        run();
}

static void repeat_by_ults(void (*run)(void))
{
    ABT_thread *ults = malloc((size_t)num * sizeof(*ults));
    ABT_xstream xstream;
    ABT_pool pool;

    ABT_xstream_self(&xstream);
    ABT_xstream_get_main_pools(xstream, 1, &pool);
    for (int i = 0; i < num; i++)
        ABT_thread_create(pool, repeat, &run, ABT_THREAD_ATTR_NULL, &ults[i]);
    for (int i = 0; i < num; i++)
        ABT_thread_free(&ults[i]);
    free(ults);
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
    int level, rank, *memory;
    void (*run)(void) = NULL;
    double times[REPEATS];

    for (size_t i = 0; argc == 5 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        run = strcmp(argv[4], kinds[i].name) ? run : kinds[i].run;
    if (!run)
        return 2;
    bool by_ults = !strcmp(argv[1], "ult");
    num = atoi(argv[2]);
    operations = atoi(argv[3]) / num * num;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    by_ults = by_ults && rank == 0;
    if (by_ults)
        ABT_init(0, NULL);
    for (int i = 0; i < REPEATS; i++) {
        if (run != lock)
            MPI_Win_lock_all(0, win);
        times[i] = MPI_Wtime();
        if (by_ults)
            repeat_by_ults(run);
        else if (rank == 0)
            repeat(&run);
        times[i] = MPI_Wtime() - times[i];
        if (run != lock)
            MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    qsort(times, REPEATS, sizeof(times[0]), compare);
    if (rank == 0)
        printf("%.3f\n", times[REPEATS / 2] / operations * 1e6);
    MPI_Win_free(&win);
    MPI_Finalize();
    return by_ults ? ABT_finalize() : 0;
}
