/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_eventual_wait_any_until: every kind of caller, short and long lists, and setters that come at the same time. */
#include "sync.h"

enum { MANY = 100 };

static void make(int num, ABT_eventual *eventuals)
{
    for (int i = 0; i < num; i++)
        must(ABT_eventual_create((int)sizeof(int), &eventuals[i]));
}

static void drop(int num, ABT_eventual *eventuals)
{
    for (int i = 0; i < num; i++)
        must(ABT_eventual_free(&eventuals[i]));
}

/* --- Codes --- */

static void check_codes(enum caller who, void *arg)
{
    ABT_eventual eventuals[3], nulls[2] = {ABT_EVENTUAL_NULL, NULL};
    double begin = now();
    const int64_t past = ABTX_after(-1000000000), soon = ABTX_after(20000000);
    int index = 77;

    make(3, eventuals);
    if (!ABT_NULL) {
        ok_err(ABTX_eventual_wait_any_until(0, eventuals, &index, ABTX_FOREVER), ABT_ERR_INV_ARG);
        ok_err(ABTX_eventual_wait_any_until(-1, eventuals, &index, ABTX_FOREVER), ABT_ERR_INV_ARG);
        ok_err(ABTX_eventual_wait_any_until(2, nulls, &index, ABTX_FOREVER), ABT_ERR_INV_ARG);
    }
    if (!may_wait(who)) {
        must(ABT_eventual_set(eventuals[0], NULL, 0));
        ok_err(ABTX_eventual_wait_any_until(3, eventuals, &index, past), ABT_ERR_EVENTUAL);
    } else {
        ok_err(ABTX_eventual_wait_any_until(3, eventuals, &index, past), ABT_ERR_COND_TIMEDOUT);
        ok_err(ABTX_eventual_wait_any_until(3, eventuals, &index, soon), ABT_ERR_COND_TIMEDOUT);
        ok(now() - begin > 0.019, "not before the time");
        is_int(index, 77, "the index is left alone");
        must(ABT_eventual_set(eventuals[2], NULL, 0));
        ok_abt(ABTX_eventual_wait_any_until(3, eventuals, &index, past));
        is_int(index, 2, "ready before, although the time is up");
        must(ABT_eventual_set(eventuals[1], NULL, 0));
        ok_abt(ABTX_eventual_wait_any_until(3, eventuals, &index, ABTX_FOREVER));
        is_int(index, 1, "the lowest of those that are ready");
        ABT_eventual some[4] = {ABT_EVENTUAL_NULL, eventuals[0], NULL, eventuals[2]};
        ok_abt(ABTX_eventual_wait_any_until(4, some, &index, ABTX_FOREVER));
        is_int(index, 3, "null handles are skipped");
    }
    drop(3, eventuals);
}

/* --- Waiting --- */

struct any {
    int num;
    ABT_eventual *eventuals;
    long ms; /* 0: as long as it takes */
    int code, index;
    atomic_int begun;
};

static void wait_any(void *arg)
{
    struct any *a = arg;
    int64_t deadline = a->ms ? ABTX_after(a->ms * INT64_C(1000000)) : ABTX_FOREVER;

    atomic_store(&a->begun, 1);
    a->code = ABTX_eventual_wait_any_until(a->num, a->eventuals, &a->index, deadline);
}

static void test_each(enum caller who, int num, long ms)
{
    ABT_eventual eventuals[MANY];
    struct any a = {.num = num, .eventuals = eventuals, .ms = ms};
    struct activity activity;
    int wrong = 0;

    make(num, eventuals);
    for (int i = 0; i<num; i += num> 10 ? num / 3 : 1) {
        atomic_store(&a.begun, 0);
        a.index = -1;
        start(&activity, who, wait_any, &a);
        wait_for(atomic_load(&a.begun));
        wait_until_asleep(&activity);
        must(ABT_eventual_set(eventuals[i], &i, sizeof(i)));
        finish(&activity);
        wrong += a.code != ABT_SUCCESS || a.index != i;
        must(ABT_eventual_reset(eventuals[i]));
    }
    is_int(wrong, 0, "%s, %d eventuals, %s: woken by the one that was set", caller_names[who], num,
           ms ? "a deadline" : "no deadline");
    /* The others have forgotten the waiter, whose frame is gone. */
    for (int i = 0; i < num; i++)
        must(ABT_eventual_set(eventuals[i], &i, sizeof(i)));
    drop(num, eventuals);
}

static void test_twice(void)
{
    ABT_eventual eventuals[4];
    struct any a = {.num = 4, .eventuals = eventuals};
    struct activity activity;

    make(1, eventuals);
    eventuals[1] = eventuals[2] = eventuals[3] = eventuals[0];
    start(&activity, SECONDARY_ULT, wait_any, &a);
    wait_until_asleep(&activity);
    must(ABT_eventual_set(eventuals[0], NULL, 0));
    finish(&activity);
    ok(a.code == ABT_SUCCESS && a.index == 0, "the same eventual four times over");
    must(ABT_eventual_free(&eventuals[0]));
}

/* Others that wait for one of them, before and behind in the queue, are woken by that one only. */
static void wait_one(void *arg)
{
    must(ABT_eventual_wait(arg, NULL));
}

static void test_among_others(void)
{
    enum { NUM = 3 };
    ABT_eventual eventuals[NUM];
    struct any a[2] = {{.num = NUM, .eventuals = eventuals}, {.num = NUM, .eventuals = eventuals, .ms = 30000}};
    struct activity any[2], one[NUM][2];

    make(NUM, eventuals);
    for (int i = 0; i < NUM; i++) {
        start(&one[i][0], i % 2 ? EXTERNAL : SECONDARY_ULT, wait_one, eventuals[i]);
        wait_until_asleep(&one[i][0]);
    }
    start(&any[0], SECONDARY_ULT, wait_any, &a[0]);
    wait_until_asleep(&any[0]);
    start(&any[1], EXTERNAL, wait_any, &a[1]);
    wait_until_asleep(&any[1]);
    for (int i = 0; i < NUM; i++) {
        start(&one[i][1], i % 2 ? SECONDARY_ULT : EXTERNAL, wait_one, eventuals[i]);
        wait_until_asleep(&one[i][1]);
    }
    must(ABT_eventual_set(eventuals[1], NULL, 0));
    for (int i = 0; i < 2; i++) {
        finish(&any[i]);
        finish(&one[1][i]);
        is_int(a[i].index, 1, "whoever waits for any of them is woken, and whoever waits for that one");
    }
    ok(!atomic_load(&one[0][0].done) && !atomic_load(&one[2][1].done), "the others are not");
    for (int i = 0; i < NUM; i += 2) {
        must(ABT_eventual_set(eventuals[i], NULL, 0));
        for (int j = 0; j < 2; j++)
            finish(&one[i][j]);
    }
    drop(NUM, eventuals);
}

/* --- A race: all are set, from several threads, around the deadline --- */

struct setter {
    ABT_eventual *eventuals;
    int num, delay_us;
};

static void set_all(void *arg)
{
    struct setter *s = arg;

    nap_ms(s->delay_us * 1e-3);
    for (int i = 0; i < s->num; i++)
        must(ABT_eventual_set(s->eventuals[i], NULL, 0));
}

static void test_race(enum caller who, int num)
{
    ABT_eventual eventuals[2 * MANY];
    int woken = 0;

    for (int round = 0; round < 60; round++) {
        struct any a = {.num = 2 * num, .eventuals = eventuals, .ms = round % 3, .index = -1};
        struct setter setters[2] = {{eventuals, num, round * 37 % 2000}, {eventuals + num, num, round * 59 % 2000}};
        struct activity waiting, setting[2];
        make(2 * num, eventuals);
        start(&waiting, who, wait_any, &a);
        start(&setting[0], EXTERNAL, set_all, &setters[0]);
        start(&setting[1], EXTERNAL, set_all, &setters[1]);
        finish(&waiting);
        if (a.code == ABT_SUCCESS) {
            ABT_bool ready = ABT_FALSE;
            must(ABT_eventual_test(eventuals[a.index], NULL, &ready));
            if (!ready)
                fail("woken by one that is not ready");
            woken++;
        } else if (a.code != ABT_ERR_COND_TIMEDOUT || a.ms == 0) {
            fail("code %d", a.code);
        }
        finish(&setting[0]);
        finish(&setting[1]);
        drop(2 * num, eventuals);
    }
    pass("%s, %d eventuals: %d of 60 woken in time", caller_names[who], 2 * num, woken);
}

int main(void)
{
    check_codes(EXTERNAL, NULL); /* before ABT_init */
    sync_init();
    call_as_each(check_codes, NULL);
    for (int who = PLAIN_ULT; who < NUM_CALLERS; who++) {
        if (!may_wait((enum caller)who))
            continue;
        test_each((enum caller)who, 1, 0);
        test_each((enum caller)who, 5, 0);
        test_each((enum caller)who, 5, 30000);
        test_each((enum caller)who, MANY, 0);
        test_each((enum caller)who, MANY, 30000);
        test_race((enum caller)who, 2);
        test_race((enum caller)who, 20);
    }
    test_twice();
    test_among_others();
    sync_fini();
    return done_testing();
}
