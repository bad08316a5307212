/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream whose ULT waits does not give up its processor at each poll, as Open MPI does where there are more processes
 * than cores: those who wait sleep.
 */
#include <dlfcn.h>

#include "job.h"

enum { WAIT_MS = 300, SOME = 20 };

static atomic_int yields; /* by others than libabt */

int sched_yield(void)
{
    Dl_info info;

    if (dladdr(__builtin_return_address(0), &info) && !strstr(info.dli_fname, "libabt."))
        atomic_fetch_add(&yields, 1);
    return 0;
}

static void receive(void *arg)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int nothing = 0;

    putenv("OMPI_MCA_mpi_oversubscribe=1");
    job_begin("2");
    putenv("OMPI_MCA_mpi_oversubscribe=1");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    int before = atomic_load(&yields);
    if (job_rank == 0) {
        job_run(1, receive, &nothing, sizeof(nothing));
        int made = atomic_load(&yields) - before;
        ok(made < SOME, "%d yields while a ULT waits", made);
    } else {
        usleep(WAIT_MS * 1000);
        MPI_Send(&nothing, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
