/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions. */
#include "ompt/tool.h"
#include "team/serial.h"
#include "task/relief.h"
#include "loop/share.h"
#include "task/tasks.h"

#include <limits.h>
#include <stdlib.h>

enum { BIND_FLAGS = 7 }; /* of the flags of a region: the clause proc_bind */

/* How many members a region of `me` has. `num` is what the program says, 0 if nothing. */
static int count_members(const struct abtomp_member *me, unsigned num)
{
    const struct abtomp_icvs *icvs = &me->icvs;
    if (num == 1 || me->team->active_level >= icvs->max_active_levels)
        return 1;
    unsigned most = (unsigned)icvs->thread_limit;
    if (num == 0)
        num = (unsigned)abtomp_num_threads(me);
    if (icvs->dynamic && most > (unsigned)abtomp_env.num_procs)
        most = (unsigned)abtomp_env.num_procs;
    num = num < most ? num : most;
    if (ABTOMP_UNLIKELY(num > ABTOMP_MOST_MEMBERS))
        abtomp_fail("a region has more members than the library has numbers for: 32767");
    return (int)num;
}

/* Threads beside the root's that regions of the same root run on. */
static _Atomic(int) *taken_threads(const struct abtomp_member *me)
{
    while (me->team->parent)
        me = me->team->parent;
    return &me->team->taken;
}

/* How many of those threads a region gets, for which there is a limit. */
static int reserve_threads(const struct abtomp_member *me, int num)
{
    _Atomic(int) *taken = taken_threads(me);
    /* relaxed, both: it is a count, and orders nothing */
    int before = atomic_load_explicit(taken, memory_order_relaxed), got;
    do {
        int most = me->icvs.thread_limit - 1 - before;
        got = num < most ? num : most;
        if (got <= 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(taken, &before, before + got, memory_order_relaxed,
                                                    memory_order_relaxed));
    return got;
}

/* The team for a region of `me`, which member 0 then begins. */
static struct abtomp_team *team_for(struct abtomp_member *me, unsigned num)
{
    int members = count_members(me, num), reserved = 0;
    if (ABTOMP_UNLIKELY(me->icvs.thread_limit != INT_MAX && members > 1)) {
        reserved = reserve_threads(me, members - 1);
        members = reserved + 1;
    }
    struct abtomp_team *team = members > 1 ? abtomp_team_get(me, members) : NULL;
    if (team) {
        if (ABTOMP_UNLIKELY(team->active_level != me->team->active_level + 1))
            team->active_level = me->team->active_level + 1;
        team->reserved = reserved;
        return team;
    }
    team = abtomp_must_have(abtomp_team_alone(me));
    team->active_level = me->team->active_level;
    team->reserved = reserved;
    return team;
}

/* `reductions` are those of tasks, NULL if there are none. */
static void begin_region(struct abtomp_member *me, void (*fn)(void *), void *data, unsigned num, unsigned flags,
                         uintptr_t *reductions)
{
    struct abtomp_team *team = team_for(me, num);
    struct abtomp_member *first = team->members[0];
    unsigned bind = flags & BIND_FLAGS;
    /* Written only if something changes: others have read it. */
    if (team->fn != fn || team->data != data || team->reductions != reductions || team->bind != bind) {
        team->fn = fn;
        team->data = data;
        team->reductions = reductions;
        team->bind = bind;
    }
    if (ABTOMP_UNLIKELY(reductions != NULL))
        abtomp_reductions_make(reductions, team->num);
    if (me->team->level == 0 && team->num > 1)
        abtomp_root_begin(&me->team->root);
    if (team->num > 1)
        abtomp_team_release(team);
    else if (atomic_load_explicit(&team->has_shared, memory_order_relaxed)) /* relaxed: this thread alone uses it */
        abtomp_shares_reset(team);
    abtomp_member_begin(first);
    abtomp_current = first;
}

static void end_alone(struct abtomp_member *first)
{
    abtomp_tasks_drain(first);
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&first->team->cancelled, memory_order_relaxed) !=
                        0)) /* relaxed: its own */
        abtomp_cancel_clear(first->team);
}

static inline void leave_tasks(struct abtomp_member *first)
{
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = atomic_load_explicit(&first->tasks, memory_order_relaxed);
    abtomp_reliefs_end(first, 0);
    if (ABTOMP_UNLIKELY(own && own->uses_program_stream))
        abtomp_program_stream_end(own);
}

/* The region of which the caller is member 0 ends. */
static void end_region(struct abtomp_member *first)
{
    struct abtomp_team *team = first->team;
    if (team->num > 1)
        abtomp_team_gather(team);
    else
        end_alone(first);
    leave_tasks(first);
    if (ABTOMP_UNLIKELY(team->reserved > 0)) {
        /* relaxed: as in reserve_threads */
        atomic_fetch_sub_explicit(taken_threads(first), team->reserved, memory_order_relaxed);
        team->reserved = 0;
    }
    abtomp_current = team->parent;
    if (team->level == 1 && team->num > 1)
        abtomp_root_end(&team->parent->team->root);
}

/* -- Regions that a tool looks at -- */

/* Members that are left when a region is cancelled do not meet any more. */
static bool pass_last_barrier(struct abtomp_member *me)
{
    if (me->team->num == 1)
        abtomp_tasks_drain(me);
    return me->team->num == 1 || abtomp_barrier_pass(me, true);
}

static void end_member(struct abtomp_member *me)
{
    me->view->frame.exit_frame.ptr = NULL;
    if (me->team->num > 1)
        (void)abtomp_tool_sync(me, ompt_sync_region_barrier_implicit_parallel, pass_last_barrier);
    else
        (void)pass_last_barrier(me);
    abtomp_tool_implicit_end(me, NULL);
}

/* What each member runs. */
static void run_member(void *arg)
{
    struct abtomp_region_view *region = arg;
    struct abtomp_member *me = abtomp_current;
    struct abtomp_view view;
    abtomp_tool_implicit_begin(me, &view, region, ompt_task_implicit);
    view.frame.exit_frame.ptr = __builtin_frame_address(0);
    region->fn(region->arg);
    end_member(me);
}

static void fork_region(struct abtomp_member *me, struct abtomp_region_view *region, void (*fn)(void *), void *data,
                        unsigned num)
{
    *region = (struct abtomp_region_view){.fn = fn, .arg = data};
    abtomp_tool_fork(me, region, num > 0 ? num : (unsigned)abtomp_num_threads(me), ompt_parallel_team);
}

static __attribute__((noinline)) int run_observed(struct abtomp_member *me, const struct abtomp_region *asked,
                                                  unsigned num)
{
    struct abtomp_region_view region;
    fork_region(me, &region, asked->fn, asked->data, num);
    begin_region(me, run_member, &region, num, asked->bind, asked->reductions);
    int members = abtomp_current->team->num;
    run_member(&region);
    end_region(abtomp_current);
    abtomp_tool_join(me, &region);
    return members;
}

/* The program itself calls what member 0 runs. */
static __attribute__((noinline)) void start_observed(struct abtomp_member *me, void (*fn)(void *), void *data,
                                                     unsigned num)
{
    struct abtomp_region_view *region =
        abtomp_must_have(aligned_alloc(_Alignof(struct abtomp_region_view), sizeof(*region)));
    fork_region(me, region, fn, data, num);
    begin_region(me, run_member, region, num, 0, NULL);
    abtomp_tool_implicit_begin(abtomp_current, &region->first, region, ompt_task_implicit);
    region->first.frame.exit_frame.ptr = __builtin_frame_address(0);
}

static __attribute__((noinline)) void end_observed(struct abtomp_member *first)
{
    struct abtomp_region_view *region = first->view->region;
    region->at = abtomp_call.at;
    end_member(first);
    end_region(first);
    abtomp_tool_join(abtomp_current, region);
    free(region);
}

/* -- Regions in regions, whose members may run one after another -- */

/* Members have places of their own, not the one of the member around them: so they have threads. */
static inline bool have_places(const struct abtomp_member *me, const struct abtomp_region *region)
{
    return abtomp_env.places_members && (region->bind != 0 || me->icvs.bind > ABTOMP_BIND_TRUE);
}

static __attribute__((noinline)) bool run_serial(struct abtomp_member *me, struct abtomp_region *region, unsigned num)
{
    /* The threads that a limit counts are not known before a region begins. Reliefs might run another one meanwhile. */
    if (abtomp_is_observed() || abtomp_is_relieved() || me->icvs.thread_limit != INT_MAX || have_places(me, region) ||
        !abtomp_serial_fits(me))
        return false;
    region->num = count_members(me, num);
    return region->num > 1 && abtomp_serial_run(me, region);
}

/* Runs the region without threads. False: it has not run. */
static inline bool has_run(struct abtomp_member *me, struct abtomp_region *region, unsigned num)
{
    return ABTOMP_UNLIKELY(me->team->active_level > 0) && num != 1 && run_serial(me, region, num);
}

int abtomp_parallel(void (*fn)(void *), void *data, void (*key)(void *), unsigned num, unsigned flags,
                    uintptr_t *reductions)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_region region = {.fn = fn, .data = data, .key = key, .bind = flags & BIND_FLAGS};
    region.reductions = reductions;
    if (has_run(me, &region, num))
        return region.num;
    if (abtomp_is_observed())
        return run_observed(me, &region, num);
    begin_region(me, fn, data, num, flags, reductions);
    int members = abtomp_current->team->num;
    fn(data);
    end_region(abtomp_current);
    return members;
}

/* -- Regions that are a loop -- */

/* What a region runs that is a loop, too. */
struct abtomp_combined {
    void (*fn)(void *);
    void *data;
    struct abtomp_loop loop;
};

static void run_combined(void *arg)
{
    const struct abtomp_combined *region = arg;
    abtomp_loop_enter(abtomp_current, &region->loop, NULL, NULL);
    region->fn(region->data);
}

void abtomp_parallel_loop(void (*fn)(void *), void *data, unsigned num, unsigned flags, const struct abtomp_loop *loop)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_combined region = {fn, data, *loop};
    struct abtomp_region asked = {.fn = run_combined, .data = &region, .key = fn, .bind = flags & BIND_FLAGS};
    if (has_run(me, &asked, num))
        return;
    if (abtomp_is_observed()) {
        (void)run_observed(me, &asked, num);
        return;
    }
    begin_region(me, run_combined, &region, num, flags, NULL);
    run_combined(&region);
    end_region(abtomp_current);
}

/* -- As compilers before gcc 4.9 have it: the program itself calls what member 0 runs -- */

static void start_region(void (*fn)(void *), void *data, unsigned num)
{
    struct abtomp_member *me = abtomp_self();
    if (abtomp_is_observed())
        start_observed(me, fn, data, num);
    else
        begin_region(me, fn, data, num, 0, NULL);
}

void abtomp_parallel_loop_start(void (*fn)(void *), void *data, unsigned num, const struct abtomp_loop *loop)
{
    struct abtomp_combined *region = abtomp_must_have(malloc(sizeof(*region)));
    *region = (struct abtomp_combined){fn, data, *loop};
    start_region(run_combined, region, num);
    abtomp_current->team->combined = region;
    abtomp_loop_enter(abtomp_current, loop, NULL, NULL);
}

void abtomp_parallel_start(void (*fn)(void *), void *data, unsigned num)
{
    start_region(fn, data, num);
}

void abtomp_parallel_end(void)
{
    struct abtomp_team *team = abtomp_current->team;
    if (abtomp_is_observed())
        end_observed(abtomp_current);
    else
        end_region(abtomp_current);
    free(team->combined);
    team->combined = NULL;
}

/* -- Teams on the host -- */

static __attribute__((noinline)) void run_league(struct abtomp_member *me, void (*fn)(void *data), void *data)
{
    struct abtomp_region_view region = {.fn = fn};
    struct abtomp_view view, *before = me->view;
    abtomp_tool_fork(me, &region, (unsigned)me->league.num, ompt_parallel_league);
    for (me->league.own = 0; me->league.own < me->league.num; me->league.own++) {
        abtomp_tool_implicit_begin(me, &view, &region, ompt_task_initial);
        view.frame.exit_frame.ptr = __builtin_frame_address(0);
        fn(data);
        abtomp_tool_implicit_end(me, before);
    }
    abtomp_tool_join(me, &region);
}

void abtomp_teams(void (*fn)(void *data), void *data, unsigned num, unsigned thread_limit)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_icvs saved = me->icvs;
    struct abtomp_league outer = me->league;
    if (thread_limit == 0)
        thread_limit = (unsigned)abtomp_env.teams_thread_limit;
    if (thread_limit > 0)
        abtomp_change_icvs(me)->thread_limit = (int)thread_limit;
    if (num == 0)
        num = (unsigned)abtomp_env.num_teams;
    me->league.num = num > 0 ? (int)num : 1;
    if (abtomp_is_observed())
        run_league(me, fn, data);
    else
        for (me->league.own = 0; me->league.own < me->league.num; me->league.own++)
            fn(data);
    me->league = outer;
    me->icvs = saved;
}
