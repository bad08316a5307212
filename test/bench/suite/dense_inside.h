/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of dense.h share. */
#ifndef ABT_TEST_BENCH_DENSE_INSIDE_H
#define ABT_TEST_BENCH_DENSE_INSIDE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"

struct dense_functions {
    void (*make)(int quick);
    void (*run)(void);
    long (*errors)(void);
    void (*free)(void);
};
extern const struct dense_functions dense_matmul;

extern const struct dense_runtime *dense_by;

/* Calls func side by side with each of a few arguments, which stand one behind the other. */
void dense_invoke(int num, void (*func)(void *), void *args, size_t size);

/* Memory with zeros. */
void *dense_get(size_t num, size_t size);

/* A number from -1 to 1. */
double dense_draw(void);

long dense_count_different(const double *got, const double *expected, long num);

#endif
