/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs send messages around while or after something else is done with MPI: a ULT that waits is cancelled, native
 * threads call, windows are locked, persistent requests begin again, files are written by parts, communicators come and
 * go.
 */
#include <pthread.h>

#include "job.h"

enum { ULTS = 8, THREADS = 4, ROUNDS = 5, NUM = 8, TAG = 100, TAG_CANCELLED = 200, TAG_NATIVE = 300 };

static atomic_int wrong;

static void check(bool right)
{
    atomic_fetch_add(&wrong, !right);
}

static void exchange(void *arg)
{
    check(job_send_around(*(int *)arg));
}

static void exchange_all(void)
{
    int numbers[ULTS];

    for (int i = 0; i < ULTS; i++)
        numbers[i] = i;
    job_run(ULTS, exchange, numbers, sizeof(numbers[0]));
}

static int next_rank(void)
{
    return (job_rank + 1) % job_size;
}

static int rank_before(void)
{
    return (job_rank + job_size - 1) % job_size;
}

/* ---- A ULT that waits is cancelled ------------------------------------------------------------------------------ */

static void receive(void *arg)
{
    MPI_Recv(arg, 1, MPI_INT, next_rank(), TAG_CANCELLED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Its receive is begun in any case, and gets a message: the cancel takes effect after that. */
static void cancelled(void)
{
    ABT_pool pool;

    ABT_self_get_last_pool(&pool);
    for (int round = 0; round < ROUNDS; round++) {
        ABT_thread ult;
        MPI_Request request;
        int value = -1;
        ABT_thread_create(pool, receive, &value, ABT_THREAD_ATTR_NULL, &ult);
        ABT_thread_yield();
        ABT_thread_cancel(ult);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(&round, 1, MPI_INT, rank_before(), TAG_CANCELLED, MPI_COMM_WORLD, &request);
        ABT_thread_free(&ult);
        check(value == round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        exchange_all();
    }
}

/* ---- Native threads call beside the ULTs ------------------------------------------------------------------------ */

static void *exchange_natively(void *arg)
{
    for (int round = 0; round < ROUNDS; round++)
        check(job_send_around(TAG_NATIVE + *(int *)arg));
    return NULL;
}

static void native_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, exchange_natively, &numbers[i]) != 0)
            bail_out("no thread");
    }
    for (int round = 0; round < ROUNDS; round++)
        exchange_all();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Windows ---------------------------------------------------------------------------------------------------- */

/* MPICH 4.0 mixes up windows of a size that is no multiple of 8. */
static void windows(void)
{
    enum { SIZE = 64 * sizeof(int) };
    int *shared, sum = 0;
    MPI_Win win;

    MPI_Win_allocate(SIZE, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    shared[ROUNDS] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int value = round * 10 + job_rank;
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_INT, next_rank(), round, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        check(shared[round] == round * 10 + rank_before());
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&value, 1, MPI_INT, 0, ROUNDS, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        exchange_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&sum, 1, MPI_INT, 0, ROUNDS, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    check(sum == job_size * 10 * ROUNDS * (ROUNDS - 1) / 2 + ROUNDS * job_size * (job_size - 1) / 2);
    MPI_Win_free(&win);
}

/* ---- Persistent requests ---------------------------------------------------------------------------------------- */

/* They, and a null one, are waited for in turns all together and one by one. */
static void persistent(void)
{
    enum { ALL = 2 * NUM + 1 };
    int in[NUM], out[NUM], count, indices[ALL], index;
    MPI_Request requests[ALL];
    MPI_Status statuses[ALL];

    for (int i = 0; i < NUM; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, next_rank(), TAG + i, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(&out[i], 1, MPI_INT, rank_before(), TAG + i, MPI_COMM_WORLD, &requests[NUM + i]);
    }
    requests[ALL - 1] = MPI_REQUEST_NULL;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < NUM; i++)
            out[i] = round * NUM + i;
        MPI_Startall(ALL - 1, requests);
        if (round % 2)
            MPI_Waitall(ALL, requests, statuses);
        for (int i = 0; i < ALL; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE); /* in odd rounds they are inactive */
        for (int i = 0; i < NUM; i++)
            check(in[i] == round * NUM + i);
    }
    MPI_Waitall(ALL, requests, statuses);
    MPI_Waitsome(ALL, requests, &count, indices, statuses);
    check(count == MPI_UNDEFINED);
    MPI_Waitany(ALL, requests, &index, MPI_STATUS_IGNORE);
    check(index == MPI_UNDEFINED);
    for (int i = 0; i < ALL - 1; i++)
        MPI_Request_free(&requests[i]);
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

/* Each process writes its part, and reads that of the next one. */
static void files(void)
{
    enum { PART = 100 };
    char path[64] = "/tmp/abtmpi-mixed-XXXXXX";
    int out[PART], in[PART] = {0}, fd = job_rank == 0 ? mkstemp(path) : -1;
    MPI_File file;

    if (fd >= 0)
        close(fd);
    MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
    check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    for (int i = 0; i < PART; i++)
        out[i] = job_rank * PART + i;
    MPI_File_write_at_all_begin(file, job_rank * (MPI_Offset)sizeof(out), out, PART, MPI_INT);
    exchange_all();
    MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all_begin(file, next_rank() * (MPI_Offset)sizeof(in), in, PART, MPI_INT);
    exchange_all();
    MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
    for (int i = 0; i < PART; i++)
        check(in[i] == next_rank() * PART + i);
    MPI_File_close(&file);
}

/* ---- Communicators ---------------------------------------------------------------------------------------------- */

static void communicators(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        int one = 1, sum = 0, size = 0;
        MPI_Comm_split(MPI_COMM_WORLD, job_rank % 2, job_rank, &comm);
        MPI_Comm_size(comm, &size);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        check(sum == size);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
        exchange_all();
    }
}

static const struct {
    const char *name;
    void (*play)(void);
} plays[] = {
    {"a ULT that waits is cancelled", cancelled},
    {"native threads call, too", native_threads},
    {"windows are locked", windows},
    {"persistent requests", persistent},
    {"files are written by parts", files},
    {"communicators come and go", communicators},
};

int main(int argc, char **argv)
{
    int all = -1;

    job_begin("3");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        int mine;
        plays[i].play();
        mine = atomic_load(&wrong);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        is_int(all, 0, "%s", plays[i].name);
    }
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
