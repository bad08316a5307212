/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs on abt.h share: streams with pools, and the works of each file. Only what abt.h of 1.2 has is used
 * here, so that the programs measure any libabt; works that need more are listed where the library has it. */
#ifndef ABT_TEST_BENCH_ABT_TEAM_H
#define ABT_TEST_BENCH_ABT_TEAM_H

#include <abt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../check.h"
#include "suite.h"

/* The pools of the streams; the variant of a work. */
enum team_layout {
    TEAM_PRIV,   /* each has its own, which only it may use, and an inbox if there are several streams */
    TEAM_MPMC,   /* each has its own, which all may use */
    TEAM_SHARED, /* one for all */
    TEAM_RANDWS, /* each has its own, and steals from the others */
    /* As TEAM_PRIV, with schedulers written by the user. */
    TEAM_USER,          /* with a loop of their own: nothing goes past them */
    TEAM_USER_POOL,     /* likewise, and the user's pools */
    TEAM_OLD_USER_POOL, /* likewise, by the older definition */
};

struct team {
    int number; /* of teams so far */
    int num;
    ABT_xstream streams[SUITE_MAX_STREAMS];
    ABT_pool pools[SUITE_MAX_STREAMS];   /* for units that a stream makes for itself */
    ABT_pool inboxes[SUITE_MAX_STREAMS]; /* for units from others */
};

extern struct team team;

void team_start(enum team_layout layout);
void team_begin(void); /* the same, but pools and streams are the caller's to make */
void team_stop(void);

/* What a runtime on top of libabt keeps of where it is: by native thread, and not to be remembered across a switch. */
struct team_place {
    int team, rank;
};
extern _Thread_local struct team_place team_place;

void team_look_around(void);

/* The rank of the calling stream. */
static inline int team_rank(void)
{
    if (team_place.team != team.number)
        team_look_around();
    return team_place.rank;
}

/* Runs body(its argument) as a ULT in the inbox of each stream but the caller's, and as a call on the caller's. The
 * arguments stand one behind the other. */
void team_everywhere(void (*body)(void *), void *args, size_t size);

/* Runs func(0), func(1) to func(num - 1) as ULTs, each stream every one of the team's number, in its own pool. */
enum { TEAM_MAX_DEALT = 64 };
void team_deal_out(int num, void (*func)(void *));

/* The works of each file. */
extern const struct suite_work abt_create_works[], abt_switch_works[], abt_task_works[], abt_sync_works[],
    abt_start_works[], abt_xs_works[], abt_native_works[], abt_forked_works[], abt_dense_works[], abt_wait_works[],
    abt_steps_works[];
extern const int abt_create_num, abt_switch_num, abt_task_num, abt_sync_num, abt_start_num, abt_xs_num, abt_native_num,
    abt_forked_num, abt_dense_num, abt_wait_num, abt_steps_num;

/* Whether the library has more than abt.h of 1.2 has: forked tasks; drivers and blocking regions. */
bool abt_has_forks(void);
bool abt_has_drivers(void);

#endif
