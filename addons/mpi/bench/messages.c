/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of 8 bytes between a native thread of rank 0 and ULTs, native threads or the bare main thread of rank 1,
 * after the figure on MPI in the paper on Argobots. Prints microseconds for one message there and back, or of a stream
 * of messages, one way.
 *
 *     mpirun -n 2 messages bare|ult|pthread NUMBER MESSAGES [random] [stream] [streams=N]
 */
#include <abt.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_END = 30000, REPEATS = 5, STREAMS = 8 };

static int num, messages, streams = 1;
static bool random_order, one_way;
static const char *kind;
static int *order;
static ABT_xstream xstreams[STREAMS];
static ABT_pool pool;

static void receive(void *arg)
{
    int tag = (int)(intptr_t)arg;
    double value;

    for (int i = 0; i < messages / num; i++) {
        MPI_Recv(&value, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!one_way)
            MPI_Send(&value, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
    }
}

static void *receive_on_thread(void *arg)
{
    receive(arg);
    return NULL;
}

static void send_all(void)
{
    double value = 0;

    for (int i = 0; i < messages; i++) {
        MPI_Send(&value, 1, MPI_DOUBLE, 1, order[i], MPI_COMM_WORLD);
        if (!one_way)
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, order[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&value, 1, MPI_DOUBLE, 1, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_by_ults(void)
{
    ABT_thread *ults = malloc((size_t)num * sizeof(*ults));

    for (int i = 0; i < num; i++)
        ABT_thread_create(pool, receive, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &ults[i]);
    for (int i = 0; i < num; i++)
        ABT_thread_free(&ults[i]);
    free(ults);
}

static void receive_by_threads(void)
{
    pthread_t *threads = malloc((size_t)num * sizeof(*threads));

    for (int i = 0; i < num; i++)
        pthread_create(&threads[i], NULL, receive_on_thread, (void *)(intptr_t)i);
    for (int i = 0; i < num; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static void receive_all(void)
{
    double value = 0;

    if (!strcmp(kind, "ult"))
        receive_by_ults();
    else if (!strcmp(kind, "pthread"))
        receive_by_threads();
    else
        receive(NULL);
    MPI_Send(&value, 1, MPI_DOUBLE, 0, TAG_END, MPI_COMM_WORLD);
}

/* The same order in each process. */
static void make_order(void)
{
    order = malloc((size_t)messages * sizeof(*order));
    for (int i = 0; i < messages; i++)
        order[i] = i % num;
    srand(1);
    for (int i = messages - 1; random_order && i > 0; i--) {
        int j = rand() % (i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

static void make_streams(void)
{
    ABT_pool pools[2]; /* main has one of its own: it ends on its stream */

    ABT_init(0, NULL);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[0]);
    pools[1] = pool;
    ABT_xstream_self(&xstreams[0]);
    ABT_xstream_set_main_sched_basic(xstreams[0], ABT_SCHED_DEFAULT, 2, pools);
    for (int i = 1; i < streams; i++)
        ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstreams[i]);
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
    int level, rank;
    double times[REPEATS];

    if (argc < 4)
        return 2;
    kind = argv[1];
    num = strcmp(kind, "bare") ? atoi(argv[2]) : 1;
    messages = atoi(argv[3]) / num * num;
    for (int i = 4; i < argc; i++) {
        random_order |= !strcmp(argv[i], "random");
        one_way |= !strcmp(argv[i], "stream");
        if (!strncmp(argv[i], "streams=", 8) && atoi(argv[i] + 8) <= STREAMS)
            streams = atoi(argv[i] + 8);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_order();
    bool has_streams = rank == 1 && !strcmp(kind, "ult");
    if (has_streams)
        make_streams();
    for (int i = 0; i < REPEATS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        times[i] = MPI_Wtime();
        (rank == 0 ? send_all : receive_all)();
        times[i] = MPI_Wtime() - times[i];
    }
    qsort(times, REPEATS, sizeof(times[0]), compare);
    if (rank == 0)
        printf("%.3f\n", times[REPEATS / 2] / messages * 1e6);
    for (int i = 1; has_streams && i < streams; i++)
        ABT_xstream_free(&xstreams[i]);
    free(order);
    MPI_Finalize();
    return has_streams ? ABT_finalize() : 0;
}
