/* SPDX-License-Identifier: BSD-3-Clause */
#include <abt.h>

#include "pool_test.h"

enum { NEW = ABT_POOL_CONTEXT_OP_THREAD_CREATE, BACK = ABT_POOL_CONTEXT_OP_THREAD_YIELD };
enum { OWNER = ABT_POOL_CONTEXT_OWNER_PRIMARY, THIEF = ABT_POOL_CONTEXT_OWNER_SECONDARY };

static void test_ends(abti_pool *pool)
{
    is_str(content(pool), "", "empty");
    is_int(pop(pool, OWNER), -1, "nothing for the owner");
    is_int(pop(pool, THIEF), -1, "nothing for a thief");
    push(pool, 0, NEW);
    push(pool, 1, NEW);
    push(pool, 2, BACK);
    push(pool, 3, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    push(pool, 4, ABT_POOL_CONTEXT_OP_THREAD_REVIVE);
    is_str(content(pool), "41023", "new ones go to the head, others to the tail");
    is_int(pop(pool, OWNER), 4, "the owner takes the head");
    is_int(pop(pool, THIEF), 3, "a thief the tail");
    is_int(pop(pool, 0), 1, "anybody else the head");
    is_int(pool->ops->remove(pool, &units[0]), ABT_SUCCESS, "removes the head");
    is_int(pool->ops->remove(pool, &units[0]), ABT_ERR_POOL, "which is there no more");
    is_str(content(pool), "2", "one is left");
    is_int(pop(pool, THIEF), 2, "for the thief");
}

/* Against a plain model, through several sizes of the ring and round its end. */
static void test_model(abti_pool *pool)
{
    static int model[2 * NUM_UNITS], free_units[NUM_UNITS];
    int head = NUM_UNITS, size = 0, num_free = NUM_UNITS;
    uint32_t random = 12345;
    bool good = true;
    for (int i = 0; i < NUM_UNITS; i++)
        free_units[i] = i;
    for (int i = 0; i < 200000 && good; i++) {
        random = random * 1664525 + 1013904223;
        unsigned dice = random >> 24;
        bool grow = (i / 20000) % 2 == 0;
        if (num_free > 0 && head > 0 && head + size < 2 * NUM_UNITS && dice < (grow ? 150u : 100u)) {
            int number = free_units[--num_free];
            bool to_head = random & 0x10000;
            push(pool, number, to_head ? NEW : BACK);
            if (to_head)
                model[--head] = number;
            else
                model[head + size] = number;
            size++;
        } else if (size > 0) {
            bool thief = random & 0x20000;
            int expected = thief ? model[head + size - 1] : model[head++];
            size--;
            good = pop(pool, thief ? THIEF : OWNER) == expected;
            free_units[num_free++] = expected;
            if (size == 0)
                head = NUM_UNITS;
        }
        good = good && pool->ops->size(pool) == (size_t)size;
    }
    ok(good, "as the model says");
    while (pop(pool, OWNER) >= 0)
        ;
}

static void test_remove(abti_pool *pool)
{
    bool good = true;
    for (int i = 0; i < 600; i++)
        push(pool, i, i & 1 ? NEW : BACK);
    for (int i = 0; i < 600; i += 3)
        good = good && pool->ops->remove(pool, &units[i]) == ABT_SUCCESS;
    ok(good, "removes every third");
    is_int(pool->ops->size(pool), 400, "the others stay");
    int previous = -1;
    for (int n; (n = pop(pool, OWNER)) >= 0; previous = n)
        good = good && n % 3 != 0 && n != previous;
    ok(good, "and come out");
}

int main(void)
{
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    abti_pool *pool = new_pool(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC);
    test_ends(pool);
    test_model(pool);
    test_remove(pool);
    test_threads(pool);
    abti_pool_destroy(pool);
    ABT_finalize();
    return done_testing();
}
