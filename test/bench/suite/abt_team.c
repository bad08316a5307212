#include "abt_team.h"

struct team team;
_Thread_local struct team_place team_place;

void team_look_around(void)
{
    CHECK(ABT_self_get_xstream_rank(&team_place.rank));
    team_place.team = team.number;
}

static ABT_pool make_pool(ABT_pool_kind kind, ABT_pool_access access)
{
    ABT_pool pool;
    CHECK(ABT_pool_create_basic(kind, access, ABT_TRUE, &pool));
    return pool;
}

static void make_pools(enum team_layout layout)
{
    ABT_pool_kind kind = layout == TEAM_RANDWS ? ABT_POOL_RANDWS : ABT_POOL_FIFO;
    bool shares = layout != TEAM_PRIV && layout != TEAM_USER;
    for (int i = 0; i < team.num; i++) {
        if (!shares)
            team.pools[i] = make_pool(kind, ABT_POOL_ACCESS_PRIV);
        else
            team.pools[i] = layout == TEAM_SHARED && i > 0 ? team.pools[0] : make_pool(kind, ABT_POOL_ACCESS_MPMC);
        team.inboxes[i] = team.pools[i];
        if (!shares && team.num > 1)
            team.inboxes[i] = make_pool(kind, ABT_POOL_ACCESS_MPMC);
    }
}

/* A scheduler as a user writes it. */
static void run_simply(ABT_sched sched)
{
    enum { TURNS = 50 }; /* between two looks at requests, as the predefined ones do it by default */
    ABT_pool pools[2];
    ABT_thread thread;
    ABT_bool stop = ABT_FALSE;
    int num;

    CHECK(ABT_sched_get_num_pools(sched, &num));
    CHECK(ABT_sched_get_pools(sched, num, 0, pools));
    while (!stop) {
        for (int turn = 0; turn < TURNS; turn++) {
            ABT_pool_pop_thread(pools[0], &thread);
            if (thread == ABT_THREAD_NULL && num > 1)
                ABT_pool_pop_thread(pools[1], &thread);
            if (thread == ABT_THREAD_NULL)
                break;
            ABT_self_schedule(thread, ABT_POOL_NULL);
        }
        CHECK(ABT_xstream_check_events(sched));
        CHECK(ABT_sched_has_to_stop(sched, &stop));
    }
}

static ABT_sched make_sched(enum team_layout layout, int num, ABT_pool *pools)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run_simply};
    ABT_sched_config config;
    ABT_sched sched;
    if (layout == TEAM_USER) {
        CHECK(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
        CHECK(ABT_sched_create(&def, num, pools, config, &sched));
        CHECK(ABT_sched_config_free(&config));
    } else {
        CHECK(ABT_sched_create_basic(layout == TEAM_RANDWS ? ABT_SCHED_RANDWS : ABT_SCHED_DEFAULT, num, pools,
                                     ABT_SCHED_CONFIG_NULL, &sched));
    }
    return sched;
}

void team_begin(void)
{
    CHECK(ABT_init(0, NULL));
    team.number++;
    team.num = suite_streams;
}

void team_start(enum team_layout layout)
{
    ABT_pool pools[SUITE_MAX_STREAMS + 1];

    team_begin();
    make_pools(layout);
    for (int i = 0; i < team.num; i++) {
        int num = 0;
        pools[num++] = team.pools[i];
        if (team.inboxes[i] != team.pools[i])
            pools[num++] = team.inboxes[i];
        for (int k = 1; layout == TEAM_RANDWS && k < team.num; k++)
            pools[num++] = team.pools[(i + k) % team.num];
        ABT_sched sched = make_sched(layout, num, pools);
        if (i > 0) {
            CHECK(ABT_xstream_create(sched, &team.streams[i]));
        } else {
            CHECK(ABT_xstream_self(&team.streams[0]));
            CHECK(ABT_xstream_set_main_sched(team.streams[0], sched));
        }
    }
}

/* main() is a ULT too: with shared pools it may have come to another stream. */
static void go_home(void)
{
    while (team_rank() != 0)
        CHECK(ABT_thread_yield());
}

void team_stop(void)
{
    for (int i = 1; i < team.num; i++) {
        go_home();
        CHECK(ABT_xstream_free(&team.streams[i]));
    }
    go_home();
    CHECK(ABT_finalize());
}

void team_everywhere(void (*body)(void *), void *args, size_t size)
{
    ABT_thread ults[SUITE_MAX_STREAMS];
    int mine = team_rank(), num = 0;

    for (int i = 0; i < team.num; i++) {
        if (i != mine) {
            CHECK(ABT_thread_create(team.inboxes[i], body, (char *)args + (size_t)i * size, ABT_THREAD_ATTR_NULL,
                                    &ults[num++]));
        }
    }
    body((char *)args + (size_t)mine * size);
    while (num > 0)
        CHECK(ABT_thread_free(&ults[--num]));
}
