/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members do while they wait in a team that has tasks: they run tasks, and when there is none they sleep.
 *
 * The bell. A team without tasks waits at its plain words: the others at `go`, member 0 at `back`, and all at
 * `barriers`. The first task sets a bit in each of them, so that all waiters come here; from then on they wait for the
 * bell, until all tasks have ended at a barrier or at the end of the region. A waiter counts itself as waiting,
 * reads the bell, and polls once more; a thread that changes something rings if somebody waits. Each has a fence of all
 * accesses in between, so that the first sees the change, or the other one the count.
 *
 * Who rings. A member makes tasks public before it leaves the search, into a task or into the program, if few are, and
 * then rings if somebody is hungry: has found no task. What it keeps it runs itself, next. So no member sleeps that may
 * run any task as long as one is public, and of all others that are ready some member runs one. Before a member sleeps
 * it makes public what another one keeps that is away for long, in a task or in the program. A member that ends the
 * last task that others wait for, passes a barrier, fulfils an event or cancels rings, too.
 *
 * Rest. The tasks of others are worth a member's while only if they are large: its poll, its lock and the memory that
 * it moves disturb their maker, which would have run them sooner, more than small ones take. So a member that may run
 * any task measures how long those take that it gets, and rests after some small ones, as the library's thieves do
 * (pool/thief_policy.h). It still counts as waiting, but not as hungry, so that no maker of small tasks ever rings for
 * it. It rests for some microseconds at most, and polls then: tasks are late, never lost.
 *
 * The end. Each member, also one of an earlier region only, counts what it has made and ended, in numbers that only
 * grow. All numbers of ends are read first, then all of what was made: if they are equal, there was a moment in between
 * when all had ended. A member that sees the end of a task sees, too, what it has made, since that was counted before.
 * So of a task that has not ended, the task itself or an ancestor is counted as made and not as ended, and the numbers
 * differ. Members that have arrived make none. Members that end the last two tasks at the same time each have a fence
 * before they read, so that one of them sees both ends.
 */
#include "task/relief.h"
#include "task/tasks.h"

#include <sched.h>
#include <time.h>

enum { RELAXES = 8 }; /* between two looks at the clock */

/* -- The bell -- */

void abtomp_crew_open(struct abtomp_team *team)
{
    /* relaxed: the words below publish it, and other makers of tasks need nothing that was done here */
    if (atomic_exchange_explicit(&team->has_tasks, true, memory_order_relaxed) || team->num == 1)
        return;
    /* release, all: pairs with the acquire in is_changed (sync/wait.c), at the waits for these words: abtomp_wait */
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
    /* release: pairs with the acquire in abtomp_barrier_pass: `arrived` is no longer the number of all */
    atomic_store_explicit(&team->has_tasks, false, memory_order_release);
    /* relaxed, both: what the caller does next publishes them */
    atomic_fetch_and_explicit(&team->go, ~(uint32_t)ABTOMP_GO_TASKS, memory_order_relaxed);
    atomic_fetch_and_explicit(&team->back, ~(uint32_t)ABTOMP_GO_TASKS, memory_order_relaxed);
}

bool abtomp_tasks_are_over(struct abtomp_team *team)
{
    uint64_t ended = 0, made = 0;
    atomic_thread_fence(memory_order_seq_cst); /* seq_cst: pairs with itself, in abtomp_tasks_are_over */
    for (int i = 0; i < team->capacity; i++) {
        /* acquire: pairs with the release in abtomp_tasks_make */
        const struct abtomp_tasks *tasks = atomic_load_explicit(&team->members[i]->tasks, memory_order_acquire);
        for (; tasks; tasks = abtomp_tasks_next(tasks))
            ended += atomic_load_explicit(&tasks->ended, memory_order_acquire); /* pairs with the release in end_task */
    }
    for (int i = 0; i < team->capacity; i++) {
        const struct abtomp_tasks *tasks = atomic_load_explicit(&team->members[i]->tasks, memory_order_acquire);
        for (; tasks; tasks = abtomp_tasks_next(tasks))
            made += atomic_load_explicit(&tasks->made, memory_order_relaxed); /* relaxed: the ends order it */
    }
    return made == ended;
}

/* -- When to go for others -- */

uint64_t abtomp_now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

/* The member has run what it got. Until when it rests; 0: it does not. */
static uint64_t learn_return(struct abtomp_tasks *own)
{
    if (!abti_thief_needs_time(&own->thief, &own->truce))
        return 0;
    abti_thief_learn_return(&own->thief, &own->truce, abtomp_now_ns());
    return abti_truce_end(&own->truce); /* it is its own. The bell may end the rest, too */
}

/* -- The search -- */

/* Which member takes which tasks. */
struct search {
    struct abtomp_team *team;
    const struct abtomp_task *current;
    const struct abtomp_await *await;
    bool exposes; /* also what a member keeps that is away */
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

struct abtomp_task *abtomp_crew_take_own(struct abtomp_member *me, struct abtomp_tasks *own)
{
    if (!abtomp_deque_may_pop(&own->deque, own->base))
        return NULL;
    struct abtomp_task *task = abtomp_deque_pop(&own->deque, own->base, &me->team->num);
    abtomp_crew_offer(me, own);
    return task;
}

/* The owner keeps tasks, and nothing is public. It makes some public itself if it comes by within this time. */
enum { AWAY_NS = ABTOMP_BUILD_ASSERT ? 0 : 20000 };

static void expose_kept(struct abtomp_team *team, struct abtomp_deque *deque)
{
    uint32_t top = abtomp_deque_top(deque);
    uint64_t until_ns = abtomp_now_ns() + AWAY_NS;
    do {
        for (int i = 0; i < RELAXES; i++)
            ABTOMP_RELAX();
        if (abtomp_deque_top(deque) != top || abtomp_deque_num_public(deque) > 0)
            return;
    } while (abtomp_now_ns() < until_ns);
    abtomp_deque_expose(deque);
    if (abtomp_deque_num_public(deque) > 0)
        abtomp_bell_call(team); /* others may have some, too */
}

/* Takes public tasks of a member or of one of its reliefs. `is_own`: these are of the same member as `own`. */
static uint32_t steal_from(const struct abtomp_tasks *own, bool is_own, struct abtomp_tasks *tasks,
                           struct abtomp_task **stolen, uint32_t most, const struct search *search)
{
    uint32_t got = 0;
    for (; tasks && got == 0; tasks = abtomp_tasks_next(tasks)) {
        if (tasks == own)
            continue;
        /* The other one is a ULT of this stream, and does not run: what is its own can be had, too. */
        if (is_own && abtomp_deque_num_kept(&tasks->deque) > 0)
            abtomp_deque_bare(&tasks->deque);
        if (search->exposes && abtomp_deque_num_public(&tasks->deque) == 0 && abtomp_deque_num_kept(&tasks->deque) > 0)
            expose_kept(search->team, &tasks->deque);
        got = abtomp_deque_steal(&tasks->deque, stolen, most, may_take, search);
    }
    return got;
}

/* A member that may run any task takes several at once: what is left goes to its own deque, so that others find it
 * there. */
static struct abtomp_task *steal_task(struct abtomp_member *me, struct abtomp_tasks *own, const struct search *search,
                                      int num)
{
    struct abtomp_task *stolen[1 + ABTI_THIEF_BULK];
    bool takes_more = search->await->takes_any && !search->await->is_relief;
    uint32_t most = takes_more ? 1u + own->thief.more : 1;
    for (int i = 0; i < num; i++) {
        int other = (me->num + i) % num;
        /* acquire: pairs with the release in abtomp_tasks_make */
        struct abtomp_tasks *tasks = atomic_load_explicit(&search->team->members[other]->tasks, memory_order_acquire);
        uint32_t got = steal_from(own, i == 0, tasks, stolen, most, search);
        if (got == 0)
            continue;
        if (takes_more)
            abti_thief_learn_steal(&own->thief, abtomp_now_ns(), true);
        while (got > 1) {
            abtomp_task_put(me, own, stolen[--got]);
            abti_thief_learn_more(&own->thief); /* which it will have run when it returns, or others have */
        }
        abtomp_crew_offer(me, own);
        return stolen[0];
    }
    return NULL;
}

/* A task of the box, or of the own deque. */
static struct abtomp_task *find_here(struct abtomp_member *me, struct abtomp_tasks *own,
                                     const struct abtomp_await *await)
{
    struct abtomp_task *task = NULL;
    /* relaxed: a hint, and the lock orders the tasks */
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&me->team->box.num, memory_order_relaxed) > 0)) {
        struct search search = {me->team, own->task, await, false};
        task = abtomp_box_take(me->team, may_take, &search);
    }
    return task ? task : abtomp_crew_take_own(me, own);
}

/* Between regions the members of the team may change: not as long as somebody is seen to look through them. */
static struct abtomp_task *find_docked(struct abtomp_member *me, struct abtomp_tasks *own, const struct search *search)
{
    struct abtomp_team *team = me->team;
    struct abtomp_task *task = NULL;
    uint32_t docked = search->await->docked;
    /* seq_cst, both: pairs with the fence in abtomp_crew_quiet: this member sees another `go`, or the other one it */
    atomic_fetch_add_explicit(&team->scanners, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&team->go, memory_order_seq_cst) == docked)
        task = steal_task(me, own, search, (int)(docked & ABTOMP_GO_NUM));
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

/* A task of the deque of another member. */
static struct abtomp_task *find_there(struct abtomp_member *me, struct abtomp_tasks *own,
                                      const struct abtomp_await *await, bool exposes)
{
    struct search search = {me->team, own->task, await, exposes};
    return await->docked ? find_docked(me, own, &search) : steal_task(me, own, &search, me->team->num);
}

static struct abtomp_task *find_any(struct abtomp_member *me, struct abtomp_tasks *own,
                                    const struct abtomp_await *await)
{
    struct abtomp_task *task = find_here(me, own, await);
    return task ? task : find_there(me, own, await, false);
}

void abtomp_crew_run(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await)
{
    struct abtomp_task *task = find_any(me, own, await);
    if (!task)
        return;
    abtomp_task_run(me, own, task);
    abtomp_debts_pay(me, own);
    abtomp_crew_offer(me, own);
}

void abtomp_crew_publish(struct abtomp_member *me, struct abtomp_tasks *own)
{
    if (me->team->num == 1)
        return;
    abtomp_deque_publish(&own->deque, (uint32_t)me->team->num - 1);
    abtomp_bell_call(me->team);
}

/* -- Waits -- */

/* Goes on counting a count in `others` alone, and says there that the member waits. relaxed: the caller's fence orders
 * it */
static void begin_counting(struct abtomp_count *count)
{
    uint32_t left = count->made - count->ended;
    count->made = count->ended = ABTOMP_COUNT_START;
    atomic_fetch_sub_explicit(&count->others, left * ABTOMP_ONE - ABTOMP_WAITS, memory_order_relaxed);
}

/*
 * Sleeps, if there is nothing to do after the member has counted itself; a task that it finds then is run. True: the
 * wait has ended.
 */
static bool crew_sleep(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await, int num,
                       bool *has_run)
{
    struct abtomp_team *team = me->team;
    struct abtomp_task *task = NULL;
    /* relaxed, all: the fence orders them. seq_cst: pairs with the fence in ring_for */
    atomic_fetch_add_explicit(&team->waiting, ABTOMP_HUNGRY, memory_order_relaxed);
    if (await->count)
        begin_counting(await->count);
    uint32_t bell = atomic_load_explicit(&team->bell, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    bool is_over = await->done(me, await->arg);
    if (!is_over)
        task = find_any(me, own, await);
    if (!is_over && !task && await->takes_any)
        task = find_there(me, own, await, true);
    if (!is_over && !task) {
        own->lead->num_polling += await->takes_any;
        abtomp_stay_as(await->takes_any ? ABTOMP_STAYS_POLLING : ABTOMP_STAYS_TIED);
        abtomp_wait(&team->bell, bell, team, num); /* acquire: pairs with the releases by which the bell is rung */
        abtomp_stay_as(ABTOMP_STAYS_UNSEEN);
        own->lead->num_polling -= await->takes_any;
    }
    atomic_fetch_sub_explicit(&team->waiting, ABTOMP_HUNGRY, memory_order_relaxed); /* relaxed: late, it costs a wake */
    if (await->count) {
        /* relaxed: nobody rings any more, and the next poll acquires what others have done */
        atomic_fetch_and_explicit(&await->count->others, ~(uint32_t)ABTOMP_WAITS, memory_order_relaxed);
    }
    if (task)
        abtomp_task_run(me, own, task);
    *has_run = task != NULL;
    return is_over;
}

/*
 * Waits for the bell while reliefs look for tasks: the stream asks for one when the caller has left it. True: the wait
 * has ended. It does not count as hungry, so that no maker of tasks rings for it.
 */
static bool crew_stand_by(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await, int num)
{
    struct abtomp_team *team = me->team;
    /* relaxed, all: the fence orders them. seq_cst: pairs with the fence in ring_for */
    atomic_fetch_add_explicit(&team->waiting, ABTOMP_RESTS, memory_order_relaxed);
    uint32_t bell = atomic_load_explicit(&team->bell, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    bool is_over = await->done(me, await->arg);
    if (!is_over) {
        own->stands_by = true;
        abtomp_stay_as(ABTOMP_STAYS_RELIEVED);
        abtomp_wait(&team->bell, bell, team, num); /* acquire: as in crew_sleep */
        abtomp_stay_as(ABTOMP_STAYS_UNSEEN);
        own->stands_by = false;
    }
    atomic_fetch_sub_explicit(&team->waiting, ABTOMP_RESTS, memory_order_relaxed);
    return is_over;
}

/* Waits for the bell, but no longer than so. What is rung for before the member has counted itself is seen later. */
static void crew_rest(struct abtomp_team *team, int num, uint64_t until_ns)
{
    /* relaxed, all: the caller looks at everything else again */
    atomic_fetch_add_explicit(&team->waiting, ABTOMP_RESTS, memory_order_relaxed);
    uint32_t bell = atomic_load_explicit(&team->bell, memory_order_relaxed);
    do {
        for (int i = 0; i < RELAXES; i++)
            ABTOMP_RELAX();
        if (num > abtomp_env.num_procs)
            sched_yield();
    } while (atomic_load_explicit(&team->bell, memory_order_relaxed) == bell && abtomp_now_ns() < until_ns);
    atomic_fetch_sub_explicit(&team->waiting, ABTOMP_RESTS, memory_order_relaxed);
}

/* What the member has run is reported; another one, which may sleep, may wait for it. */
static void tell_ends(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await,
                      bool *has_run)
{
    abtomp_debts_pay(me, own);
    if (await->is_relief)
        return; /* when it finds no more, and when it ends */
    if (await->docked && *has_run)
        abtomp_bell_ring(me->team);
    *has_run = false;
}

/* Those that wait for the end of all tasks learn of it by the member that has ended the last one, which does not wait
 * for that. */
void abtomp_crew_tell_over(struct abtomp_team *team)
{
    if (abtomp_has_tasks(team) && abtomp_tasks_are_over(team))
        abtomp_bell_ring(team);
}

/*
 * A member that may run any task has no end to wait for as long as it finds some in its own deque. A relief may end
 * after each, and leaves the stream to others.
 */
static struct abtomp_task *find_first(struct abtomp_member *me, struct abtomp_tasks *own,
                                      const struct abtomp_await *await)
{
    return await->takes_any && !await->is_relief && own->num_reliefs == 0 ? find_here(me, own, await) : NULL;
}

/* There is nothing else to do: rests, runs a task of another member, or sleeps. True: the wait has ended. */
static bool go_for_others(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await,
                          bool *has_run)
{
    int num = await->docked ? (int)(await->docked & ABTOMP_GO_NUM) : me->team->num;
    if (ABTOMP_UNLIKELY(await->takes_any && own->num_reliefs > 0))
        return crew_stand_by(me, own, await, num);
    uint64_t until_ns = await->takes_any && !await->is_relief ? learn_return(own) : 0;
    if (until_ns > 0) {
        crew_rest(me->team, num, until_ns);
        return false;
    }
    struct abtomp_task *task = find_any(me, own, await);
    if (!task && await->is_relief && *has_run)
        abtomp_crew_tell_over(me->team);
    if (!task)
        return crew_sleep(me, own, await, num, has_run);
    abtomp_task_run(me, own, task);
    *has_run = true;
    return false;
}

void abtomp_crew_await(struct abtomp_member *me, struct abtomp_tasks *own, const struct abtomp_await *await)
{
    bool has_run = false, is_over = false;
    if (await->takes_any)
        own->thief.got_ns = 0; /* that was in another wait */
    while (!is_over) {
        struct abtomp_task *task = find_first(me, own, await);
        if (task) {
            abtomp_task_run(me, own, task);
            has_run = true;
            continue;
        }
        tell_ends(me, own, await, &has_run);
        is_over = await->done(me, await->arg) || go_for_others(me, own, await, &has_run);
    }
    abtomp_crew_offer(me, own);
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
    if (atomic_load_explicit(abtomp_arrived(team), memory_order_acquire) != num || !abtomp_tasks_are_over(team))
        return false;
    /* acq_rel: pairs with itself, in barrier_is_passed: one of several goes on. relaxed: another one has */
    if (!atomic_compare_exchange_strong_explicit(abtomp_arrived(team), &arrived, 0, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    abtomp_crew_close(team);
    atomic_store_explicit(&team->cancelled, 0, memory_order_relaxed); /* relaxed: the next store publishes it */
    /* release: pairs with the acquire above, in barrier_is_passed, and with that in abtomp_wait */
    atomic_store_explicit(&team->barriers, passed / ABTOMP_BARRIER_ONE * ABTOMP_BARRIER_ONE + ABTOMP_BARRIER_ONE,
                          memory_order_release);
    abtomp_wake(&team->barriers);
    abtomp_bell_ring(team);
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
    abtomp_bell_ring(team);
}

static bool region_is_left(struct abtomp_member *me, void *arg)
{
    /* acquire: pairs with the release in abtomp_team_release, and in abtomp_bell_ring for abtomp_crew_close */
    return atomic_load_explicit(&me->team->go, memory_order_acquire) != *(uint32_t *)arg;
}

void abtomp_crew_help(struct abtomp_member *me, uint32_t go)
{
    struct abtomp_await await = {.done = region_is_left, .arg = &go, .takes_any = true, .docked = go};
    struct abtomp_tasks *own = abtomp_tasks_of(me);
    own->docked = go;
    abtomp_crew_await(me, own, &await);
    abtomp_reliefs_end(me, go);
    own->docked = 0;
}
