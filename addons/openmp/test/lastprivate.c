/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last value of a variable leaves a loop whose iterations members take from each other. Compilers look for it in
 * the last part that a member has had, so that no member may take another part behind the one that ends the loop.
 */
#include <omp.h>

#include "tap.h"
#include "watchdog.h"

enum { LOOPS = 300, MEMBERS = 4 };

/* A member that comes late leaves its part to the others. */
static void delay(int loop)
{
    if (omp_get_thread_num() == loop % MEMBERS)
        for (volatile int i = 0; i < 3000; i++)
            ;
}

static int last_of(int loop, int num)
{
    int last = -1;
#pragma omp parallel num_threads(MEMBERS)
    {
        delay(loop);
#pragma omp for schedule(nonmonotonic : dynamic) lastprivate(last)
        for (int i = 0; i < num; i++)
            last = i;
    }
    return last;
}

static int linear_end(int loop, int num)
{
    int at = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        delay(loop);
#pragma omp for schedule(nonmonotonic : dynamic, 3) linear(at : 4)
        for (int i = 0; i < num; i++)
            at += 4;
    }
    return at;
}

int main(void)
{
    int wrong_last = 0, wrong_linear = 0;
    watchdog_begin(0);
    for (int loop = 0; loop < LOOPS; loop++) {
        int num = 1 + loop % 50;
        wrong_last += last_of(loop, num) != num - 1;
        wrong_linear += linear_end(loop, num) != 4 * num;
    }
    ok(wrong_last == 0, "lastprivate is that of the last iteration, but for %d loops of %d", wrong_last, LOOPS);
    ok(wrong_linear == 0, "linear is that behind the last iteration, but for %d loops of %d", wrong_linear, LOOPS);
    return done_testing();
}
