/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdlib.h>
#include "abt.h"
#include "api/misuse.h"
#include "os/clock.h"

#define TIMER_IS_BAD(h) ABTI_IS_BAD(h, ABT_TIMER_NULL, ABTI_HANDLE_TIMER)

/* Stop watches need differences only, so they use the clock that nobody can set. One thread uses a timer at a time. */
struct ABT_timer_opaque {
    uint64_t start;
    uint64_t stop;
};

/* So many pairs does ABT_timer_get_overhead take the mean of. */
#define TIMER_OVERHEAD_PAIRS 5000

static double read_timer(const struct ABT_timer_opaque *timer)
{
    return 1.0e-9 * (double)(int64_t)(timer->stop - timer->start);
}

double ABT_get_wtime(void)
{
    return abti_clock_wtime();
}

int ABT_timer_create(ABT_timer *newtimer)
{
    ABTI_PRESET_OUT(newtimer, ABT_TIMER_NULL);
    ABT_timer timer = calloc(1, sizeof(*timer));
    ABTI_FAIL_IF(!timer, ABT_ERR_MEM);
    abti_ledger_made(timer, ABTI_HANDLE_TIMER);
    *newtimer = timer;
    return ABT_SUCCESS;
}

int ABT_timer_dup(ABT_timer timer, ABT_timer *newtimer)
{
    ABTI_PRESET_OUT(newtimer, ABT_TIMER_NULL);
    ABTI_REFUSE_IF(TIMER_IS_BAD(timer), ABT_ERR_INV_TIMER);
    ABT_timer copy = malloc(sizeof(*copy));
    ABTI_FAIL_IF(!copy, ABT_ERR_MEM);
    *copy = *timer;
    abti_ledger_made(copy, ABTI_HANDLE_TIMER);
    *newtimer = copy;
    return ABT_SUCCESS;
}

int ABT_timer_free(ABT_timer *timer)
{
    ABTI_REFUSE_IF(TIMER_IS_BAD(*timer), ABT_ERR_INV_TIMER);
    abti_ledger_free(*timer);
    *timer = ABT_TIMER_NULL;
    return ABT_SUCCESS;
}

int ABT_timer_start(ABT_timer timer)
{
    ABTI_REFUSE_IF(TIMER_IS_BAD(timer), ABT_ERR_INV_TIMER);
    timer->start = abti_clock_mono_ns();
    return ABT_SUCCESS;
}

int ABT_timer_stop(ABT_timer timer)
{
    ABTI_REFUSE_IF(TIMER_IS_BAD(timer), ABT_ERR_INV_TIMER);
    timer->stop = abti_clock_mono_ns();
    return ABT_SUCCESS;
}

int ABT_timer_read(ABT_timer timer, double *secs)
{
    ABTI_REFUSE_IF(TIMER_IS_BAD(timer), ABT_ERR_INV_TIMER);
    *secs = read_timer(timer);
    return ABT_SUCCESS;
}

int ABT_timer_stop_and_read(ABT_timer timer, double *secs)
{
    ABTI_REFUSE_IF(TIMER_IS_BAD(timer), ABT_ERR_INV_TIMER);
    timer->stop = abti_clock_mono_ns();
    *secs = read_timer(timer);
    return ABT_SUCCESS;
}

int ABT_timer_stop_and_add(ABT_timer timer, double *secs)
{
    ABTI_REFUSE_IF(TIMER_IS_BAD(timer), ABT_ERR_INV_TIMER);
    timer->stop = abti_clock_mono_ns();
    *secs += read_timer(timer);
    return ABT_SUCCESS;
}

int ABT_timer_get_overhead(double *overhead)
{
    struct ABT_timer_opaque timer = {0};
    double sum = 0.0;

    for (int i = 0; i < TIMER_OVERHEAD_PAIRS; i++) {
        timer.start = abti_clock_mono_ns();
        timer.stop = abti_clock_mono_ns();
        sum += read_timer(&timer);
    }
    *overhead = sum / TIMER_OVERHEAD_PAIRS;
    return ABT_SUCCESS;
}
