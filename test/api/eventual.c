/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

/* Static storage that is aligned as little as it may be. */
static struct {
    _Alignas(8) int before;
    ABT_eventual_memory eventual;
} memory = {1, ABT_EVENTUAL_INITIALIZER};

/* --- Alone --- */

static void check_value(enum caller who, void *arg)
{
    ABT_eventual eventual = ABT_EVENTUAL_NULL;
    ABT_bool ready = 7;
    char text[8] = "1234567";
    void *value = UNTOUCHED(void *), *again = NULL;
    int code = may_wait(who) ? ABT_SUCCESS : ABT_ERR_EVENTUAL;
    struct timespec past = in_ms(-1000);

    ok_abt(ABT_eventual_create(sizeof(text), &eventual));
    ok_abt(ABT_eventual_test(eventual, &value, &ready));
    ok(ready == ABT_FALSE && value == UNTOUCHED(void *), "not ready");
    is_int(ABT_eventual_timedwait(eventual, &value, &past), code ? code : ABT_ERR_COND_TIMEDOUT, "in the past");
    double start_time = now();
    past = in_ms(20);
    is_int(ABT_eventual_timedwait(eventual, &value, &past), code ? code : ABT_ERR_COND_TIMEDOUT, "nobody sets it");
    ok(code || now() - start_time > 0.015, "not before the time");
    is_ptr(value, UNTOUCHED(void *), "left alone");
    if (!ABT_NULL) {
        ok_err(ABT_eventual_set(eventual, text, sizeof(text) + 1), ver20 ? ABT_ERR_INV_ARG : ABT_ERR_INV_EVENTUAL);
        ok_err(ABT_eventual_set(eventual, text, -1), ABT_ERR_INV_ARG);
    }
    ok_abt(ABT_eventual_set(eventual, text, sizeof(text)));
    ok_err(ABT_eventual_set(eventual, text, 1), ABT_ERR_EVENTUAL);
    ok_abt(ABT_eventual_test(eventual, &value, &ready));
    ok(ready == ABT_TRUE && !memcmp(value, text, sizeof(text)), "ready, with the value");
    ok((uintptr_t)value % _Alignof(max_align_t) == 0, "aligned for any type");
    is_int(ABT_eventual_wait(eventual, &again), code, "wait");
    ok(code || again == value, "the same buffer");
    is_int(ABT_eventual_wait(eventual, NULL), code, "the value is not wanted");
    is_int(ABT_eventual_timedwait(eventual, &again, &past), code, "ready, if late");
    is_int(ABT_eventual_timedwait(eventual, NULL, &past), code, "the value is not wanted");
    ok_abt(ABT_eventual_test(eventual, NULL, &ready));
    ok_abt(ABT_eventual_reset(eventual));
    ok_abt(ABT_eventual_test(eventual, NULL, &ready));
    is_int(ready, ABT_FALSE, "reset");
    ok_abt(ABT_eventual_set(eventual, (void *)"ab", 2));
    ok(!memcmp(value, "ab34567", 8), "the rest of the buffer is as it was");
    ok_abt(ABT_eventual_free(&eventual));
    is_ptr(eventual, ABT_EVENTUAL_NULL, "null after free");
}

static void check_no_value(enum caller who, void *arg)
{
    ABT_eventual eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&memory.eventual);
    void *value = UNTOUCHED(void *);
    ABT_bool ready;

    ok((uintptr_t)eventual % 8 == 4, "aligned to 4 bytes only");
    if (!ABT_NULL)
        ok_err(ABT_eventual_set(eventual, &value, 1), ver20 ? ABT_ERR_INV_ARG : ABT_ERR_INV_EVENTUAL);
    ok_abt(ABT_eventual_set(eventual, NULL, 0));
    ok_abt(ABT_eventual_test(eventual, &value, &ready));
    ok(ready && !value, "ready, without a value");
    if (may_wait(who)) {
        value = UNTOUCHED(void *);
        ok_abt(ABT_eventual_wait(eventual, &value));
        is_ptr(value, NULL, "no value");
    }
    ok_abt(ABT_eventual_reset(eventual));
}

/* --- Waiting --- */

struct waiting {
    ABT_eventual eventual;
    bool timed;
    int got;
    struct activity activity;
};

static void wait_here(void *arg)
{
    struct waiting *w = arg;
    struct timespec ts = in_ms(1000000);
    void *value = NULL;

    is_int(w->timed ? ABT_eventual_timedwait(w->eventual, &value, &ts) : ABT_eventual_wait(w->eventual, &value), 0,
           "wait");
    w->got = *(int *)value;
}

static void set_it(enum caller who, void *arg)
{
    int value = (int)who + 1;

    is_int(ABT_eventual_set((ABT_eventual)arg, &value, sizeof(value)), 0, "set");
}

static void test_wait(enum caller setter, bool timed)
{
    enum { GROUP = 9 };
    static const enum caller kinds[] = {PLAIN_ULT, EXTERNAL, SECONDARY_ULT};
    struct waiting w[GROUP];
    ABT_eventual eventual;

    must(ABT_eventual_create(sizeof(int), &eventual));
    for (int i = 0; i < GROUP; i++) {
        w[i].eventual = eventual;
        w[i].timed = timed && i % 2;
        w[i].got = 0;
        start(&w[i].activity, kinds[i % 3], wait_here, &w[i]);
        if (i < GROUP / 2 && !w[i].timed)
            wait_until_asleep(&w[i].activity);
    }
    call_as(setter, set_it, eventual);
    for (int i = 0; i < GROUP; i++) {
        finish(&w[i].activity);
        is_int(w[i].got, (int)setter + 1, "the value");
    }
    ok_abt(ABT_eventual_free(&eventual));
}

/* A ULT of the caller's own pool, which is yielded to. */
struct passage {
    ABT_eventual eventual;
    atomic_int passed;
};

static void pass_eventual(void *arg)
{
    struct passage *p = arg;

    must(ABT_eventual_wait(p->eventual, NULL));
    count_up(&p->passed);
}

static void test_own(void)
{
    struct passage p = {.eventual = ABT_EVENTUAL_NULL};
    struct activity a;

    ok_abt(ABT_eventual_create(0, &p.eventual));
    ok(p.eventual && p.eventual != ABT_EVENTUAL_NULL, "an eventual");
    start(&a, PLAIN_ULT, pass_eventual, &p);
    yield_a_while();
    is_int(p.passed, 0, "it is waited for");
    must(ABT_eventual_set(p.eventual, NULL, 0));
    yield_a_while();
    is_int(p.passed, 1, "until it is set");
    finish(&a);
    ok_abt(ABT_eventual_free(&p.eventual));
}

/* --- The eventual goes as soon as the wait is over --- */

struct short_lived {
    _Atomic(ABT_eventual) eventual;
    atomic_int round;
    int rounds;
    enum { WAIT, TIMED_WAIT, TEST } how;
};

static void set_and_forget(void *arg)
{
    struct short_lived *s = arg;

    for (int i = 1; i <= s->rounds; i++) {
        while (atomic_load(&s->round) < i)
            ABT_thread_yield();
        ABT_eventual_set(atomic_load(&s->eventual), NULL, 0);
    }
}

static void wait_and_free(void *arg)
{
    struct short_lived *s = arg;
    struct timespec ts = in_ms(1000000); /* never: who is too late for a wait sets what is no more */
    ABT_bool ready;

    for (int i = 1; i <= s->rounds; i++) {
        ABT_eventual eventual;
        ABT_eventual_create(0, &eventual);
        atomic_store(&s->eventual, eventual);
        atomic_store(&s->round, i);
        if (s->how == WAIT)
            ABT_eventual_wait(eventual, NULL);
        else if (s->how == TIMED_WAIT)
            ABT_eventual_timedwait(eventual, NULL, &ts);
        else
            for (ready = ABT_FALSE; !ready; ABT_thread_yield())
                ABT_eventual_test(eventual, NULL, &ready);
        ABT_eventual_free(&eventual);
    }
}

static void test_short_lived(enum caller waiter, enum caller setter, int how)
{
    struct short_lived s = {.rounds = 1000, .how = how};
    struct activity a[2];

    start(&a[0], waiter, wait_and_free, &s);
    start(&a[1], setter, set_and_forget, &s);
    finish(&a[0]);
    finish(&a[1]);
    pass("%s frees what %s has set", caller_names[waiter], caller_names[setter]);
}

int main(void)
{
    check_no_value(EXTERNAL, NULL); /* before ABT_init */
    sync_init();
    call_as_each(check_value, NULL);
    call_as_each(check_no_value, NULL);
    test_own();
    for (int who = 0; who < NUM_CALLERS; who++) {
        test_wait((enum caller)who, false);
        test_wait((enum caller)who, true);
    }
    for (int how = WAIT; how <= TEST; how++) {
        test_short_lived(PLAIN_ULT, SECONDARY_ULT, how);
        test_short_lived(SECONDARY_ULT, EXTERNAL, how);
        test_short_lived(EXTERNAL, SECONDARY_ULT, how);
    }
    sync_fini();
    return done_testing();
}
