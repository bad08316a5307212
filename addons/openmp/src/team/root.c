/* SPDX-License-Identifier: BSD-3-Clause */
/* The native threads that use OpenMP without being a member of a team, roots: how they begin and end. */
#include "ompt/tool.h"
#include "team/serial.h"
#include "task/relief.h"

#include <abt.h>
#include <stdlib.h>

static pthread_key_t root_key; /* of each root its member, so that its end is seen */
static bool has_key;           /* the key could be made; if not, a root's threads stay when it has ended */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * A root's thread ends. Tasks that it has made outside regions may wait for an event, or for a task that does: who
 * fulfils the event uses the team.
 */
static void root_end(void *arg)
{
    struct abtomp_member *me = arg;
    abtomp_tasks_drain(me);
    abtomp_teams_end(me);
    if (abtomp_is_observed()) {
        abtomp_tool_root_end(me);
        abtomp_tool_root_free(me);
    }
    abtomp_roots_remove(&me->team->root);
    abtomp_watch_end();
    abtomp_team_free(me->team);
    abtomp_stream_leave();
    abtomp_current = NULL;
}

/*
 * In the child of a fork there is one thread, which is a root or becomes one: its teams have no threads any more. What
 * they were stays behind.
 */
static void in_child(void)
{
    struct abtomp_member *me = abtomp_current;
    abtomp_roots_in_child();
    if (me)
        me->inner = me->serial = NULL;
    if (has_key && (me = pthread_getspecific(root_key)) != NULL)
        abtomp_roots_add(&me->team->root);
    abtomp_watch_in_child();
    abtomp_stream_in_child();
}

/* The program ends, or its tool: the tool is to see that its threads do, those of this root. */
static void finish_tool(void)
{
    struct abtomp_member *me = abtomp_current;
    if (me && me->view && me->team->level == 0) {
        abtomp_teams_end(me);
        abtomp_tool_root_end(me);
    }
    abtomp_tool_finish();
}

static void start_once(void)
{
    abtomp_icv_start();
    abtomp_tool_start(abtomp_env.tool != 0, finish_tool);
    if (abtomp_is_observed())
        (void)atexit(finish_tool);
    atomic_store_explicit(&abtomp_defers, abtomp_env.max_task_priority > 0, memory_order_relaxed); /* relaxed: a hint */
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
    struct abtomp_team *team = abtomp_must_have(abtomp_team_new(NULL));
    struct abtomp_member *me = team->members[0];
    me->icvs = abtomp_env.icvs;
    int rank;
    team->root.is_stream = ABT_self_get_xstream_rank(&rank) == ABT_SUCCESS;
    abtomp_current = me;
    if (abtomp_env.places_members)
        root_bind(me);
    if (has_key)
        (void)pthread_setspecific(root_key, me);
    abtomp_roots_add(&me->team->root);
    abtomp_watch_thread(&me->team->root.watch);
    if (abtomp_is_observed())
        abtomp_tool_root_begin(me);
    return me;
}

bool abtomp_is_ready(void)
{
    return abtomp_self()->view != NULL;
}
