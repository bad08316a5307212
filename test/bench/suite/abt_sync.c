/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutex, condition variable, eventual and barrier, on one stream and on two. */
#include "abt_team.h"

enum { ULTS = TEAM_MAX_DEALT, OPERATIONS = 20000 };

static ABT_mutex mutex;
static ABT_cond cond;
static ABT_barrier barrier;
static ABT_eventual ping, pong;
static int turn, num_ults;
static long each, count; /* operations of one ULT, and of all */

static void locks(void *arg)
{
    for (long n = each; n > 0; n--) {
        ABT_mutex_lock(mutex);
        count++;
        ABT_mutex_unlock(mutex);
    }
}

static void locks_and_yields(void *arg)
{
    for (long n = each; n > 0; n--) {
        ABT_mutex_lock(mutex);
        long before = count;
        ABT_thread_yield();
        count = before + 1;
        ABT_mutex_unlock(mutex);
    }
}

/* The first sets ping and waits for pong, the second the other way round. */
static void plays(void *arg)
{
    ABT_eventual mine = arg ? ping : pong, others = arg ? pong : ping;
    for (long n = each; n > 0; n--) {
        if (!arg)
            ABT_eventual_set(others, NULL, 0);
        ABT_eventual_wait(mine, NULL);
        ABT_eventual_reset(mine);
        count++;
        if (arg)
            ABT_eventual_set(others, NULL, 0);
    }
}

static void takes_turns(void *arg)
{
    int me = (int)(intptr_t)arg;
    ABT_mutex_lock(mutex);
    for (long n = each; n > 0; n--) {
        while (turn != me)
            ABT_cond_wait(cond, mutex);
        turn = !me;
        count++;
        ABT_cond_signal(cond);
    }
    ABT_mutex_unlock(mutex);
}

static void meets(void *arg)
{
    for (long n = each; n > 0; n--) {
        ABT_barrier_wait(barrier);
        count += arg == NULL ? num_ults : 0; /* only the first one counts, for all */
    }
}

static void (*const bodies[])(void *) = {locks, locks_and_yields, plays, takes_turns, meets};
enum { LOCKS, LOCKS_AND_YIELDS, PLAYS, TAKES_TURNS, MEETS, BODY = 7, SHARED = 8 };

static void batch(void *arg)
{
    const struct suite_work *work = arg;
    count = 0;
    turn = 0;
    team_deal_out(num_ults, bodies[work->variant & BODY]);
    suite_expect(count, each * num_ults, "the number of operations");
}

static void run(const struct suite_work *work)
{
    team_start(work->variant & SHARED ? TEAM_SHARED : TEAM_PRIV);
    num_ults = (int)work->n;
    each = OPERATIONS / num_ults;
    CHECK(ABT_mutex_create(&mutex));
    CHECK(ABT_cond_create(&cond));
    CHECK(ABT_eventual_create(0, &ping));
    CHECK(ABT_eventual_create(0, &pong));
    CHECK(ABT_barrier_create((uint32_t)num_ults, &barrier));
    suite_run(batch, (void *)work, (double)(each * num_ults));
    CHECK(ABT_mutex_free(&mutex));
    CHECK(ABT_cond_free(&cond));
    CHECK(ABT_eventual_free(&ping));
    CHECK(ABT_eventual_free(&pong));
    CHECK(ABT_barrier_free(&barrier));
    team_stop();
}

#define WORK(name, streams, n, body)                                                                                   \
    {name, "private pools", streams, run, n, body},                                                                    \
    {                                                                                                                  \
        name, "shared pool", streams, run, n, (body) | SHARED                                                          \
    }

const struct suite_work abt_sync_works[] = {
    {"mutex", "", "1", run, 1, LOCKS}, WORK("mutex-8", "*", 8, LOCKS_AND_YIELDS), WORK("eventual", "*", 2, PLAYS),
    WORK("cond", "*", 2, TAKES_TURNS), WORK("barrier-64", "*", ULTS, MEETS),
};
const int abt_sync_num = sizeof(abt_sync_works) / sizeof(abt_sync_works[0]);
