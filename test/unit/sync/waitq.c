/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/waitq.h"
#include "tap.h"

enum { NUM = 5 };

static struct abti_waiter w[NUM];
static struct abti_waitq q;

static void fill(void)
{
    for (int i = 0; i < NUM; i++) {
        atomic_init(&w[i].claim, ABTI_CLAIM_NONE);
        abti_waitq_push(&q, &w[i]);
    }
}

static void test_order(void)
{
    ok(abti_waitq_is_empty(&q), "zeroed memory is empty");
    is_ptr(abti_waitq_pop(&q), NULL, "nobody");
    fill();
    ok(!abti_waitq_is_empty(&q), "not empty");
    for (int i = 0; i < NUM; i++)
        is_ptr(abti_waitq_pop(&q), &w[i], "first in, first out");
    ok(abti_waitq_is_empty(&q), "empty again");
    abti_waitq_push_front(&q, &w[0]);
    abti_waitq_push(&q, &w[1]);
    abti_waitq_push_front(&q, &w[2]);
    is_ptr(abti_waitq_pop(&q), &w[2], "the one that was put in front");
    is_ptr(abti_waitq_pop(&q), &w[0], "the one that was put in front before");
    is_ptr(abti_waitq_pop(&q), &w[1], "the last one");
}

static void test_remove(void)
{
    static const int order[NUM] = {2, 0, 4, 1, 3};

    for (int n = 1; n <= NUM; n++) {
        fill();
        for (int i = 0; i < n; i++)
            abti_waitq_remove(&q, &w[order[i]]);
        abti_waitq_remove(&q, &w[order[0]]); /* it is not there */
        for (int i = 0; i < NUM; i++) {
            bool gone = false;
            for (int j = 0; j < n; j++)
                gone |= order[j] == i;
            if (!gone)
                is_ptr(abti_waitq_pop(&q), &w[i], "%d of %d removed: %d is next", n, NUM, i);
        }
        ok(abti_waitq_is_empty(&q), "empty");
    }
}

static void test_claims(void)
{
    fill();
    atomic_store(&w[0].claim, ABTI_CLAIM_TAKEN); /* its time is up */
    atomic_store(&w[1].claim, ABTI_CLAIM_OPEN);
    is_ptr(abti_waitq_take(&q), &w[1], "who waits no more is passed over");
    is_int(atomic_load(&w[1].claim), ABTI_CLAIM_TAKEN, "claimed");
    atomic_store(&w[3].claim, ABTI_CLAIM_TAKEN);
    is_ptr(abti_waitq_take(&q), &w[2], "the next one");
    is_ptr(abti_waitq_take(&q), &w[4], "a waiter behind it is passed over");
    is_ptr(abti_waitq_take(&q), NULL, "nobody");
    ok(abti_waitq_is_empty(&q), "empty");
    abti_waitq_remove(&q, &w[3]);
    ok(abti_waitq_is_empty(&q), "who was passed over may be removed once more");
}

int main(void)
{
    test_order();
    test_remove();
    test_claims();
    return done_testing();
}
