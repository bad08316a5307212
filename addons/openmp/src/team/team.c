/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of teams: made, docked, released and gathered. */
#include "ompt/tool.h"
#include "team/serial.h"
#include "task/relief.h"
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>

/* -- Memory -- */

static struct abtomp_member *member_new(struct abtomp_team *team, int num)
{
    struct abtomp_member *member = aligned_alloc(_Alignof(struct abtomp_member), sizeof(*member));
    if (!member)
        return NULL;
    memset(member, 0, sizeof(*member));
    member->team = team;
    member->num = num;
    return member;
}

struct abtomp_team *abtomp_team_new(struct abtomp_member *parent)
{
    struct abtomp_team *team = aligned_alloc(_Alignof(struct abtomp_team), sizeof(*team));
    if (!team)
        return NULL;
    memset(team, 0, sizeof(*team));
    team->parent = parent;
    team->num = team->capacity = 1;
    atomic_init(&team->siblings, 1);
    atomic_init(&team->grown, ABTOMP_COUNT_START);
    atomic_init(&team->barriers, ABTOMP_COUNT_START);
    atomic_init(&team->bell, ABTOMP_COUNT_START);
    team->box.count = ABTOMP_COUNT_START;
    team->level = parent ? parent->team->level + 1 : 0;
    team->members = malloc(sizeof(team->members[0]));
    team->shares = abtomp_shares_new(1);
    struct abtomp_member *first = member_new(team, 0);
    if (!team->members || !team->shares || !first) {
        free(team->members);
        abtomp_shares_free(team->shares);
        free(first);
        free(team);
        return NULL;
    }
    team->members[0] = first;
    return team;
}

void abtomp_team_free(struct abtomp_team *team)
{
    for (int i = 0; i < team->capacity; i++)
        abtomp_member_free(team->members[i]);
    free(team->members);
    abtomp_shares_free(team->shares);
    free(team->later.ring);
    free(team->box.heap);
    free(team);
}

/* -- The threads -- */

/* Whether a member that has no part in the present region, and is to have one in the next, had that count before. */
static bool is_known(const struct abtomp_team *team, uint32_t go, uint32_t from, uint32_t num)
{
    for (uint32_t i = from; i < num; i++)
        if ((team->members[i]->last ^ go) >> ABTOMP_GO_BITS == 0)
            return true;
    return false;
}

/*
 * The bits of `go` for the next region. The count starts again after some time, so that it is passed over if a member
 * that was left out since then may take it for that of its last region (serve_regions).
 */
static uint32_t next_go(const struct abtomp_team *team, uint32_t num)
{
    /* relaxed: only member 0 writes it, which calls */
    uint32_t now = atomic_load_explicit(&team->go, memory_order_relaxed), before = now & ABTOMP_GO_NUM, go = now;
    do {
        go = ((go >> ABTOMP_GO_BITS) + 1) << ABTOMP_GO_BITS | num;
    } while (ABTOMP_UNLIKELY(num > before) && is_known(team, go, before, num));
    for (uint32_t i = num; i < before; i++)
        team->members[i]->last = now;
    return go;
}

/* `num` members have the region. */
static void leave_region(struct abtomp_team *team, uint32_t num)
{
    uint32_t go = atomic_load_explicit(&team->go, memory_order_relaxed); /* relaxed: it was seen before */
    if (num > 2) {
        /* acq_rel: pairs with itself, in leave_region: the last one sees what all have done, */
        uint32_t back = atomic_fetch_add_explicit(&team->back, 1, memory_order_acq_rel) & ABTOMP_GO_NUM;
        if (back + 1 < num - 1)
            return;
    }
    /* release: pairs with the acquire in abtomp_team_gather: and member 0, too */
    atomic_store_explicit(&team->back, go >> ABTOMP_GO_BITS << ABTOMP_GO_BITS, memory_order_release);
    abtomp_wake(&team->back);
    if (abtomp_has_tasks(team))
        abtomp_bell_ring(team);
}

/* Tells the threads that have no member of the last region that there is another one, which has more, or none at all.
 */
static void set_region(struct abtomp_team *team, int num)
{
    /* relaxed: only the caller writes it */
    uint32_t before = atomic_load_explicit(&team->go, memory_order_relaxed) & ABTOMP_GO_NUM;
    /* release: pairs with the acquires in await_region and serve_regions */
    atomic_store_explicit(&team->go, next_go(team, (uint32_t)num), memory_order_release);
    abtomp_wake(&team->go);
    if (ABTOMP_LIKELY((uint32_t)num == before))
        return;
    /* release: pairs with the acquire in await_region */
    atomic_fetch_add_explicit(&team->grown, 1, memory_order_release);
    abtomp_wake(&team->grown);
}

/*
 * Waits for the next region. The members that have no part in such small ones wait for a larger one: to be woken by
 * each would take the processors from those that have. A member that sees `grown` as it was and then `go` as it was
 * will see `grown` change: it is written later.
 */
static void await_region(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    /* acquire, both: pair with the releases in set_region */
    uint32_t grown = atomic_load_explicit(&team->grown, memory_order_acquire);
    uint32_t num = atomic_load_explicit(&team->go, memory_order_acquire) & ABTOMP_GO_NUM;
    if (num > 0 && (uint32_t)me->num >= num)
        abtomp_wait(&team->grown, grown, team, me->num + 1);
    else
        abtomp_wait(&team->go, me->seen, team, num > 0 ? (int)num : me->num + 1);
}

/*
 * Runs the regions of the team until it ends. A member that is not in one may see later ones only: nobody waits for it.
 */
static void serve_regions(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    for (;;) {
        await_region(me);
        /* acquire: pairs with the release in set_region */
        uint32_t go = atomic_load_explicit(&team->go, memory_order_acquire);
        /* It had no part in the one that it has seen last, or ran it, and no region that it has part in ends without it
         */
        bool is_new = (me->seen & ABTOMP_GO_NUM) <= (uint32_t)me->num || (go ^ me->seen) >> ABTOMP_GO_BITS != 0;
        me->seen = is_new ? go & ~(uint32_t)ABTOMP_GO_TASKS : go; /* of tasks it hears when it has left the region */
        if ((go & ABTOMP_GO_NUM) == 0)
            break;
        if (me->num >= (int)(go & ABTOMP_GO_NUM))
            continue;
        if (!is_new) {
            if (go & ABTOMP_GO_TASKS)
                abtomp_crew_help(me, go);
            continue;
        }
        abtomp_member_begin(me);
        team->fn(team->data);
        abtomp_reliefs_end(me, 0);
        leave_region(team, go & ABTOMP_GO_NUM);
    }
    abtomp_teams_end(me);
}

void abtomp_thread_run(struct abtomp_member *me, void (*run)(struct abtomp_member *me))
{
    struct abtomp_watch watch = {0}; /* not of malloc, which makes a heap for a thread that uses it */
    abtomp_current = me;
    abtomp_watch_thread(&watch);
    if (abtomp_is_observed())
        abtomp_tool_thread_begin(ompt_thread_worker);
    run(me);
    if (abtomp_is_observed())
        abtomp_tool_thread_end();
    abtomp_watch_end();
    abtomp_stream_leave();
}

static void *member_main(void *arg)
{
    abtomp_thread_run(arg, serve_regions);
    return NULL;
}

bool abtomp_thread_start(struct abtomp_member *member, void *(*main)(void *), bool is_detached)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    if (abtomp_env.stack_size > 0)
        (void)pthread_attr_setstacksize(&attr, abtomp_env.stack_size);
    if (is_detached)
        (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&member->thread, &attr, main, member);
    pthread_attr_destroy(&attr);
    return error == 0;
}

/* Makes room for that many members: what depends on their number. */
static bool make_room(struct abtomp_team *team, int num)
{
    struct abtomp_share **shares = abtomp_shares_new(num);
    if (!shares)
        return false;
    abtomp_shares_free(team->shares);
    team->shares = shares;
    abtomp_crew_quiet(team);
    struct abtomp_member **members = realloc(team->members, (size_t)num * sizeof(team->members[0]));
    if (!members)
        return false;
    team->members = members;
    return true;
}

/* Adds members until there are that many. `may_be_fewer`: or the system gives no more threads. */
static void team_grow(struct abtomp_team *team, int num, bool may_be_fewer)
{
    if (!make_room(team, num))
        return;
    while (team->capacity < num) {
        struct abtomp_member *member = member_new(team, team->capacity);
        if (!member)
            return;
        /* relaxed: only the caller writes it */
        member->seen = atomic_load_explicit(&team->go, memory_order_relaxed);
        if (!abtomp_thread_start(member, member_main, false)) {
            if (!may_be_fewer)
                abtomp_fail("the system gives no thread for a member of a region");
            free(member);
            return;
        }
        team->members[team->capacity++] = member;
    }
}

bool abtomp_team_fill(struct abtomp_team *team, int num)
{
    if (!make_room(team, num))
        return false;
    while (team->capacity < num) {
        struct abtomp_member *member = member_new(team, team->capacity);
        if (!member)
            return false;
        member->spread = team->members[0]->spread;
        team->members[team->capacity++] = member;
    }
    return true;
}

/*
 * Says how many teams may run such a region at once. relaxed, all: as is written in root_end. Written only if it
 * changes: others have read it.
 */
static void count_siblings(struct abtomp_team *team, const struct abtomp_team *around)
{
    enum { MOST = 1 << 15 }; /* no product overflows. Chosen */
    int siblings = around->num * atomic_load_explicit(&around->siblings, memory_order_relaxed);
    siblings = siblings < MOST ? siblings : MOST;
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&team->siblings, memory_order_relaxed) != siblings))
        atomic_store_explicit(&team->siblings, siblings, memory_order_relaxed);
}

struct abtomp_team *abtomp_team_get(struct abtomp_member *me, int num)
{
    abtomp_assert(num > 1 && num <= ABTOMP_MOST_MEMBERS);
    struct abtomp_team *team = me->inner;
    if (ABTOMP_UNLIKELY(!team)) {
        team = abtomp_team_new(me);
        if (!team)
            return NULL;
        me->inner = team;
    }
    if (ABTOMP_UNLIKELY(team->capacity < num))
        team_grow(team, num, me->icvs.dynamic);
    num = num < team->capacity ? num : team->capacity;
    if (ABTOMP_UNLIKELY(team->num != num)) /* written only if it changes: others have read it */
        team->num = num;
    count_siblings(team, me->team);
    return team->num > 1 ? team : NULL;
}

struct abtomp_team *abtomp_team_alone(struct abtomp_member *me)
{
    if (ABTOMP_UNLIKELY(!me->single))
        me->single = abtomp_team_new(me);
    return me->single;
}

void abtomp_member_begin(struct abtomp_member *me)
{
    const struct abtomp_member *parent = me->team->parent;
    int level = me->team->level;
    me->icvs = parent->icvs;
    me->icvs.num_threads = abtomp_num_threads(parent);
    if (level <= (int)(sizeof(abtomp_env.nested_threads) / sizeof(int)) && abtomp_env.nested_threads[level - 1] > 0)
        me->icvs.num_threads = abtomp_env.nested_threads[level - 1];
    abtomp_number_return(me);
    me->running = (struct abtomp_running){0};
    me->num_shares = ABTOMP_COUNT_START;
    me->num_singles = me->taken_singles = 0;
    me->share = NULL;
    me->league = parent->league;
    if (ABTOMP_UNLIKELY(me->group != NULL))
        abtomp_group_end(me);
    /* relaxed: this thread has made them */
    struct abtomp_tasks *tasks = atomic_load_explicit(&me->tasks, memory_order_relaxed);
    if (tasks)
        abtomp_tasks_begin(tasks);
    else if (ABTOMP_UNLIKELY(me->team->expects_waits))
        abtomp_expect_waits(me);
    if (ABTOMP_UNLIKELY(me->team->reductions != NULL))
        abtomp_group_begin(me, me->team->reductions);
    if (ABTOMP_UNLIKELY(abtomp_env.places_members))
        abtomp_member_place(me);
}

void abtomp_team_release(struct abtomp_team *team)
{
    abtomp_assert(team->num > 1);
    /* relaxed, all: `go` publishes them. What has its value already is not written: others have read it */
    if (atomic_load_explicit(&team->singles, memory_order_relaxed) != 0)
        atomic_store_explicit(&team->singles, 0, memory_order_relaxed);
    if (atomic_load_explicit(&team->has_shared, memory_order_relaxed))
        abtomp_shares_reset(team);
    bool expects_waits = abtomp_expects_waits();
    if (ABTOMP_UNLIKELY(team->expects_waits != expects_waits))
        team->expects_waits = expects_waits;
    set_region(team, team->num);
}

void abtomp_team_gather(struct abtomp_team *team)
{
    uint32_t go = atomic_load_explicit(&team->go, memory_order_relaxed), back; /* relaxed: the caller has written it */
    /* acquire: pairs with the release in leave_region. Only the last member wakes: a wait for an older value ends, too
     */
    while (((back = atomic_load_explicit(&team->back, memory_order_acquire)) ^ go) >> ABTOMP_GO_BITS != 0 &&
           !abtomp_has_tasks(team))
        abtomp_wait(&team->back, back, team, team->num);
    if (abtomp_has_tasks(team))
        abtomp_crew_gather(team->members[0]);
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&team->cancelled, memory_order_relaxed) != 0)) /* relaxed: all are back */
        abtomp_cancel_clear(team);
}

static void team_end(struct abtomp_team *team)
{
    if (!team)
        return;
    set_region(team, 0);
    for (int i = 1; i < team->capacity; i++)
        (void)pthread_join(team->members[i]->thread, NULL);
    abtomp_teams_end(team->members[0]);
    abtomp_team_free(team);
}

static void end_teams(struct abtomp_member *me)
{
    team_end(me->inner);
    team_end(me->single);
    abtomp_serial_end(me->serial);
    me->inner = me->single = me->serial = NULL;
}

void abtomp_teams_end(struct abtomp_member *me)
{
    /* relaxed: the member itself has made them */
    struct abtomp_tasks *own = atomic_load_explicit(&me->tasks, memory_order_relaxed);
    end_teams(me);
    for (own = own ? abtomp_tasks_next(own) : NULL; own; own = abtomp_tasks_next(own))
        end_teams(own->member);
}
