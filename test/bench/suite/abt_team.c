/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt_team.h"
#include "abt_user.h"

struct team team;
_Thread_local struct team_place team_place;

/* Not inlined: a compiler may keep the address of the native thread's own variable across a switch. */
__attribute__((noinline)) void team_look_around(void)
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

static ABT_pool own_pool(enum team_layout layout)
{
    switch (layout) {
    case TEAM_USER_POOL: return user_pool(USER_DEF_NEW);
    case TEAM_OLD_USER_POOL: return user_pool(USER_DEF_OLD);
    default: return make_pool(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV);
    }
}

static void make_pools(enum team_layout layout)
{
    ABT_pool_kind kind = layout == TEAM_RANDWS ? ABT_POOL_RANDWS : ABT_POOL_FIFO;
    bool shares = layout == TEAM_MPMC || layout == TEAM_SHARED || layout == TEAM_RANDWS;
    for (int i = 0; i < team.num; i++) {
        if (!shares)
            team.pools[i] = own_pool(layout);
        else
            team.pools[i] = layout == TEAM_SHARED && i > 0 ? team.pools[0] : make_pool(kind, ABT_POOL_ACCESS_MPMC);
        team.inboxes[i] = team.pools[i];
        if (!shares && team.num > 1)
            team.inboxes[i] = make_pool(kind, ABT_POOL_ACCESS_MPMC);
    }
}

static bool is_users(enum team_layout layout)
{
    return layout >= TEAM_USER;
}

static ABT_sched make_sched(enum team_layout layout, int num, ABT_pool *pools)
{
    ABT_sched sched;
    if (is_users(layout))
        return user_sched(num, pools);
    CHECK(ABT_sched_create_basic(layout == TEAM_RANDWS ? ABT_SCHED_RANDWS : ABT_SCHED_DEFAULT, num, pools,
                                 ABT_SCHED_CONFIG_NULL, &sched));
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

struct share {
    int first, num;
    void (*func)(void *);
};

static void run_share(void *arg)
{
    const struct share *share = arg;
    ABT_thread ults[TEAM_MAX_DEALT];
    int num = 0;
    for (int i = share->first; i < share->num; i += team.num) {
        CHECK(ABT_thread_create(team.pools[share->first], share->func, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL,
                                &ults[num++]));
    }
    while (num > 0)
        CHECK(ABT_thread_free(&ults[--num]));
}

void team_deal_out(int num, void (*func)(void *))
{
    struct share shares[SUITE_MAX_STREAMS];
    for (int s = 0; s < team.num; s++)
        shares[s] = (struct share){s, num, func};
    team_everywhere(run_share, shares, sizeof(shares[0]));
}
