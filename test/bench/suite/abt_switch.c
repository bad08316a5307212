/* SPDX-License-Identifier: BSD-3-Clause */
/* Yields and other switches from one ULT to another, on one stream, and the raw switch as the yardstick. */
#include "abt_team.h"
#include "raw_switch.h"

enum { SWITCHES = 20000, MAX_ULTS = 256 };

static void raw_switches(void *arg)
{
    raw_switch_ns(SWITCHES);
}

static void run_raw(const struct suite_work *work)
{
    suite_run(raw_switches, NULL, 2 * SWITCHES);
}

static void kept_switches(void *arg)
{
    raw_switch_keeping_ns(SWITCHES);
}

static void kept_starts(void *arg)
{
    raw_start_keeping_ns(SWITCHES);
}

static void run_kept(const struct suite_work *work)
{
    suite_run(work->n == 2 ? kept_switches : kept_starts, NULL, (double)work->n * SWITCHES);
}

/* ---- yield ---- */

static long each, done;

static void yields(void *arg)
{
    for (long n = each; n > 0; n--)
        ABT_thread_yield();
    done++;
}

/* Eight call sites: the processor's guess where an indirect jump goes is not always the same. */
#define YIELDS(k)                                                                                                      \
    static void yields_##k(void *arg)                                                                                  \
    {                                                                                                                  \
        (void)arg;                                                                                                     \
        for (long n = each; n > 0; n--)                                                                                \
            ABT_thread_yield();                                                                                        \
        done += k / k;                                                                                                 \
    }
YIELDS(1)
YIELDS(2)
YIELDS(3)
YIELDS(4)
YIELDS(5)
YIELDS(6)
YIELDS(7)
YIELDS(8)
static void (*const sites[])(void *) = {yields_1, yields_2, yields_3, yields_4, yields_5, yields_6, yields_7, yields_8};

static void yield_batch(void *arg)
{
    const struct suite_work *work = arg;
    ABT_thread ults[MAX_ULTS];
    done = 0;
    for (int i = 0; i < work->n; i++)
        CHECK(ABT_thread_create(team.pools[0], work->n == 8 ? sites[i] : yields, NULL, ABT_THREAD_ATTR_NULL, &ults[i]));
    for (int i = 0; i < work->n; i++)
        CHECK(ABT_thread_free(&ults[i]));
    suite_expect(done, work->n, "the number of ULTs that yielded");
}

static void run_yield(const struct suite_work *work)
{
    team_start((enum team_layout)work->variant);
    each = SWITCHES / work->n;
    /* Creation is a small part of it: each ULT yields 78 times or more. */
    suite_run(yield_batch, (void *)work, (double)(each * work->n));
    team_stop();
}

/* ---- From one to a named other ---- */

static ABT_thread pair[2];
enum { YIELD_TO, RESUME_SUSPEND_TO };
static int switching;

static void switches(void *arg)
{
    ABT_thread other = pair[arg == NULL];
    for (long n = each; n > 0; n--) {
        if (switching == YIELD_TO)
            ABT_thread_yield_to(other);
        else
            ABT_self_resume_suspend_to(other);
        done++;
    }
    /* The other one may still sleep: it gets the last word. */
    if (switching == RESUME_SUSPEND_TO && arg == NULL)
        CHECK(ABT_thread_resume(other));
}

static void suspends_first(void *arg)
{
    CHECK(ABT_self_suspend());
    switches(arg);
}

static void pair_batch(void *arg)
{
    done = 0;
    CHECK(ABT_thread_create(team.pools[0], switching == YIELD_TO ? switches : suspends_first, &pair[1],
                            ABT_THREAD_ATTR_NULL, &pair[1]));
    CHECK(ABT_thread_create(team.pools[0], switches, NULL, ABT_THREAD_ATTR_NULL, &pair[0]));
    CHECK(ABT_thread_free(&pair[0]));
    CHECK(ABT_thread_free(&pair[1]));
    suite_expect(done, 2 * each, "the number of switches");
}

static void run_pair(const struct suite_work *work)
{
    team_start((enum team_layout)work->n);
    switching = work->variant;
    each = SWITCHES / 2;
    suite_run(pair_batch, NULL, SWITCHES);
    team_stop();
}

const struct suite_work abt_switch_works[] = {
    {"raw-switch", "", "1", run_raw, 0, 0},
    {"kept-switch", "", "1", run_kept, 2, 0},
    {"kept-start", "", "1", run_kept, 1, 0},
    {"yield-2", "private pool", "1", run_yield, 2, TEAM_PRIV},
    {"yield-2", "MPMC pool", "1", run_yield, 2, TEAM_MPMC},
    {"yield-2", "user's scheduler", "1", run_yield, 2, TEAM_USER},
    {"yield-2", "user's scheduler and pool", "1", run_yield, 2, TEAM_USER_POOL},
    {"yield-2", "user's scheduler and pool, older definition", "1", run_yield, 2, TEAM_OLD_USER_POOL},
    {"yield-256", "private pool", "1", run_yield, 256, TEAM_PRIV},
    {"yield-256", "MPMC pool", "1", run_yield, 256, TEAM_MPMC},
    {"yield-256", "RANDWS pool", "1", run_yield, 256, TEAM_RANDWS},
    {"yield-256", "user's scheduler", "1", run_yield, 256, TEAM_USER},
    {"yield-256", "user's scheduler and pool", "1", run_yield, 256, TEAM_USER_POOL},
    {"yield-256", "user's scheduler and pool, older definition", "1", run_yield, 256, TEAM_OLD_USER_POOL},
    {"yield-8-sites", "private pool", "1", run_yield, 8, TEAM_PRIV},
    {"yield-to", "private pool", "1", run_pair, TEAM_PRIV, YIELD_TO},
    {"resume-suspend-to", "private pool", "1", run_pair, TEAM_PRIV, RESUME_SUSPEND_TO},
};
const int abt_switch_num = sizeof(abt_switch_works) / sizeof(abt_switch_works[0]);
