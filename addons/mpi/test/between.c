/* SPDX-License-Identifier: BSD-3-Clause */
/* A message goes to all processes of another group, from one group and the other in turns. */
#include "job.h"

enum { ROUNDS = 20 };

/* By a ULT in one half of each group, and by an external thread in the other. */
static void broadcast_in_turns(void)
{
    MPI_Comm half, between;
    int mine = job_rank / 2, place = job_rank % 2, good = 0;

    MPI_Comm_split(MPI_COMM_WORLD, mine, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 2 - 2 * mine, 0, &between);
    for (int round = 0; round < ROUNDS; round++) {
        int root = round / 2 % 2, value = round;
        if (round % 2 == mine) {
            MPI_Bcast(&value, 1, MPI_INT, place == root ? MPI_ROOT : MPI_PROC_NULL, between);
        } else {
            value = -1;
            MPI_Bcast(&value, 1, MPI_INT, root, between);
        }
        good += value == round;
    }
    is_int(good, ROUNDS, "messages to all of the other group");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    job_begin("4");
    MPI_Init(&argc, &argv);
    job_know();
    if (job_rank % 2 == 1)
        broadcast_in_turns();
    ABT_init(argc, argv);
    if (job_rank % 2 == 0)
        broadcast_in_turns();
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
