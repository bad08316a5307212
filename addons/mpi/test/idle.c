/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream whose ULT waits for a message sleeps nearly all of the time, and when nothing is in flight it sleeps all of
 * it. However long its pauses have become, input by libabtio wakes it at once.
 */
#include <pthread.h>
#include <time.h>

#include <abtio.h>

#include "job.h"

enum {
    QUIET_MS = 3000, /* in which pauses grow to 300 ms, where ABTMPI_IDLE_US allows that */
    AT_ONCE_MS = 50, /* a small part of such a pause */
    BYTES = 9,
    MOST_PERCENT = 20, /* far more than it is, and than a stream can do with that does not sleep */
    TAG = 1
};

static int ends[2];
static atomic_int num_read, num_at_once; /* bytes */

static int64_t now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

/* ---- Rank 1: pauses that are long -------------------------------------------------------------------------------- */

/* A native thread. It writes the next byte when the last one has been read, and sleeps in between. */
static void *write_bytes(void *arg)
{
    usleep(QUIET_MS * 1000);
    for (int i = 0; i < BYTES; i++) {
        if (write(ends[1], "x", 1) != 1)
            fail("the pipe cannot be written to");
        usleep(AT_ONCE_MS * 1000);
        atomic_fetch_add(&num_at_once, atomic_load(&num_read) > i);
        while (atomic_load(&num_read) == i)
            usleep(1000);
    }
    return arg;
}

static void read_bytes(void)
{
    char byte;

    for (int i = 0; i < BYTES; i++) {
        is_int(abtio_read(ends[0], &byte, 1, ABTX_FOREVER), 1, "a byte");
        atomic_store(&num_read, i + 1);
    }
    int most = atomic_load(&num_at_once) >= BYTES / 2; /* the last byte is not counted */
    MPI_Send(&most, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void receive_last(void)
{
    int64_t zero;

    MPI_Recv(&zero, 1, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pause_for_long(void)
{
    pthread_t thread;

    putenv("ABTMPI_IDLE_US=1000000");
    if (pipe(ends) != 0 || abtio_init(NULL) != 0 || pthread_create(&thread, NULL, write_bytes, NULL) != 0)
        bail_out("no pipe, or no thread");
    job_run_pair(receive_last, read_bytes);
    pthread_join(thread, NULL);
    abtio_finalize();
}

/* ---- Rank 0: pauses as they are by default ----------------------------------------------------------------------- */

static void check_use(int64_t cpu, int64_t elapsed, const char *when)
{
    double percent = 100.0 * (double)cpu / (double)elapsed;

    ok(percent < MOST_PERCENT, "%s: %.1f %% of a processor", when, percent);
}

static void wait_for_message(void)
{
    int64_t began = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    int most = 0;

    MPI_Recv(&most, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_use(now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - began, "a ULT waits");
    ok(most, "input wakes a stream that pauses");
}

static void sleep_only(void)
{
    int64_t zero = 0, began = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);

    ABTX_self_sleep(QUIET_MS * INT64_C(1000000) / 3);
    check_use(now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - began, "nothing is in flight");
    MPI_Send(&zero, 1, MPI_INT64_T, 1, TAG, MPI_COMM_WORLD);
}

static void run(void *arg)
{
    wait_for_message();
    sleep_only();
}

int main(int argc, char **argv)
{
    int nothing = 0;

    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    if (job_rank == 0)
        job_run(1, run, &nothing, sizeof(nothing));
    else
        pause_for_long();
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
