/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

static void check_codes(enum caller who, void *arg)
{
    ABT_xstream_barrier barrier = UNTOUCHED(ABT_xstream_barrier);

    if (!ABT_NULL) {
        ok_err(ABT_xstream_barrier_create(0, &barrier), ABT_ERR_INV_ARG);
        is_ptr(barrier, ver20 ? UNTOUCHED(ABT_xstream_barrier) : ABT_XSTREAM_BARRIER_NULL, "after an error");
    }
    barrier = UNTOUCHED(ABT_xstream_barrier);
    ok_abt(ABT_xstream_barrier_create(1, &barrier));
    ok(barrier != UNTOUCHED(ABT_xstream_barrier) && barrier != ABT_XSTREAM_BARRIER_NULL, "a barrier");
    ok_abt(ABT_xstream_barrier_wait(barrier));
    ok_abt(ABT_xstream_barrier_wait(barrier));
    ok_abt(ABT_xstream_barrier_free(&barrier));
    is_ptr(barrier, ABT_XSTREAM_BARRIER_NULL, "null after free");
}

/* One waits for the other, whoever they are. */
struct passage {
    ABT_xstream_barrier barrier;
    atomic_int stage;
};

static void pass_barrier(void *arg)
{
    struct passage *p = arg;

    atomic_store(&p->stage, 1);
    must(ABT_xstream_barrier_wait(p->barrier));
    atomic_store(&p->stage, 2);
}

static void test_two(void)
{
    struct passage p = {.stage = 0};
    struct activity a;

    must(ABT_xstream_barrier_create(2, &p.barrier));
    start(&a, EXTERNAL, pass_barrier, &p);
    wait_for(atomic_load(&p.stage) >= 1);
    nap_ms(5);
    is_int(atomic_load(&p.stage), 1, "one waits");
    must(ABT_xstream_barrier_wait(p.barrier));
    finish(&a);
    is_int(atomic_load(&p.stage), 2, "for the other");
    must(ABT_xstream_barrier_free(&p.barrier));
}

/* --- Rounds --- */

enum { MAX_GROUP = 16, ROUNDS = 300 };

struct group {
    ABT_xstream_barrier barrier;
    int num;
    atomic_int arrived[ROUNDS];
    atomic_int freed;
};

static void join_group(void *arg)
{
    struct group *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&c->arrived[i], 1);
        ABT_xstream_barrier_wait(c->barrier);
        if (atomic_load(&c->arrived[i]) != c->num)
            fail("round %d: %d of %d", i, atomic_load(&c->arrived[i]), c->num);
    }
    /* The first one out frees it, while others may be on their way. */
    if (atomic_fetch_add(&c->freed, 1) == 0)
        ABT_xstream_barrier_free(&c->barrier);
}

/* One ULT or tasklet per stream, and external threads. */
static void test_group(int num)
{
    struct group c = {.num = num};
    struct activity a[MAX_GROUP];
    ABT_xstream es[MAX_GROUP];

    must(ABT_xstream_barrier_create((uint32_t)num, &c.barrier));
    for (int i = 0; i < num; i++) {
        enum caller who = i % 3 == 0 ? SECONDARY_ULT : i % 3 == 1 ? EXTERNAL : TASKLET;
        es[i] = who == EXTERNAL ? ABT_XSTREAM_NULL : new_xstream();
        start_in(&a[i], who, es[i], join_group, &c);
    }
    for (int i = 0; i < num; i++) {
        finish(&a[i]);
        if (es[i] != ABT_XSTREAM_NULL)
            must(ABT_xstream_free(&es[i]));
    }
    pass("%d rounds of %d", ROUNDS, num);
}

/* More threads than meet in a round: any that are there make one up. */
struct turnstile {
    ABT_xstream_barrier barrier;
    atomic_int through;
};

static void pass_through(void *arg)
{
    struct turnstile *t = arg;

    for (int i = 0; i < ROUNDS; i++) {
        ABT_xstream_barrier_wait(t->barrier);
        atomic_fetch_add(&t->through, 1);
    }
}

static int num_done(struct activity *a, int num)
{
    int done = 0;

    for (int i = 0; i < num; i++)
        done += atomic_load(&a[i].done);
    return done;
}

static void test_turnstile(void)
{
    enum { NUM = 8 };
    struct turnstile t = {.through = 0};
    struct activity a[NUM];
    int through, helped = 0;

    must(ABT_xstream_barrier_create(2, &t.barrier));
    for (int i = 0; i < NUM; i++)
        start(&a[i], EXTERNAL, pass_through, &t);
    wait_for(num_done(a, NUM) >= NUM - 1);
    /* The last one meets us, for as long as it comes: both have come out of the last round, and there are more. */
    while ((through = atomic_load(&t.through)) < NUM * ROUNDS) {
        if ((through + helped) % 2 == 0) {
            must(ABT_xstream_barrier_wait(t.barrier));
            helped++;
        }
    }
    for (int i = 0; i < NUM; i++)
        finish(&a[i]);
    is_int(atomic_load(&t.through), NUM * ROUNDS, "everybody got through, %d times with our help", helped);
    ok_abt(ABT_xstream_barrier_free(&t.barrier));
}

int main(void)
{
    check_codes(EXTERNAL, NULL); /* before ABT_init */
    must(ABT_init(0, NULL));
    call_as_each(check_codes, NULL);
    test_two();
    test_group(2);
    test_group(5);
    test_group(MAX_GROUP);
    test_turnstile();
    must(ABT_finalize());
    return done_testing();
}
