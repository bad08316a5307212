/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While a ULT is in a blocking region, one of its own or in a call of MPI that goes by one, another ULT of its stream
 * waits for messages, again and again, and gets them.
 */
#include "job.h"

enum { ROUNDS = 25, PAUSE_US = 2000, TAG = 1 }; /* a region lasts for 50 ms at least */

static int ends[2], right;
static atomic_bool is_in_region;

static void read_in_region(void)
{
    char byte;

    ABTX_blocking_begin();
    atomic_store(&is_in_region, true);
    if (read(ends[0], &byte, 1) != 1)
        fail("the pipe cannot be read");
    ABTX_blocking_end();
}

static void split(void)
{
    MPI_Comm half;
    int size = 0;

    MPI_Comm_split(MPI_COMM_WORLD, job_rank, 0, &half);
    MPI_Comm_size(half, &size);
    is_int(size, 1, "MPI_Comm_split in a region");
    MPI_Comm_free(&half);
}

static void ask(void)
{
    right = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int value = -1;
        MPI_Send(&i, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        right += value == i + 1;
    }
    is_int(right, ROUNDS, "messages come meanwhile");
}

static void ask_and_write(void)
{
    while (!atomic_load(&is_in_region))
        ABT_thread_yield();
    ask();
    if (write(ends[1], "x", 1) != 1)
        fail("the pipe cannot be written to");
}

/* Late enough that the ULT that asks is suspended. */
static void answer(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(PAUSE_US);
        value++;
        MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    if (pipe(ends) != 0)
        bail_out("no pipe");
    if (job_rank == 0) {
        job_run_pair(read_in_region, ask_and_write);
        job_run_pair(split, ask);
    } else {
        answer();
        answer();
        split();
    }
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
