/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the standard that ask for, or set, what holds for the caller's task. */
#include "ompt/tool.h"
#include "task/tasks.h"

#include <time.h>
#include "api/routines.h"
#include "api/api.versions.h"

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

ABTOMP_API int omp_get_thread_num(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->num : 0;
}

ABTOMP_API int omp_get_num_threads(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->team->num : 1;
}

ABTOMP_API int omp_get_max_threads(void)
{
    return abtomp_tell_threads(abtomp_self(), 0);
}

ABTOMP_API void omp_set_num_threads(int num)
{
    struct abtomp_icvs *icvs = abtomp_change_icvs(abtomp_self());
    icvs->num_threads = num > 0 ? num : 1;
    icvs->is_said = true;
}

/* Those of the calling thread, unless it is this library that has bound it. */
ABTOMP_API int omp_get_num_procs(void)
{
    abtomp_cpus allowed;
    abtomp_start();
    if (abtomp_place_list.num > 0 || !abtomp_cpus_allowed(&allowed))
        return abtomp_env.num_procs;
    return abtomp_cpus_count(&allowed);
}

ABTOMP_API int omp_get_thread_limit(void)
{
    return abtomp_self()->icvs.thread_limit;
}

ABTOMP_API void omp_set_dynamic(int is_dynamic)
{
    abtomp_change_icvs(abtomp_self())->dynamic = is_dynamic != 0;
}

ABTOMP_API int omp_get_dynamic(void)
{
    return abtomp_self()->icvs.dynamic;
}

/* ---- Levels ------------------------------------------------------------------------------------------------------ */

ABTOMP_API int omp_get_level(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->team->level : 0;
}

ABTOMP_API int omp_get_active_level(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->team->active_level : 0;
}

ABTOMP_API int omp_in_parallel(void)
{
    return omp_get_active_level() > 0;
}

ABTOMP_API int omp_get_ancestor_thread_num(int level)
{
    const struct abtomp_member *of = abtomp_ancestor(abtomp_self(), level);
    return of ? of->num : -1;
}

ABTOMP_API int omp_get_team_size(int level)
{
    const struct abtomp_member *of = abtomp_ancestor(abtomp_self(), level);
    return of ? of->team->num : -1;
}

ABTOMP_API int omp_get_supported_active_levels(void)
{
    return ABTOMP_MOST_LEVELS;
}

ABTOMP_API void omp_set_max_active_levels(int num)
{
    if (num >= 0)
        abtomp_change_icvs(abtomp_self())->max_active_levels = num < ABTOMP_MOST_LEVELS ? num : ABTOMP_MOST_LEVELS;
}

ABTOMP_API int omp_get_max_active_levels(void)
{
    return abtomp_self()->icvs.max_active_levels;
}

ABTOMP_API void omp_set_nested(int is_nested)
{
    struct abtomp_icvs *icvs = abtomp_change_icvs(abtomp_self());
    if (!is_nested)
        icvs->max_active_levels = 1;
    else if (icvs->max_active_levels <= 1)
        icvs->max_active_levels = ABTOMP_MOST_LEVELS;
}

ABTOMP_API int omp_get_nested(void)
{
    int num = omp_get_max_active_levels();
    return num > 1 && num > omp_get_active_level();
}

/* ---- Schedules, tasks, cancellation ------------------------------------------------------------------------------ */

ABTOMP_API void omp_set_schedule(unsigned kind, int chunk)
{
    struct abtomp_icvs *icvs = abtomp_change_icvs(abtomp_self());
    unsigned plain = kind & ~ABTOMP_MONOTONIC;
    if (plain < ABTOMP_STATIC || (plain > ABTOMP_AUTO && plain != ABTOMP_TRAPEZOIDAL))
        return;
    icvs->run_sched = kind;
    if (plain == ABTOMP_STATIC)
        icvs->run_chunk = chunk > 0 ? chunk : 0;
    else if (plain != ABTOMP_AUTO)
        icvs->run_chunk = chunk > 0 ? chunk : 1;
}

/* With its modifier, as since OpenMP 5.0: static is monotonic. */
ABTOMP_API void omp_get_schedule(unsigned *kind, int *chunk)
{
    const struct abtomp_icvs *icvs = &abtomp_self()->icvs;
    *kind = icvs->run_sched;
    *chunk = (int)icvs->run_chunk;
}

ABTOMP_API int omp_in_final(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->running.is_final : 0;
}

ABTOMP_API int omp_in_explicit_task(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->running.is_explicit : 0;
}

/*
 * An event is the address of its task. Any thread may fulfil it. If it comes before the task's end, the task is not
 * used afterwards. If it comes later, a task that was not skipped has still to end: it keeps its team, until its box
 * has it and the lock is free. A tool learns of an event before that counts, while the task is there in any case.
 */
ABTOMP_API void omp_fulfill_event(uintptr_t event)
{
    struct abtomp_task *task = (struct abtomp_task *)event;
    uint32_t both = 2;
    /* acquire, acq_rel: pair with count_end */
    bool is_late = atomic_load_explicit(&task->to_come, memory_order_acquire) != both;
    if (abtomp_is_observed() && !(is_late && task->is_skipped))
        abtomp_tool_status(abtomp_view_of(task), is_late ? ompt_task_late_fulfill : ompt_task_early_fulfill);
    if (atomic_compare_exchange_strong_explicit(&task->to_come, &both, 1, memory_order_acq_rel, memory_order_acquire))
        return;
    if (task->is_skipped) {
        abtomp_task_free_skipped(task);
        return;
    }
    struct abtomp_team *team = task->parent->runner->team;
    const _Atomic(uint32_t) *bell = &team->bell;
    abtomp_mutex_lock(&team->box_lock);
    bool is_included = task->is_included;
    /* release: pairs with the acquire in event_has_come. Then an included task is used no more */
    atomic_store_explicit(&task->to_come, 0, memory_order_release);
    if (!is_included)
        abtomp_box_put_locked(team, task);
    /* release: pairs with the acquire in abtomp_crew_await: a waiter comes to the lock when this thread has left it */
    atomic_fetch_add_explicit(&team->bell, 1, memory_order_release);
    abtomp_mutex_unlock(&team->box_lock);
    abtomp_wake(bell);
}

ABTOMP_API int omp_get_cancellation(void)
{
    abtomp_start();
    return abtomp_env.cancels;
}

ABTOMP_API int omp_get_max_task_priority(void)
{
    abtomp_start();
    return abtomp_env.max_task_priority;
}

/* ---- Teams ------------------------------------------------------------------------------------------------------- */

static int at_least_0(int num)
{
    return num > 0 ? num : 0;
}

ABTOMP_API int omp_get_num_teams(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me && me->league.num > 0 ? me->league.num : 1;
}

ABTOMP_API int omp_get_team_num(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->league.own : 0;
}

ABTOMP_API void omp_set_num_teams(int num)
{
    abtomp_start();
    abtomp_env.num_teams = at_least_0(num);
}

ABTOMP_API int omp_get_max_teams(void)
{
    abtomp_start();
    return abtomp_env.num_teams;
}

ABTOMP_API void omp_set_teams_thread_limit(int limit)
{
    abtomp_start();
    abtomp_env.teams_thread_limit = at_least_0(limit);
}

ABTOMP_API int omp_get_teams_thread_limit(void)
{
    abtomp_start();
    return abtomp_env.teams_thread_limit;
}

/* ---- Time, and the process --------------------------------------------------------------------------------------- */

ABTOMP_API double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ABTOMP_API double omp_get_wtick(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

ABTOMP_API void omp_display_env(int is_verbose)
{
    (void)abtomp_tell_threads(abtomp_self(), abtomp_env.icvs.num_threads); /* which is shown */
    abtomp_icv_display(is_verbose != 0);
}

/* Ends the caller's threads, unless it is in a region: they are what the library holds. 1 is soft, 2 hard. */
ABTOMP_API int omp_pause_resource_all(int kind)
{
    struct abtomp_member *me = abtomp_self();
    if (kind < 1 || kind > 2 || me->team->level > 0)
        return -1;
    abtomp_teams_end(me);
    return 0;
}

ABTOMP_API int omp_pause_resource(int kind, int device)
{
    return device == 0 || device == -1 ? omp_pause_resource_all(kind) : -1;
}

/* ---- Fortran ----------------------------------------------------------------------------------------------------- */

ABTOMP_FORTRAN(int, omp_get_thread_num, (void));
ABTOMP_FORTRAN(int, omp_get_num_threads, (void));
ABTOMP_FORTRAN(int, omp_get_max_threads, (void));
ABTOMP_FORTRAN(int, omp_get_num_procs, (void));
ABTOMP_FORTRAN(int, omp_get_thread_limit, (void));
ABTOMP_FORTRAN(int, omp_get_dynamic, (void));
ABTOMP_FORTRAN(int, omp_get_level, (void));
ABTOMP_FORTRAN(int, omp_get_active_level, (void));
ABTOMP_FORTRAN(int, omp_in_parallel, (void));
ABTOMP_FORTRAN(int, omp_get_supported_active_levels, (void));
ABTOMP_FORTRAN(int, omp_get_max_active_levels, (void));
ABTOMP_FORTRAN(int, omp_get_nested, (void));
ABTOMP_FORTRAN(void, omp_get_schedule, (unsigned *kind, int *chunk));
ABTOMP_FORTRAN(int, omp_in_final, (void));
ABTOMP_FORTRAN(int, omp_in_explicit_task, (void));
ABTOMP_FORTRAN(int, omp_get_cancellation, (void));
ABTOMP_FORTRAN(int, omp_get_max_task_priority, (void));
ABTOMP_FORTRAN(int, omp_get_num_teams, (void));
ABTOMP_FORTRAN(int, omp_get_team_num, (void));
ABTOMP_FORTRAN(int, omp_get_max_teams, (void));
ABTOMP_FORTRAN(int, omp_get_teams_thread_limit, (void));
ABTOMP_FORTRAN(double, omp_get_wtime, (void));
ABTOMP_FORTRAN(double, omp_get_wtick, (void));
ABTOMP_FORTRAN_INT(void, omp_set_num_threads)
ABTOMP_FORTRAN_INT(void, omp_set_dynamic)
ABTOMP_FORTRAN_INT(int, omp_get_ancestor_thread_num)
ABTOMP_FORTRAN_INT(int, omp_get_team_size)
ABTOMP_FORTRAN_INT(void, omp_set_max_active_levels)
ABTOMP_FORTRAN_INT(void, omp_set_nested)
ABTOMP_FORTRAN_INT(void, omp_set_num_teams)
ABTOMP_FORTRAN_INT(void, omp_set_teams_thread_limit)
ABTOMP_FORTRAN_INT(void, omp_display_env)

/* By value, as the module has it. */
ABTOMP_API void omp_fulfill_event_(uintptr_t event)
{
    omp_fulfill_event(event);
}

ABTOMP_API void omp_set_schedule_(const uint32_t *kind, const int32_t *chunk)
{
    omp_set_schedule(*kind, *chunk);
}

ABTOMP_API void omp_set_schedule_8_(const uint32_t *kind, const int64_t *chunk)
{
    omp_set_schedule(*kind, abtomp_to_int(*chunk));
}

ABTOMP_API void omp_get_schedule_8_(unsigned *kind, int64_t *chunk)
{
    int small;
    omp_get_schedule(kind, &small);
    *chunk = small;
}

ABTOMP_API int omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
    return omp_pause_resource(*kind, *device);
}

ABTOMP_API int omp_pause_resource_all_(const int32_t *kind)
{
    return omp_pause_resource_all(*kind);
}
