/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABTMPI_MAIN_ULT=1: main is a ULT in a program that does not call ABT_init. It waits in MPI and ends as ever.
 */
#include "job.h"

int main(int argc, char **argv)
{
    int value, level = -1;

    putenv("ABTMPI_MAIN_ULT=1");
    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_bool is_primary = ABT_FALSE;
    ABT_self_is_primary(&is_primary);
    ok(is_primary, "main is the primary ULT");
    MPI_Query_thread(&level);
    is_int(level, MPI_THREAD_MULTIPLE, "the level is raised");
    for (int i = 0; i < 50; i++) {
        value = i;
        if (job_rank == i % 2)
            MPI_Send(&value, 1, MPI_INT, 1 - job_rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, MPI_INT, 1 - job_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    is_int(MPI_Finalize(), MPI_SUCCESS, "MPI_Finalize of a program without ABT_finalize");
    return job_end();
}
