/* SPDX-License-Identifier: BSD-3-Clause */
/* What both mocks share: streams that steal from each other, and faults that a test asks for. */
#ifndef ABT_TEST_BENCH_MOCKS_H
#define ABT_TEST_BENCH_MOCKS_H

#include <abt.h>

enum { MOCK_MAX_STREAMS = 64 };

struct mock_thread {
    ABT_thread ult;
};

/* As many streams as the variable of the environment says. */
void mock_start(const char *variable);
void mock_stop(void);

/* A ULT in the pool of the calling stream. */
void mock_create(void (*func)(void *), void *arg, ABT_thread *ult);

/* MOCK_FAULT=crash or hang in the environment: this thread does. */
void mock_fault(const char *name);

#endif
