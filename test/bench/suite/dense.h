/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works on arrays as they are found in programs: sorting, matrices, a stencil, a transform. Each is cut into parts of
 * some microseconds, and says which of them may run side by side. How they do so is the runtime's: so all runtimes, and
 * none, are measured with the same code. The answers are compared with those of a plain program of a few lines.
 */
#ifndef ABT_TEST_BENCH_DENSE_H
#define ABT_TEST_BENCH_DENSE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dense_runtime {
    /* Calls funcs[i](args[i]) of all i < num. */
    void (*invoke)(int num, void (*const *funcs)(void *), void *const *args);
    /* Calls body on parts of [begin, end) of about `grain` elements. */
    void (*loop)(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain, void (*body)(ptrdiff_t, ptrdiff_t, void *),
                 void *arg);
};

/* One after the other. */
extern const struct dense_runtime dense_sequential;

enum dense_work { DENSE_MERGESORT, DENSE_MATMUL, DENSE_HEAT, DENSE_FFT };

/* Makes the input of a work, and its answer by the plain program. */
void dense_make(enum dense_work work, int quick);
void dense_free(void);

/* Does the work. The input stays as it is. */
void dense_do(const struct dense_runtime *runtime);

/* How many parts of what came out of it are not like the answer. */
long dense_errors(void);

#ifdef __cplusplus
}
#endif

#endif
