/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks share: interleaved rounds, medians, and a table in ns and in raw switches of the same run. */
#ifndef ABT_TEST_BENCH_BENCH_H
#define ABT_TEST_BENCH_BENCH_H

#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

struct bench_work {
    const char *name;
    double (*run)(int n); /* ns per operation; n: how many units take part */
    int n;
    double limit; /* at most that number of raw switches; 0: none */
    double *ns;   /* filled in: one figure per round */
};

double bench_now_ns(void);

/* The calling thread, and those it makes, stay on one core. */
void bench_stay_on_one_core(void);

/* The same, and then ABT_init: the stream serves the private FIFO pool that is returned. */
ABT_pool bench_begin(int argc, char **argv);

/* For the table's first line: one raw switch. */
double bench_raw_switch(int n);

/* Measures, after a round to warm up. work[0] is the yardstick. */
void bench_measure(struct bench_work *work, int kinds, int rounds);

/* The table, and what is over its limit. Returns the number of lines that are. */
int bench_print(struct bench_work *work, int kinds, int rounds);

/* The number of rounds: the program's first argument, or `otherwise`. */
int bench_rounds(int argc, char **argv, int otherwise);

#endif
