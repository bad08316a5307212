/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions in regions of a program that has thread-local variables: each member has a thread, which keeps its own. */
#include "modes.h"

enum { REGIONS = 50, INNER = 3 };

static int kept;
#pragma omp threadprivate(kept)

/* Each member of the inner teams adds to its variable, and finds it again. */
static void run(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(num_outer) reduction(+ : wrong)
    for (int i = 1; i <= REGIONS; i++) {
        pthread_t threads[INNER];
#pragma omp parallel num_threads(INNER) reduction(+ : wrong)
        {
            threads[omp_get_thread_num()] = pthread_self();
            kept = i == 1 ? 1 : kept + 1;
            wrong += kept != i;
        }
        wrong += pthread_equal(threads[0], threads[1]) || pthread_equal(threads[1], threads[2]);
    }
    check(wrong == 0, "each member has variables of its own");
}

int main(void)
{
    watchdog_begin(0);
    run_modes(run);
    return done_testing();
}
