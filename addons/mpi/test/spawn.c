/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_spawn while another ULT of the stream runs: the new processes and this one exchange messages, take part in a
 * collective call, and part.
 */
#include <stdbool.h>

#include "job.h"

enum { CHILDREN = 2, TAG = 1 };

static char path[4096];
static bool is_spawned;
static long yields;

static void spawn(void)
{
    int codes[CHILDREN], values[CHILDREN] = {-1, -1}, sum = 0, zero = 0;
    MPI_Comm children;

    is_int(MPI_Comm_spawn(path, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, codes),
           MPI_SUCCESS, "a ULT spawns processes");
    is_spawned = true;
    for (int i = 0; i < CHILDREN; i++) {
        MPI_Send(&i, 1, MPI_INT, i, TAG, children);
        MPI_Recv(&values[i], 1, MPI_INT, i, TAG, children, MPI_STATUS_IGNORE);
    }
    ok(values[0] == 1 && values[1] == 2, "they answer");
    MPI_Reduce(&zero, &sum, 1, MPI_INT, MPI_SUM, MPI_ROOT, children);
    is_int(sum, 10 + 11, "a collective call with them");
    is_int(MPI_Comm_disconnect(&children), MPI_SUCCESS, "they part");
}

static void run_meanwhile(void)
{
    while (!is_spawned) {
        yields++;
        ABT_thread_yield();
    }
}

static void answer(MPI_Comm parent)
{
    int value, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&value, 1, MPI_INT, 0, TAG, parent, MPI_STATUS_IGNORE);
    value++;
    MPI_Send(&value, 1, MPI_INT, 0, TAG, parent);
    rank += 10;
    MPI_Reduce(&rank, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    job_begin("1");
    MPI_Init(&argc, &argv);
    ABT_init(argc, argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        answer(parent);
        MPI_Finalize();
        ABT_finalize();
        return 0;
    }
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
        abort();
    job_run_pair(spawn, run_meanwhile);
    ok(yields > 1, "the stream goes on meanwhile");
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
