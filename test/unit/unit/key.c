/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "mem/slab.h"
#include "rt/rt.h"
#include "stream/reclaim.h"
#include "tap.h"
#include "unit/key.h"

enum { NUM_THREADS = 4, NUM_KEYS = 64 };

static char order[256];

/* Values are texts; a destructor writes down whose turn it is. */
static void note(void *value)
{
    strcat(order, value);
}

static const char *destroy(struct abti_ktable *table)
{
    order[0] = '\0';
    abti_ktable_destroy_all(table);
    return order;
}

/* The order the contract tells for the first keys of a process; hence this comes first. */
static void test_order(void)
{
    static char *const names[] = {"1", "2", "3", "4", "5"};
    struct ABT_key_opaque keys[5];
    struct abti_ktable *table = abti_ktable_create(4);
    bool good = table != NULL;

    for (int i = 0; i < 5; i++) {
        abti_key_init(&keys[i], note);
        good &= abti_ktable_set(table, &keys[i], names[i]) == 0;
    }
    ok(good, "five keys set");
    is_int(keys[0].id, 2, "the first key has number 2");
    is_str(destroy(table), "34152", "by bucket, then by first set");

    table = abti_ktable_create(1);
    for (int i = 4; i >= 0; i--)
        good &= abti_ktable_set(table, &keys[i], names[i]) == 0;
    good &= abti_ktable_set(table, &keys[4], "x") == 0;
    ok(good, "set in reverse, in one bucket, one twice");
    is_str(destroy(table), "x4321", "the first set gives the place, the last one the value");
}

static void test_values(void)
{
    struct ABT_key_opaque with, without, gone, never;
    struct abti_ktable *table = abti_ktable_create(4);
    char a[] = "a", b[] = "b";

    abti_key_init(&with, note);
    abti_key_init(&without, NULL);
    abti_key_init(&gone, note);
    abti_key_init(&never, note);
    ok(!abti_ktable_get(table, &with), "not set");
    ok(!abti_ktable_get(NULL, &with), "no table");
    is_int(abti_ktable_set(table, &with, a), 0, "set");
    is_int(abti_ktable_set(table, &without, b), 0, "set without a destructor");
    is_int(abti_ktable_set(table, &gone, a), 0, "set, and");
    is_int(abti_ktable_set(table, &gone, NULL), 0, "taken back");
    ok(abti_ktable_get(table, &with) == a && abti_ktable_get(table, &without) == b, "values come back");
    ok(!abti_ktable_get(table, &gone) && !abti_ktable_get(table, &never), "NULL does, too");
    is_str(destroy(table), "a", "only a value with a destructor is destroyed");
    abti_ktable_destroy_all(NULL);
    pass("no table to destroy");
}

static struct abti_ktable *shared;
static struct ABT_key_opaque keys[NUM_KEYS];

/* Sets a key while the table is being destroyed, in a bucket that was passed and in one to come. */
static void meddle(void *value)
{
    strcat(order, value);
    if (abti_ktable_set(shared, &keys[0], "late") || abti_ktable_set(shared, &keys[1], "soon"))
        strcat(order, "!");
}

static void test_meddling(void)
{
    struct ABT_key_opaque key;

    /* Numbers are taken until keys[0] is in the bucket before key and keys[1] in the one behind. */
    do {
        abti_key_init(&keys[0], note);
    } while (keys[0].id % 4 != 0);
    abti_key_init(&key, meddle);
    abti_key_init(&keys[1], NULL);
    shared = abti_ktable_create(4);
    is_int(abti_ktable_set(shared, &key, "m"), 0, "a destructor that sets values");
    is_str(destroy(shared), "m", "what it sets behind the walk is left alone");
}

static void *set_all(void *arg)
{
    static _Atomic(struct abti_ktable *) slot;
    struct abti_ktable *table = abti_ktable_obtain(&slot, 4);

    for (int i = 0; i < NUM_KEYS; i++) {
        int k = (i * 7 + (int)(intptr_t)arg * 13) % NUM_KEYS;
        if (abti_ktable_set(table, &keys[k], "+") != 0 || !abti_ktable_get(table, &keys[k]))
            return NULL;
    }
    return table;
}

static void test_threads(void)
{
    pthread_t threads[NUM_THREADS];
    void *tables[NUM_THREADS];
    bool good = true;

    for (int i = 0; i < NUM_KEYS; i++)
        abti_key_init(&keys[i], note);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_create(&threads[i], NULL, set_all, (void *)(intptr_t)i);
    for (int i = 0; i < NUM_THREADS; i++) {
        pthread_join(threads[i], &tables[i]);
        good &= tables[i] && tables[i] == tables[0];
    }
    ok(good, "threads race for one table and its keys");
    is_int(strlen(destroy(tables[0])), NUM_KEYS, "each key is there once");
}

/* Tables that a block has no room for, and more values than a page holds. */
static void test_large(void)
{
    struct abti_ktable *table = abti_ktable_create(1024);
    bool good = table != NULL;

    for (int i = 0; i < NUM_KEYS; i++)
        good &= abti_ktable_set(table, &keys[i], "+") == 0;
    ok(good, "a table of 1024 buckets");
    is_int(strlen(destroy(table)), NUM_KEYS, "each key is there once");
}

/* What one has left is not seen by the next. */
static void test_again(void)
{
    bool good = true;

    for (int round = 0; round < 1000; round++) {
        struct abti_ktable *table = abti_ktable_create(4);
        for (int i = round % 7; i < NUM_KEYS; i += 1 + round % 5)
            good &= !abti_ktable_get(table, &keys[i]) && !abti_ktable_set(table, &keys[i], "+");
        order[0] = '\0';
        abti_ktable_destroy_all(table);
    }
    ok(good, "tables are empty whenever they are made");
}

int main(void)
{
    abti_ktables_init(4, SIZE_MAX, abti_reclaim_watch);
    test_order();
    test_values();
    test_meddling();
    test_threads();
    test_large();
    test_again();
    abti_lazycache_fini(&abti_rt.external_ktables);
    abti_slab_fini(&abti_rt.ktable_slab);
    return done_testing();
}
