/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_word_wait, ABTX_word_wake: waits for words, of units and native threads. */
#include "sync.h"

/* --- One waiter --- */

struct wait {
    _Atomic(uint32_t) word;
    uint32_t num;
    ABT_bool block_native;
    ABT_bool (*look)(void *arg);
    int plain; /* what the waker has done before */
};

static void await(void *arg)
{
    struct wait *w = arg;

    must(ABTX_word_wait(&w->word, 0, w->num, w->block_native, w->look, w));
    is_int(w->plain, 1, "what was done before the change is seen");
}

static void change(struct wait *w, uint32_t value)
{
    w->plain = 1;
    atomic_store(&w->word, value);
    must(ABTX_word_wake(&w->word, UINT32_MAX));
}

static void test_one(enum caller who, uint32_t num, ABT_bool block_native)
{
    struct wait w = {.num = num, .block_native = block_native};
    struct activity a;

    start(&a, who, await, &w);
    if (block_native)
        nap_ms(20);
    else
        wait_until_asleep(&a);
    ok(!atomic_load(&a.done), "%s waits while the word is unchanged", caller_names[who]);
    must(ABTX_word_wake(&w.word, 1));
    nap_ms(5);
    ok(!atomic_load(&a.done), "a wake without a change ends no wait");
    change(&w, 7);
    finish(&a);
    pass("%s, one of %u, goes on", caller_names[who], (unsigned)num);
}

static void check_codes(enum caller who, void *arg)
{
    uint32_t word = 1;

    ok_abt(ABTX_word_wait(&word, 0, 0, ABT_FALSE, NULL, NULL));
    ok_abt(ABTX_word_wait(&word, 2, 1000, ABT_TRUE, NULL, NULL));
    ok_abt(ABTX_word_wake(&word, 1));
    if (ABT_NULL)
        return;
    ok_err(ABTX_word_wait(NULL, 0, 0, ABT_FALSE, NULL, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_word_wait((char *)&word + 1, 0, 0, ABT_FALSE, NULL, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_word_wake(NULL, 1), ABT_ERR_INV_ARG);
    ok_err(ABTX_word_wake((char *)&word + 2, 1), ABT_ERR_INV_ARG);
}

/* --- What blocks --- */

static atomic_int others;

static void run_once(void *arg)
{
    atomic_fetch_add(&others, 1);
}

/* Whether another ULT of the stream runs while one waits. */
static void test_stream(ABT_bool block_native)
{
    struct wait w = {.block_native = block_native};
    struct activity waiter, other;

    atomic_store(&others, 0);
    start(&waiter, SECONDARY_ULT, await, &w);
    nap_ms(20); /* it waits, or will before it gives way */
    start(&other, SECONDARY_ULT, run_once, NULL);
    if (block_native) {
        nap_ms(20);
        is_int(atomic_load(&others), 0, "a ULT that blocks its stream lets no other run");
    } else {
        wait_for(atomic_load(&others) == 1);
        pass("a ULT that is suspended lets others run");
    }
    change(&w, 1);
    finish(&waiter);
    finish(&other);
}

/* --- Looks --- */

static atomic_int looks;

/* Changes the word itself, as the hundredth thing that it does. */
static ABT_bool look_and_change(void *arg)
{
    struct wait *w = arg;

    if (atomic_fetch_add(&looks, 1) == 99)
        change(w, 1);
    return ABT_TRUE;
}

static ABT_bool look_for_nothing(void *arg)
{
    atomic_fetch_add(&looks, 1);
    return ABT_FALSE;
}

static void test_looks(enum caller who, ABT_bool block_native)
{
    struct wait w = {.block_native = block_native, .look = look_and_change};
    struct activity a;

    atomic_store(&looks, 0);
    start(&a, who, await, &w);
    finish(&a);
    ok(atomic_load(&looks) >= 100, "%s looks as long as there is something to do", caller_names[who]);
    w = (struct wait){.block_native = block_native, .look = look_for_nothing};
    atomic_store(&looks, 0);
    start(&a, who, await, &w);
    wait_for(atomic_load(&looks) > 0);
    int before;
    int naps = 0;
    do { /* until it sleeps: never where waits are active, nor where the system refuses to let it sleep on a word */
        before = atomic_load(&looks);
        nap_ms(20);
    } while (atomic_load(&looks) != before && ++naps < 50);
    /* A wake without a change may be missed. */
    wait_for((ABTX_word_wake(&w.word, 1), atomic_load(&looks) != before));
    pass("%s looks again after a wake", caller_names[who]);
    change(&w, 1);
    finish(&a);
}

/* --- Many --- */

enum { MANY = 12, OTHERS = 300 };

struct group {
    _Atomic(uint32_t) word;
    atomic_int gone, present;
};

static void join_group(void *arg)
{
    struct group *c = arg;

    atomic_fetch_add(&c->present, 1);
    while (atomic_load(&c->word) == 0)
        must(ABTX_word_wait(&c->word, 0, MANY, ABT_FALSE, NULL, NULL));
    atomic_fetch_add(&c->gone, 1);
}

/* ULTs and native threads of one word, beside ULTs that wait for other words, some of which share a bucket with it. */
static void test_many(void)
{
    static struct wait other[OTHERS];
    static struct activity aside[OTHERS], a[MANY];
    struct group c = {.word = 0};

    for (int i = 0; i < OTHERS; i++) {
        other[i] = (struct wait){.word = 0};
        start(&aside[i], PLAIN_ULT, await, &other[i]);
    }
    for (int i = 0; i < MANY; i++)
        start(&a[i], i % 3 == 0 ? EXTERNAL : PLAIN_ULT, join_group, &c);
    wait_for(atomic_load(&c.present) == MANY);
    for (int i = 0; i < MANY; i++)
        wait_until_asleep(&a[i]);
    atomic_store(&c.word, 1);
    for (int i = 0; i < MANY; i++)
        must(ABTX_word_wake(&c.word, 1));
    wait_for(atomic_load(&c.gone) == MANY);
    for (int i = 0; i < MANY; i++)
        finish(&a[i]);
    int done = 0;
    for (int i = 0; i < OTHERS; i++)
        done += atomic_load(&aside[i].done);
    is_int(done, 0, "waiters of other words are not woken");
    for (int i = 0; i < OTHERS; i++) {
        change(&other[i], 1);
        finish(&aside[i]);
    }
}

/* One wake, for one of the ULTs. */
static void test_wake_one(void)
{
    struct group c = {.word = 0};
    struct activity a[3];

    for (int i = 0; i < 3; i++)
        start(&a[i], PLAIN_ULT, join_group, &c);
    for (int i = 0; i < 3; i++)
        wait_until_asleep(&a[i]);
    atomic_store(&c.word, 1);
    must(ABTX_word_wake(&c.word, 1));
    wait_for(atomic_load(&c.gone) == 1);
    yield_a_while();
    is_int(atomic_load(&c.gone), 1, "a wake for one wakes one");
    ok(atomic_load(&a[0].done), "it is the first that has come");
    must(ABTX_word_wake(&c.word, 1));
    wait_for(atomic_load(&c.gone) == 2);
    must(ABTX_word_wake(&c.word, UINT32_MAX));
    for (int i = 0; i < 3; i++)
        finish(&a[i]);
}

/* --- Without the runtime --- */

static void test_native(void)
{
    struct wait w = {.num = 2};
    struct activity a;

    start(&a, EXTERNAL, await, &w);
    nap_ms(5);
    change(&w, 1);
    while (!atomic_load(&a.done))
        nap_ms(1);
    must(pthread_join(a.native, NULL));
    pass("native threads wait without ABT_init");
}

int main(void)
{
    test_native();
    sync_init();
    call_as_each(check_codes, NULL);
    for (int who = PLAIN_ULT; who < NUM_CALLERS; who++) {
        for (ABT_bool block_native = 0; block_native < 2; block_native++) {
            if (who == PLAIN_ULT && block_native)
                continue; /* nobody would be left to change the word */
            test_one((enum caller)who, 0, block_native);
            test_one((enum caller)who, 2, block_native);
            test_one((enum caller)who, 1000, block_native);
            test_looks((enum caller)who, block_native);
        }
    }
    test_stream(ABT_FALSE);
    test_stream(ABT_TRUE);
    test_many();
    test_wake_one();
    sync_fini();
    return done_testing();
}
