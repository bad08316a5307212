/* SPDX-License-Identifier: BSD-3-Clause */
/* What it takes to be there: start-up, streams, and memory. */
#include "abt_team.h"

enum { ULTS = 10000 };

static void init_and_finalize(void *arg)
{
    CHECK(ABT_init(0, NULL));
    CHECK(ABT_finalize());
}

static void run_init(const struct suite_work *work)
{
    suite_run(init_and_finalize, NULL, 1);
}

static void create_and_join_stream(void *arg)
{
    ABT_xstream stream;
    CHECK(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    CHECK(ABT_xstream_free(&stream));
}

static void run_stream(const struct suite_work *work)
{
    CHECK(ABT_init(0, NULL));
    suite_run(create_and_join_stream, NULL, 1);
    CHECK(ABT_finalize());
}

/* ---- Bytes per ULT ---- */

static long blocked;

static void block(void *arg)
{
    blocked++;
    CHECK(ABT_self_suspend());
    blocked--;
}

static void run_memory(const struct suite_work *work)
{
    static ABT_thread ults[ULTS];
    struct suite_samples samples = {NULL, 0, 0};

    team_start(TEAM_PRIV);
    for (int i = 0; i < ULTS; i++)
        ults[i] = ABT_THREAD_NULL; /* the array's own pages are there */
    long before = suite_resident();
    for (int i = 0; i < ULTS; i++)
        CHECK(ABT_thread_create(team.pools[0], block, NULL, ABT_THREAD_ATTR_NULL, &ults[i]));
    if (work->variant) {
        while (blocked < ULTS)
            CHECK(ABT_thread_yield());
    }
    suite_add(&samples, (double)(suite_resident() - before) / ULTS);
    suite_report(&samples, 1);
    while (blocked < ULTS)
        CHECK(ABT_thread_yield());
    for (int i = 0; i < ULTS; i++)
        CHECK(ABT_thread_resume(ults[i]));
    for (int i = 0; i < ULTS; i++)
        CHECK(ABT_thread_free(&ults[i]));
    suite_expect(blocked, 0, "the number of blocked ULTs");
    team_stop();
}

const struct suite_work abt_start_works[] = {
    {"start-up", "init and finalize", "1", run_init, 0, 0},
    {"create-thread", "stream", "1", run_stream, 0, 0},
    {"memory-created", "", "1", run_memory, 0, 0},
    {"memory-blocked", "", "1", run_memory, 0, 1},
};
const int abt_start_num = sizeof(abt_start_works) / sizeof(abt_start_works[0]);
