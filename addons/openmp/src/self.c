/* SPDX-License-Identifier: BSD-3-Clause */
/* The native threads that use OpenMP without being a member of a team: roots. */
#include "relay.h"

#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local struct abtomp_member *abtomp_current;

static _Atomic(int) num_roots; /* that are alive */
static pthread_key_t root_key; /* of each root its member, so that its end is seen */
static bool has_key;           /* the key could be made; if not, a root's threads stay when it has ended */
static pthread_once_t once = PTHREAD_ONCE_INIT;

void abtomp_fail(const char *why)
{
    fprintf(stderr, "libabtomp: %s\n", why);
    abort();
}

/*
 * A root's thread ends. Tasks that it has made outside regions may wait for an event, or for a task that does: who
 * fulfils the event uses the team.
 */
static void root_end(void *arg)
{
    struct abtomp_member *me = arg;
    abtomp_tasks_drain(me);
    abtomp_teams_end(me);
    abtomp_team_free(me->team);
    abtomp_watch_end();
    abtomp_current = NULL;
    atomic_fetch_sub_explicit(&num_roots, 1,
                              memory_order_relaxed); /* relaxed: only a number of threads depends on it */
}

/*
 * In the child of a fork there is one thread, which is a root or becomes one: its teams have no threads any more. What
 * they were stays behind.
 */
static void in_child(void)
{
    struct abtomp_member *me = abtomp_current;
    atomic_store_explicit(&num_roots, me != NULL, memory_order_relaxed); /* relaxed: there is one thread */
    if (me)
        me->inner = me->relay = NULL;
    abtomp_watch_in_child();
}

static void start_once(void)
{
    abtomp_icv_start();
    abtomp_verdict_start();
    has_key = pthread_key_create(&root_key, root_end) == 0;
    (void)pthread_atfork(NULL, NULL, in_child);
}

void abtomp_start(void)
{
    (void)pthread_once(&once, start_once);
}

/*
 * libabt counts the CPUs that the thread which starts it may use, and threads wait by that number. A root is bound to
 * one CPU, so libabt starts before that. If it cannot be started, the first region finds that out.
 */
static void root_bind(struct abtomp_member *me)
{
    ABT_xstream stream = ABT_XSTREAM_NULL;
    if (ABTX_xstream_enter(ABT_SCHED_NULL, &stream) == ABT_SUCCESS)
        (void)ABTX_xstream_leave(&stream);
    abtomp_root_place(me);
}

struct abtomp_member *abtomp_root(void)
{
    abtomp_start();
    struct abtomp_team *team = abtomp_team_new(NULL);
    if (!team)
        abtomp_fail("out of memory");
    struct abtomp_member *me = team->members[0];
    me->icvs = abtomp_env.icvs;
    abtomp_current = me;
    if (abtomp_env.places_members)
        root_bind(me);
    if (has_key)
        (void)pthread_setspecific(root_key, me);
    atomic_fetch_add_explicit(&num_roots, 1, memory_order_relaxed); /* relaxed: as in root_end */
    abtomp_watch_thread();
    return me;
}

/* Roots share the processors, unless the user has said a number. */
int abtomp_num_threads(const struct abtomp_member *me)
{
    int num = me->icvs.num_threads;
    if (me->icvs.is_said || !abtomp_env.shares || me->team->level > 0)
        return num;
    int roots = atomic_load_explicit(&num_roots, memory_order_relaxed); /* relaxed: as in root_end */
    int share = roots > 1 ? abtomp_env.num_procs / roots : num;
    return share < 1 ? 1 : share < num ? share : num;
}

int abtomp_num_rivals(const struct abtomp_team *team, int num)
{
    /* relaxed, both: as in root_end */
    int roots = atomic_load_explicit(&num_roots, memory_order_relaxed);
    int siblings = atomic_load_explicit(&team->siblings, memory_order_relaxed);
    int larger = num > siblings ? num : siblings;
    /* One of the two is too many for the processors already. So no product overflows */
    if (larger > abtomp_env.num_procs)
        return larger;
    return num * siblings * (roots > 1 ? roots : 1);
}
