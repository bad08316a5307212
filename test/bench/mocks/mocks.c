/* SPDX-License-Identifier: BSD-3-Clause */
#include "mocks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ABT_xstream streams[MOCK_MAX_STREAMS];
static ABT_pool pools[MOCK_MAX_STREAMS];
static int num;

static void check(int code)
{
    if (code != ABT_SUCCESS)
        abort();
}

void mock_start(const char *variable)
{
    const char *text = getenv(variable);
    num = text ? atoi(text) : 1;
    if (num < 1 || num > MOCK_MAX_STREAMS)
        abort();
    check(ABT_init(0, NULL));
    for (int i = 0; i < num; i++)
        check(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    for (int i = 0; i < num; i++) {
        ABT_pool order[MOCK_MAX_STREAMS];
        for (int k = 0; k < num; k++)
            order[k] = pools[(i + k) % num];
        if (i > 0) {
            check(ABT_xstream_create_basic(ABT_SCHED_RANDWS, num, order, ABT_SCHED_CONFIG_NULL, &streams[i]));
        } else {
            check(ABT_xstream_self(&streams[0]));
            check(ABT_xstream_set_main_sched_basic(streams[0], ABT_SCHED_RANDWS, num, order));
        }
    }
}

static int rank(void)
{
    int mine;
    check(ABT_self_get_xstream_rank(&mine));
    return mine;
}

/* The calling ULT may have come to another stream: it goes home by yielding. */
static void go_home(void)
{
    while (rank() != 0)
        check(ABT_thread_yield());
}

void mock_stop(void)
{
    for (int i = 1; i < num; i++) {
        go_home();
        check(ABT_xstream_free(&streams[i]));
    }
    go_home();
    check(ABT_finalize());
}

void mock_create(void (*func)(void *), void *arg, ABT_thread *ult)
{
    check(ABT_thread_create(pools[rank()], func, arg, ABT_THREAD_ATTR_NULL, ult));
}

void mock_fault(const char *name)
{
    const char *wanted = getenv("MOCK_FAULT");
    if (!wanted || strcmp(wanted, name) != 0)
        return;
    if (strcmp(name, "crash") == 0)
        abort();
    for (;;)
        pause();
}
