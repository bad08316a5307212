/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of an OpenMP region call MPI, at first as native threads, and then, since they have tasks, as streams; and
 * then the process calls MPI_Finalize. The driver of libabtmpi is on the streams; their threads sleep by then, between
 * regions.
 */
#include <omp.h>

#include "job.h"

enum { MEMBERS = 4, ROUNDS = 3 };

int main(void)
{
    int level, wrong = 0;

    job_begin("1");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    job_know();
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
        {
            int i = omp_get_thread_num(), out = i, in = -1;
            if (round > 0) {
#pragma omp task
                (void)omp_get_thread_num();
            }
            MPI_Sendrecv(&out, 1, MPI_INT, 0, i, &in, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            wrong += in != i;
        }
    }
    is_int(level, MPI_THREAD_MULTIPLE, "members may call");
    is_int(wrong, 0, "each member gets what it sends");
    is_int(MPI_Finalize(), MPI_SUCCESS, "MPI_Finalize, while members are between regions");
    return job_end();
}
