/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a job dies while ULTs of another one wait for its messages: the job ends with an error, as it does
 * without libabtmpi, and does not wait for ever.
 */
#include <signal.h>
#include <sys/wait.h>

#include "job.h"

enum { ULTS = 4 };

static void receive(void *arg)
{
    MPI_Recv(arg, 1, MPI_INT, 1, *(int *)arg, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int wait_for_dead(int argc, char **argv)
{
    int values[ULTS] = {1, 2, 3, 4};

    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (job_rank == 1) {
        MPI_Send(&values[0], 1, MPI_INT, 0, values[0], MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    job_run(ULTS, receive, values, sizeof(values[0]));
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;

    if (getenv("JOB_IS_RUNNING")) {
        watchdog_begin(0);
        return wait_for_dead(argc, argv);
    }
    pid_t child = fork();
    if (child == 0) {
        /* What the launcher says about it. */
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            abort();
        job_begin("2");
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        skip_all(JOB_RUN " is not installed");
    ok(WIFEXITED(status) || WIFSIGNALED(status), "the job ends with an error");
    return done_testing();
}
