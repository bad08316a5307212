/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is not linked with libabt does not notice libabtmpi: the thread level is what it has asked for, the
 * environment and the timer slack are as before, and a wait gives up the processor where the MPI library does so by
 * itself.
 */
#include <dlfcn.h>
#include <sys/prctl.h>

#include "job.h"

enum { WAIT_MS = 300, ROUNDS = 50, SOME = 20 };

extern char **environ;
static atomic_int yields; /* by others than libabt */

int sched_yield(void)
{
    Dl_info info;

    if (dladdr(__builtin_return_address(0), &info) && !strstr(info.dli_fname, "libabt"))
        atomic_fetch_add(&yields, 1);
    return 0;
}

static int count_variables(const char *prefix)
{
    int num = 0;

    for (char **each = environ; *each; each++)
        num += strncmp(*each, prefix, strlen(prefix)) == 0;
    return num;
}

static void pass_token(void)
{
    int token = 0, right = 0, found = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (job_rank == 0) {
            MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, job_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (found = 0; !found;)
                MPI_Iprobe(job_rank - 1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            MPI_Recv(&token, 1, MPI_INT, job_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, (job_rank + 1) % job_size, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        right += job_rank > 0 || token == (i + 1) * (job_size - 1);
    }
    is_int(right, ROUNDS, "messages and collective calls");
}

static void wait_long(void)
{
    int nothing = 0, before = atomic_load(&yields);

    if (job_rank == 0) {
        MPI_Recv(&nothing, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (getenv("OMPI_COMM_WORLD_SIZE"))
            ok(atomic_load(&yields) - before > SOME, "Open MPI gives up the processor where it is told to");
    } else if (job_rank == 1) {
        usleep(WAIT_MS * 1000);
        MPI_Send(&nothing, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int level = -1;

    job_begin("4");
    putenv("OMPI_MCA_mpi_oversubscribe=1");
    int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), variables = count_variables("OMPI_MCA_mpi_");
    MPI_Init(&argc, &argv);
    job_know();
    MPI_Query_thread(&level);
    ok(level < MPI_THREAD_MULTIPLE, "the level is not raised");
    pass_token();
    wait_long();
    is_int(count_variables("OMPI_MCA_mpi_"), variables, "no variable is set");
    is_int(prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), slack, "the timer slack is as before");
    MPI_Finalize();
    return job_end();
}
