/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the built-in pools share: units by number, and what a pool holds as a text of digits. */
#ifndef TEST_UNIT_POOL_POOL_TEST_H
#define TEST_UNIT_POOL_POOL_TEST_H

#include <pthread.h>

#include "pool/blocked.h"
#include "pool/pool_impl.h"
#include "stream/park.h"
#include "tap.h"

enum { NUM_UNITS = 3000 };

static abti_unit units[NUM_UNITS];

static inline abti_pool *new_pool(ABT_pool_kind kind, ABT_pool_access access)
{
    abti_pool *pool;

    if (abti_pool_create_basic(kind, access, false, &pool) != ABT_SUCCESS)
        bail_out("no pool");
    for (int i = 0; i < NUM_UNITS; i++)
        units[i].pool = pool;
    return pool;
}

static inline void push(abti_pool *pool, int number, ABT_pool_context context)
{
    abti_pool_push(pool, &units[number], context);
}

/* Its number, or -1. */
static inline int pop(abti_pool *pool, ABT_pool_context context)
{
    abti_unit *unit = abti_pool_pop(pool, context);

    return unit ? (int)(unit - units) : -1;
}

static inline void append_digit(void *text, abti_unit *unit)
{
    size_t n = strlen(text);

    ((char *)text)[n] = (char)('0' + (unit - units));
    ((char *)text)[n + 1] = '\0';
}

static inline const char *content(abti_pool *pool)
{
    static char text[NUM_UNITS + 1];

    text[0] = '\0';
    pool->ops->print_all(pool, text, append_digit);
    return strlen(text) == pool->ops->size(pool) && (text[0] == '\0') == pool->ops->is_empty(pool) ? text : "size";
}

/* --- Several threads push and pop: every unit comes out once --- */

enum { NUM_THREADS = 4, PASSES = 100000 };

static abti_pool *shared;
static atomic_char held[NUM_UNITS]; /* popped and not pushed again */
static atomic_int errors;

static inline void *push_and_pop(void *context)
{
    for (int i = 0; i < PASSES / NUM_THREADS; i++) {
        int number = pop(shared, i & 1 ? ABT_POOL_CONTEXT_OWNER_PRIMARY : ABT_POOL_CONTEXT_OWNER_SECONDARY);
        if (number < 0)
            continue;
        if (atomic_exchange(&held[number], 1))
            atomic_fetch_add(&errors, 1);
        atomic_store(&held[number], 0);
        push(shared, number, (ABT_pool_context)(uintptr_t)context);
    }
    return NULL;
}

static inline void test_threads(abti_pool *pool)
{
    static const ABT_pool_context contexts[] = {ABT_POOL_CONTEXT_OP_THREAD_CREATE, ABT_POOL_CONTEXT_OP_THREAD_YIELD,
                                                ABT_POOL_CONTEXT_OP_THREAD_RESUME, 0};
    pthread_t threads[NUM_THREADS];
    int num = 0;

    shared = pool;
    for (int i = 0; i < 20; i++)
        push(pool, i, 0);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_create(&threads[i], NULL, push_and_pop, (void *)(uintptr_t)contexts[i]);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&errors), 0, "no unit is popped twice");
    while (pop(pool, 0) >= 0)
        num++;
    is_int(num, 20, "and none is lost");
}

#endif
