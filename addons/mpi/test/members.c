/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of an OpenMP region call MPI, as streams, since MPI lets all threads call: while one waits its thread takes
 * tasks, also the first one. Then the process calls MPI_Finalize. The driver of libabtmpi is on the streams; their
 * threads sleep by then, between regions.
 */
#include <omp.h>

#include <abtmpi.h>

#include "job.h"

enum { MEMBERS = 4, ROUNDS = 3 };

/* Member 1 waits for a message that a task sends, and the other one is busy until that is done. */
static int receive_from_task(void)
{
    int done = 0, in = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else {
#pragma omp task shared(done)
        {
            int out = 5;
            MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
#pragma omp atomic write
            done = 1;
        }
        for (int seen = 0; !seen;) {
#pragma omp atomic read
            seen = done;
        }
    }
    return in;
}

int main(void)
{
    int level, wrong = 0;

    job_begin("1");
    int before = ABTMPI_Suspends();
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    job_know();
    is_int(before, 0, "before MPI_Init nothing suspends");
    is_int(ABTMPI_Suspends(), 1, "then calls do");
    is_int(receive_from_task(), 5, "the thread of a member that waits takes tasks, though it has had none");
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
    is_int(ABTMPI_Suspends(), 0, "and after it no more");
    return job_end();
}
