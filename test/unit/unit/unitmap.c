/* SPDX-License-Identifier: BSD-3-Clause */
#include <abt.h>
#include <pthread.h>

#include "tap.h"
#include "unit/unit.h"
#include "unit/unitmap.h"

enum { NUM = 20000, NUM_THREADS = 4 };

static abti_unit *units[NUM];

/* Handles as users make them: addresses, two low bits clear, some close together. */
static ABT_unit handle_of(int i)
{
    return (ABT_unit)(uintptr_t)(0x10000 + (uintptr_t)i * 8);
}

static void add(int i)
{
    abti_unit_cold_get(units[i])->unit = handle_of(i);
    abti_unitmap_add(units[i]);
}

static void test_many(void)
{
    bool found = true;

    for (int i = 0; i < NUM; i++)
        add(i);
    for (int i = 0; i < NUM; i++)
        found = found && abti_unitmap_find(handle_of(i)) == units[i];
    ok(found, "%d handles are found", NUM);
    for (int i = 0; i < NUM; i += 2)
        abti_unitmap_remove(units[i]);
    found = true;
    for (int i = 1; i < NUM; i += 2)
        found = found && abti_unitmap_find(handle_of(i)) == units[i];
    ok(found, "when every other is gone, too");
    for (int i = 1; i < NUM; i += 2)
        abti_unitmap_remove(units[i]);
}

/* A handle that is the work unit itself needs no entry. */
static void test_own_handle(void)
{
    abti_unit_cold_get(units[0])->unit = (ABT_unit)units[0];
    abti_unitmap_add(units[0]);
    is_ptr(abti_unitmap_find((ABT_unit)units[0]), units[0], "a unit that is its own handle");
    abti_unitmap_remove(units[0]);
    is_ptr(abti_unitmap_find((ABT_unit)units[0]), units[0], "is found anyway");
}

static atomic_int wrong;

static void *come_and_go(void *number)
{
    int first = (int)(intptr_t)number;

    for (int round = 0; round < 5; round++) {
        for (int i = first; i < NUM; i += NUM_THREADS)
            add(i);
        for (int i = first; i < NUM; i += NUM_THREADS) {
            if (abti_unitmap_find(handle_of(i)) != units[i])
                atomic_fetch_add(&wrong, 1);
            abti_unitmap_remove(units[i]);
        }
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[NUM_THREADS];

    for (int i = 0; i < NUM_THREADS; i++)
        pthread_create(&threads[i], NULL, come_and_go, (void *)(intptr_t)i);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&wrong), 0, "%d threads", NUM_THREADS);
}

int main(void)
{
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    for (int i = 0; i < NUM; i++) {
        units[i] = abti_unit_alloc_external();
        abti_unit_init(units[i], NULL, NULL, NULL, ABTI_UNIT_NAMED);
    }
    test_many();
    test_own_handle();
    test_threads();
    for (int i = 0; i < NUM; i++)
        abti_unit_release_external(units[i]);
    ABT_finalize();
    return done_testing();
}
