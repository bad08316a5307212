/* SPDX-License-Identifier: BSD-3-Clause */
/* How the examples of MPI begin. See common.h. */
#include "common.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void begin_mpi(int *argc, char ***argv, int *rank, int *num_ranks)
{
    int level;

    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        give_up("this MPI takes calls of one thread at a time only");
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, num_ranks);
}

int can_suspend(void)
{
    Dl_info info;
    void *receive = dlsym(RTLD_DEFAULT, "MPI_Recv");

    return receive && dladdr(receive, &info) && info.dli_fname && strstr(info.dli_fname, "libabtmpi");
}

void start_team(struct team *team, int num_streams)
{
    struct team_config config = {num_streams, ABT_SCHED_BASIC, ABT_POOL_FIFO, TEAM_SHARED};

    if (num_streams < 1 || num_streams > TEAM_MAX_STREAMS)
        give_up("this number of streams cannot be made");
    /* Functions of MPI need more than a small stack, and deep trees do. What is not used costs no memory. */
    setenv("ABT_THREAD_STACKSIZE", "2097152", 0);
    team_start(team, &config);
}

void give_up(const char *why)
{
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}
