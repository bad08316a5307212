/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a benchmark whose call of the library has failed: what it says would be about something else. */
#ifndef ABT_TEST_BENCH_CHECK_H
#define ABT_TEST_BENCH_CHECK_H

#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != ABT_SUCCESS) {                                                                                    \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, code_);                                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
