/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members do while they wait in a team that has tasks: they run tasks, and when there is none they sleep.
 *
 * The bell. A team without tasks waits at its plain words: the others at `go`, member 0 at `back`, and all at
 * `barriers`. The first task sets a bit in each of them, so that all who wait come here; from then on they wait for the
 * bell, until all tasks have ended at a barrier or at the end of the region. Who waits counts itself as hungry, reads
 * the bell, and looks once more; who changes something rings if somebody is hungry. Each has a fence of all accesses in
 * between, so that the first sees the change, or the other one the count.
 *
 * The end. Each member, also one of an earlier region only, counts what it has made and ended, in numbers that only
 * grow. All numbers of ends are read first, then all of what was made: if they are equal, there was a moment in between
 * when all had ended. Who sees the end of a task sees, too, what it has made, since that was counted before. So of a
 * task that has not ended there is one, itself or one around it, whose making is seen and whose end is not, and the
 * numbers differ. Members that have arrived make none. Members that end the last two tasks at the same time each have a
 * fence before they read, so that one of them sees both ends.
 */
#include "tasks.h"

#include <sched.h>

enum { MOST_BOOTY = 16 };

/* -- The bell -- */

void abtomp_crew_ring(struct abtomp_team *team)
{
    /* seq_cst: pairs with the fence in crew_rest. relaxed: the fence orders it */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&team->hungry, memory_order_relaxed) == 0)
        return;
    /* release: pairs with the acquire in crew_rest */
    atomic_fetch_add_explicit(&team->bell, 1, memory_order_release);
    abtomp_wake(&team->bell);
}

void abtomp_crew_open(struct abtomp_team *team)
{
    /* relaxed: the words below publish it, and other makers of tasks need nothing that was done here */
    if (atomic_exchange_explicit(&team->has_tasks, true, memory_order_relaxed) || team->num == 1)
        return;
    /* release, all: pairs with the acquire in is_changed (openmp/barrier.c), at the waits for these words: abtomp_wait
     */
    atomic_fetch_or_explicit(&team->barriers, ABTOMP_BARRIER_TASKS, memory_order_release);
    atomic_fetch_or_explicit(&team->back, ABTOMP_GO_TASKS, memory_order_release);
    atomic_fetch_or_explicit(&team->go, ABTOMP_GO_TASKS, memory_order_release);
    abtomp_wake(&team->barriers);
    abtomp_wake(&team->back);
    abtomp_wake(&team->go);
}

/* No task is left, and all members wait. `barriers` is left to the caller. */
void abtomp_crew_close(struct abtomp_team *team)
{
    /* relaxed, all: what the caller does next publishes them */
    atomic_store_explicit(&team->has_tasks, false, memory_order_relaxed);
    atomic_fetch_and_explicit(&team->go, ~(uint32_t)ABTOMP_GO_TASKS, memory_order_relaxed);
    atomic_fetch_and_explicit(&team->back, ~(uint32_t)ABTOMP_GO_TASKS, memory_order_relaxed);
}

bool abtomp_tasks_are_over(struct abtomp_team *team)
{
    uint64_t ended = 0, made = 0;
    atomic_thread_fence(memory_order_seq_cst); /* seq_cst: pairs with itself, in abtomp_tasks_are_over */
    for (int i = 0; i < team->capacity; i++) {
        /* acquire: pairs with the release in abtomp_tasks_new */
        const struct abtomp_tasks *tasks = atomic_load_explicit(&team->members[i]->tasks, memory_order_acquire);
        if (tasks)
            ended += atomic_load_explicit(&tasks->ended, memory_order_acquire); /* pairs with the release in end_task */
    }
    for (int i = 0; i < team->capacity; i++) {
        const struct abtomp_tasks *tasks = atomic_load_explicit(&team->members[i]->tasks, memory_order_acquire);
        if (tasks)
            made += atomic_load_explicit(&tasks->made, memory_order_relaxed); /* relaxed: the ends order it */
    }
    return made == ended;
}

/* -- The box: a list in the order of priorities -- */

void abtomp_box_put_locked(struct abtomp_team *team, struct abtomp_task *task)
{
    struct abtomp_task **at = &team->box;
    if (team->box && team->box_last->priority >= task->priority)
        at = &team->box_last->next;
    while (*at && (*at)->priority >= task->priority)
        at = &(*at)->next;
    task->next = *at;
    *at = task;
    if (!task->next)
        team->box_last = task;
    /* relaxed: a hint, and the lock is held */
    uint32_t num = atomic_load_explicit(&team->num_boxed, memory_order_relaxed);
    atomic_store_explicit(&team->num_boxed, num + 1, memory_order_relaxed);
}

void abtomp_box_put(struct abtomp_team *team, struct abtomp_task *task)
{
    abtomp_mutex_lock(&team->box_lock);
    abtomp_box_put_locked(team, task);
    abtomp_mutex_unlock(&team->box_lock);
}

/* -- The search -- */

/* Who looks for which tasks. */
struct search {
    struct abtomp_team *team;
    const struct abtomp_task *current;
    const struct abtomp_await *await;
};

/*
 * Whether the task may run now: any, or only descendants of the one that waits. Of these its children and the tasks of
 * its group are known: those between it and others may have ended, and their memory may be gone.
 *
 * The lock of the task's place is held: what is seen there of a later region is seen with the `go` of that region, so
 * that no member runs tasks of a region that it has not begun.
 */
static bool may_take(const struct abtomp_task *task, const void *arg)
{
    const struct search *search = arg;
    const struct abtomp_await *await = search->await;
    /* relaxed: the lock orders it */
    if (await->docked && atomic_load_explicit(&search->team->go, memory_order_relaxed) != await->docked)
        return false;
    return await->takes_any || task->parent == search->current || (await->group && task->group == await->group);
}

static struct abtomp_task *take_boxed(const struct search *search)
{
    struct abtomp_team *team = search->team;
    struct abtomp_task *before = NULL;
    abtomp_mutex_lock(&team->box_lock);
    struct abtomp_task *task = team->box;
    while (task && !may_take(task, search)) {
        before = task;
        task = task->next;
    }
    if (task) {
        *(before ? &before->next : &team->box) = task->next;
        if (!task->next)
            team->box_last = before;
        /* relaxed: as in abtomp_box_put_locked */
        uint32_t num = atomic_load_explicit(&team->num_boxed, memory_order_relaxed);
        atomic_store_explicit(&team->num_boxed, num - 1, memory_order_relaxed);
    }
    abtomp_mutex_unlock(&team->box_lock);
    return task;
}

static struct abtomp_task *take_own(struct abtomp_member *me, struct abtomp_tasks *own)
{
    struct abtomp_task *task = abtomp_deque_pop(&own->deque, own->base);
    uint32_t left = own->deque.top - own->deque.split, public = abtomp_deque_num_public(&own->deque);
    if (task && left > 0 && ABTOMP_UNLIKELY(public < left || (int)public < me->team->num - 1))
        abtomp_crew_publish(me, own);
    return task;
}

/* Who may run any task takes several at once: what is left goes to its own deque, so that others find it there. */
static struct abtomp_task *steal_task(struct abtomp_member *me, struct abtomp_tasks *own, const struct search *search,
                                      int num)
{
    struct abtomp_task *booty[MOST_BOOTY];
    uint32_t most = search->await->takes_any ? MOST_BOOTY : 1;
    for (int i = 1; i < num; i++) {
        int other = (me->num + i) % num;
        /* acquire: pairs with the release in abtomp_tasks_new */
        struct abtomp_tasks *tasks = atomic_load_explicit(&search->team->members[other]->tasks, memory_order_acquire);
        uint32_t got = tasks ? abtomp_deque_steal(&tasks->deque, booty, most, may_take, search) : 0;
        if (got == 0)
            continue;
        while (got > 1)
            abtomp_task_ready(me, own, booty[--got]);
        return booty[0];
    }
    return NULL;
}

static struct abtomp_task *find(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await)
{
    struct search search = {me->team, own->task, await};
    struct abtomp_task *task = NULL;
    /* relaxed: a hint, and the lock orders the tasks */
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&me->team->num_boxed, memory_order_relaxed) > 0))
        task = take_boxed(&search);
    if (!task)
        task = take_own(me, own);
    if (!task && !await->docked)
        task = steal_task(me, own, &search, me->team->num);
    return task;
}

/* Between regions the members of the team may change: not as long as somebody is seen to look through them. */
static struct abtomp_task *find_docked(struct abtomp_member *me, struct abtomp_tasks *own,
                                       const struct abtomp_await *await)
{
    struct abtomp_team *team = me->team;
    struct search search = {team, own->task, await};
    struct abtomp_task *task = find(me, own, await);
    if (task)
        return task;
    /* seq_cst, both: pairs with the fence in abtomp_crew_quiet: this member sees another `go`, or the other one it */
    atomic_fetch_add_explicit(&team->scanners, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&team->go, memory_order_seq_cst) == await->docked)
        task = steal_task(me, own, &search, (int)(await->docked & ABTOMP_GO_NUM));
    /* release: pairs with the acquire in abtomp_crew_quiet */
    atomic_fetch_sub_explicit(&team->scanners, 1, memory_order_release);
    return task;
}

void abtomp_crew_quiet(struct abtomp_team *team)
{
    /* seq_cst: pairs with the accesses in find_docked. acquire: pairs with the release there */
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&team->scanners, memory_order_acquire) > 0)
        sched_yield();
}

static inline struct abtomp_task *find_any(struct abtomp_member *me, struct abtomp_tasks *own,
                                           const struct abtomp_await *await)
{
    return await->docked ? find_docked(me, own, await) : find(me, own, await);
}

bool abtomp_crew_run(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await)
{
    struct abtomp_task *task = find_any(me, own, await);
    if (task)
        abtomp_task_run(me, own, task);
    return task != NULL;
}

void abtomp_crew_publish(struct abtomp_member *me, struct abtomp_tasks *own)
{
    if (me->team->num == 1)
        return;
    abtomp_deque_publish(&own->deque, (uint32_t)me->team->num - 1);
    abtomp_crew_ring(me->team);
}

/* -- Waits -- */

/*
 * Sleeps, if there is nothing to do after the member has counted itself; a task that it finds then is run. True: the
 * wait has ended.
 */
static bool crew_rest(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await, int num,
                      bool *has_run)
{
    struct abtomp_team *team = me->team;
    struct abtomp_task *task = NULL;
    /* relaxed, all: the fence orders them. seq_cst: pairs with the fence in abtomp_crew_ring, and with leave_count */
    atomic_fetch_add_explicit(&team->hungry, 1, memory_order_relaxed);
    if (await->waits)
        atomic_fetch_or_explicit(await->waits, ABTOMP_WAITS, memory_order_relaxed);
    uint32_t bell = atomic_load_explicit(&team->bell, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    bool is_over = await->done(me, await->arg);
    if (!is_over)
        task = find_any(me, own, await);
    if (!is_over && !task)
        abtomp_wait(&team->bell, bell, num); /* acquire: pairs with the releases by which the bell is rung */
    atomic_fetch_sub_explicit(&team->hungry, 1, memory_order_relaxed); /* relaxed: late, it costs a wake */
    if (await->waits) {
        /* relaxed: a ring too many does no harm, and the next look acquires what others have done */
        atomic_fetch_and_explicit(await->waits, ~ABTOMP_WAITS, memory_order_relaxed);
    }
    if (task)
        abtomp_task_run(me, own, task);
    *has_run = task != NULL;
    return is_over;
}

void abtomp_crew_await(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await)
{
    int num = await->docked ? (int)(await->docked & ABTOMP_GO_NUM) : me->team->num;
    bool has_run = false;
    while (!await->done(me, await->arg)) {
        if (abtomp_crew_run(me, own, await)) {
            has_run = true;
            continue;
        }
        if (await->docked && has_run)
            abtomp_crew_ring(me->team); /* member 0 may wait for these tasks */
        if (crew_rest(me, own, await, num, &has_run))
            return;
    }
}

/* -- The waits of teams -- */

struct barrier {
    uint32_t passed; /* the word before the barrier */
    bool may_be_cancelled, is_cancelled;
};

static bool barrier_is_passed(struct abtomp_member *me, void *arg)
{
    struct abtomp_team *team = me->team;
    struct barrier *barrier = arg;
    uint32_t passed = barrier->passed, num = (uint32_t)team->num, arrived = num;
    /* acquire: pairs with the release below, in barrier_is_passed */
    if ((atomic_load_explicit(&team->barriers, memory_order_acquire) ^ passed) >= ABTOMP_BARRIER_ONE)
        return true;
    if (ABTOMP_UNLIKELY(barrier->may_be_cancelled && abtomp_barrier_is_cancelled(team)))
        return barrier->is_cancelled = true;
    /* acquire: pairs with the release in abtomp_barrier_pass: those that have arrived make no tasks */
    if (atomic_load_explicit(&team->arrived, memory_order_acquire) != num || !abtomp_tasks_are_over(team))
        return false;
    /* acq_rel: pairs with itself, in barrier_is_passed: one of several goes on. relaxed: another one has */
    if (!atomic_compare_exchange_strong_explicit(&team->arrived, &arrived, 0, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    abtomp_crew_close(team);
    atomic_store_explicit(&team->cancelled, 0, memory_order_relaxed); /* relaxed: the next store publishes it */
    /* release: pairs with the acquire above, in barrier_is_passed, and with that in abtomp_wait */
    atomic_store_explicit(&team->barriers, passed / ABTOMP_BARRIER_ONE * ABTOMP_BARRIER_ONE + ABTOMP_BARRIER_ONE,
                          memory_order_release);
    abtomp_wake(&team->barriers);
    abtomp_crew_ring(team);
    return true;
}

bool abtomp_crew_barrier(struct abtomp_member *me, uint32_t passed, bool may_be_cancelled)
{
    struct barrier barrier = {.passed = passed, .may_be_cancelled = may_be_cancelled};
    struct abtomp_await await = {.done = barrier_is_passed, .arg = &barrier, .takes_any = true};
    abtomp_crew_await(me, abtomp_tasks_of(me), &await);
    return !barrier.is_cancelled;
}

static bool region_is_over(struct abtomp_member *me, void *arg)
{
    struct abtomp_team *team = me->team;
    (void)arg;
    /* relaxed: this member has written it, but for the lower bits */
    uint32_t go = atomic_load_explicit(&team->go, memory_order_relaxed);
    /* acquire: pairs with the release in leave_region */
    uint32_t back = atomic_load_explicit(&team->back, memory_order_acquire);
    return (back ^ go) >> ABTOMP_GO_BITS == 0 && abtomp_tasks_are_over(team);
}

void abtomp_crew_gather(struct abtomp_member *me)
{
    static const struct abtomp_await await = {.done = region_is_over, .takes_any = true};
    struct abtomp_team *team = me->team;
    abtomp_crew_await(me, abtomp_tasks_of(me), &await);
    abtomp_crew_close(team);
    atomic_fetch_and_explicit(&team->barriers, ~(uint32_t)ABTOMP_BARRIER_TASKS,
                              memory_order_relaxed); /* relaxed: nobody is at a barrier */
    abtomp_crew_ring(team);
}

static bool region_is_left(struct abtomp_member *me, void *arg)
{
    /* acquire: pairs with the release in abtomp_team_release, and in abtomp_crew_ring for abtomp_crew_close */
    return atomic_load_explicit(&me->team->go, memory_order_acquire) != *(uint32_t *)arg;
}

void abtomp_crew_help(struct abtomp_member *me, uint32_t go)
{
    struct abtomp_await await = {.done = region_is_left, .arg = &go, .takes_any = true, .docked = go};
    abtomp_crew_await(me, abtomp_tasks_of(me), &await);
}
