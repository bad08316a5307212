/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a runtime hang its context on units, at the price of a load? By slots: two words in each unit. New units may
 * inherit them from their maker, so that a request keeps its context, whatever it starts. (Two runtimes in one program
 * agree who takes which. Keys have destructors, and there may be any number of them: keys.c.)
 *
 *   cc slots.c $(pkg-config --cflags --libs argobots) -o slots
 */
#include <abt.h>
#include <stdio.h>

enum { REQUESTS = 3, HELPERS = 4, SLOT = 0 };

struct request {
    int number, calls;
};

/* Somewhere deep in a library that knows of no request. */
static void counts_a_call(void)
{
    void *request;
    if (ABTX_self_get_slot(SLOT, &request) == ABT_SUCCESS && request)
        ((struct request *)request)->calls++;
}

static void helps(void *arg)
{
    (void)arg;
    counts_a_call();
}

static void serves(void *arg)
{
    struct request *request = arg;
    void *volatile *place;
    ABT_pool pool;
    ABT_thread helpers[HELPERS];

    ABTX_self_set_slot(SLOT, request);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < HELPERS; i++)
        ABT_thread_create(pool, helps, NULL, ABT_THREAD_ATTR_NULL, &helpers[i]); /* they inherit the slot */
    for (int i = 0; i < HELPERS; i++)
        ABT_thread_free(&helpers[i]);
    counts_a_call();
    /* For the hot path: the address of the word, good for the whole life of the unit, on any stream. */
    ABTX_self_get_slot_place(SLOT, &place);
    ((struct request *)*place)->calls++;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread units[REQUESTS];
    struct request requests[REQUESTS];
    void *seen = NULL;
    int wrong = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABTX_slot_set_inherited(SLOT, ABT_TRUE);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < REQUESTS; i++) {
        requests[i].number = i;
        requests[i].calls = 0;
        ABT_thread_create(pool, serves, &requests[i], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        ABT_thread_join(units[i]);
        /* Others may look, and set: a monitor that says for whom a unit works. */
        ABTX_thread_get_slot(units[i], SLOT, &seen);
        wrong += seen != &requests[i] || requests[i].calls != HELPERS + 2;
        printf("request %d: %d calls\n", ((struct request *)seen)->number, requests[i].calls);
        ABTX_thread_set_slot(units[i], SLOT, NULL);
        ABT_thread_free(&units[i]);
    }
    ABT_finalize();
    return wrong;
}
