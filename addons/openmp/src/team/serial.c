/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serial teams. The numbers of a region are taken by one word, the ticket: a count of regions, the next number and how
 * many there are. The thread that met the region takes one at a time. abtomp_serial_spread takes all that are left, and
 * starts a thread for each: a barrier is met by all members or by none, so that until then nobody need run beside the
 * first. What has started stays where it is.
 *
 * Where the system gives no more threads the numbers that have none are put back. The thread that met the region takes
 * them when it has none to run, and the watch spreads them again and again meanwhile (watch.c). So that this thread
 * does not go on without them it waits while the ticket says SPREADS.
 *
 * Such a thread ends with its member. `back` counts them as it counts those of other teams, and `go` is set to what
 * that is to be when the first thread has taken its last number: so the end of a region is that of any team.
 */
#include "team/serial.h"
#include "task/tasks.h"

#include <sched.h>

enum { NUM_BITS = 16, GENERATION = 32, SPREADS = 1 << 15 };

static uint32_t num_of(uint64_t ticket)
{
    return ticket & (SPREADS - 1);
}

static uint32_t next_of(uint64_t ticket)
{
    return (uint32_t)ticket >> NUM_BITS;
}

static uint64_t make_ticket(uint64_t generation, uint32_t next, uint32_t num)
{
    return generation << GENERATION | (uint64_t)next << NUM_BITS | num;
}

/* -- Members -- */

/* The tasks that a member has left: later nobody looks into its deque. */
static void run_tasks(struct abtomp_member *me)
{
    /* relaxed: this thread has made them */
    struct abtomp_tasks *own = atomic_load_explicit(&me->tasks, memory_order_relaxed);
    if (!own)
        return;
    for (struct abtomp_task *task; (task = abtomp_crew_take_own(me, own)) != NULL;)
        abtomp_task_run(me, own, task);
    abtomp_debts_pay(me, own);
}

static inline void run_member(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    abtomp_member_begin(me);
    abtomp_current = me;
    team->fn(team->data);
    if (ABTOMP_UNLIKELY(abtomp_has_tasks(team)))
        run_tasks(me);
}

/* A thread of one member. When `runners` is counted down, the team may be freed. */
static void run_one(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    me->place = 0; /* of this thread, which is not bound yet */
    run_member(me);
    abtomp_current = NULL;
    /* acq_rel: pairs with the acquire in abtomp_team_gather, also for those that have counted before */
    atomic_fetch_add_explicit(&team->back, 1U << ABTOMP_GO_BITS, memory_order_acq_rel);
    abtomp_wake(&team->back);
    if (abtomp_has_tasks(team))
        abtomp_bell_ring(team);
    /* release: pairs with the acquire in abtomp_serial_end */
    atomic_fetch_sub_explicit(&team->runners, 1, memory_order_release);
}

static void *runner_main(void *arg)
{
    abtomp_thread_run(arg, run_one);
    return NULL;
}

uint32_t abtomp_serial_poll(const struct abtomp_team *team, uint64_t *ticket)
{
    /* relaxed: takers of numbers acquire what they are */
    *ticket = atomic_load_explicit(&team->ticket, memory_order_relaxed);
    return (uint32_t)(*ticket >> GENERATION);
}

bool abtomp_serial_is_pending(uint64_t ticket)
{
    return next_of(ticket) != num_of(ticket);
}

/* Starts a thread for each of the numbers, which the caller has taken. Returns the first one that got none. */
static uint32_t start_threads(struct abtomp_team *team, uint32_t next, uint32_t num)
{
    /* relaxed, both: abtomp_serial_end comes after these threads have counted themselves */
    atomic_fetch_add_explicit(&team->runners, num - next, memory_order_relaxed);
    while (next < num && abtomp_thread_start(team->members[next], runner_main, true))
        next++;
    atomic_fetch_sub_explicit(&team->runners, num - next, memory_order_relaxed);
    return next;
}

bool abtomp_serial_spread(struct abtomp_team *team, bool has_waited)
{
    /* acquire: pairs with the release in begin_serial: what the region is */
    uint64_t ticket = atomic_load_explicit(&team->ticket, memory_order_acquire), taken;
    /* relaxed: it is the function of this region if the ticket is taken below */
    void (*key)(void *) = atomic_load_explicit(&team->key, memory_order_relaxed);
    uint32_t num = num_of(ticket), next;
    do {
        next = next_of(ticket);
        if (next == num)
            return true;
        taken = make_ticket(ticket >> GENERATION, num, num | SPREADS);
        /* acquire: pairs with the release in begin_serial */
    } while (!atomic_compare_exchange_weak_explicit(&team->ticket, &ticket, taken, memory_order_acquire,
                                                    memory_order_acquire));
    uint32_t first = next;
    next = start_threads(team, first, num);
    /* release: pairs with the acquire in take_number_slow: `runners` is as it stays */
    atomic_store_explicit(&team->ticket, make_ticket(ticket >> GENERATION, next, num), memory_order_release);
    if ((next > first || has_waited) && abtomp_env.nested == ABTOMP_NESTED_AUTO)
        abtomp_verdict_learn(key, has_waited);
    return next == num;
}

/* -- Regions -- */

static struct abtomp_team *get_serial(struct abtomp_member *me, int num)
{
    struct abtomp_team *team = me->serial;
    if (ABTOMP_UNLIKELY(!team)) {
        team = abtomp_team_new(me);
        if (!team)
            return NULL;
        team->is_serial = true;
        team->members[0]->spread = abtomp_serial_spread;
        atomic_init(&team->ticket, make_ticket(ABTOMP_COUNT_START, 0, 0));
        me->serial = team;
    }
    if (ABTOMP_UNLIKELY(team->capacity < num) && !abtomp_team_fill(team, num))
        return NULL;
    if (ABTOMP_UNLIKELY(team->num != num)) {
        team->num = num;
        for (int i = 0; i < num; i++)
            team->members[i]->seen = (uint32_t)num;
    }
    team->active_level = me->team->active_level + 1;
    return team;
}

static void begin_serial(struct abtomp_team *team, const struct abtomp_region *region)
{
    team->fn = region->fn;
    team->data = region->data;
    team->bind = region->bind;
    team->reductions = region->reductions;
    /* relaxed, all: the ticket publishes them, and nobody runs any member */
    atomic_store_explicit(&team->key, region->key, memory_order_relaxed);
    atomic_store_explicit(&team->singles, 0, memory_order_relaxed);
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&team->has_shared, memory_order_relaxed)))
        abtomp_shares_reset(team);
    uint64_t generation = (atomic_load_explicit(&team->ticket, memory_order_relaxed) >> GENERATION) + 1;
    /* release: pairs with the acquire in abtomp_serial_spread. The first number is taken */
    atomic_store_explicit(&team->ticket, make_ticket(generation, 1, (uint32_t)team->num), memory_order_release);
}

/* Somebody spreads the serial team, or has just begun: waits until it is known what is left. */
static __attribute__((noinline)) uint32_t take_number_slow(struct abtomp_team *team)
{
    /* acquire: pairs with the release in abtomp_serial_spread */
    uint64_t ticket = atomic_load_explicit(&team->ticket, memory_order_acquire);
    do {
        for (; ticket & SPREADS; ticket = atomic_load_explicit(&team->ticket, memory_order_acquire))
            sched_yield();
        if (next_of(ticket) == num_of(ticket))
            return 0;
    } while (!atomic_compare_exchange_strong_explicit(&team->ticket, &ticket, ticket + (1 << NUM_BITS),
                                                      memory_order_acquire, memory_order_acquire));
    return next_of(ticket);
}

/* Takes the next number for the thread that met the region. 0: there is none. */
static inline uint32_t take_number(struct abtomp_team *team)
{
    /* relaxed, all: this thread knows what the region is, and members that others run are acquired at their end */
    uint64_t ticket = atomic_load_explicit(&team->ticket, memory_order_relaxed);
    if (next_of(ticket) == num_of(ticket))
        return ABTOMP_UNLIKELY(ticket & SPREADS) ? take_number_slow(team) : 0;
    if (ABTOMP_UNLIKELY(!atomic_compare_exchange_strong_explicit(&team->ticket, &ticket, ticket + (1 << NUM_BITS),
                                                                 memory_order_relaxed, memory_order_relaxed)))
        return take_number_slow(team);
    return next_of(ticket);
}

bool abtomp_serial_fits(const struct abtomp_member *me)
{
    uint64_t width = 1;
    for (const struct abtomp_team *team = me->team; team; team = team->parent ? team->parent->team : NULL) {
        if (!team->is_serial)
            width *= (uint64_t)team->num;
        if (width >= abtomp_env.serial_width)
            return true;
    }
    return false;
}

bool abtomp_serial_run(struct abtomp_member *me, const struct abtomp_region *region)
{
    abtomp_assert(region->num > 1 && region->num <= ABTOMP_MOST_MEMBERS);
    struct abtomp_team *team = abtomp_verdict(region->key) ? get_serial(me, region->num) : NULL;
    if (!team || !abtomp_watch_begin(team))
        return false;
    if (ABTOMP_UNLIKELY(region->reductions != NULL))
        abtomp_reductions_make(region->reductions, region->num);
    begin_serial(team, region);
    int own = 0;
    uint32_t number = 0;
    do {
        run_member(team->members[number]);
        own++;
    } while ((number = take_number(team)) > 0);
    if (ABTOMP_UNLIKELY(own < region->num))
        /* relaxed: only this thread reads it, but for the lower bits */
        atomic_fetch_add_explicit(&team->go, (uint32_t)(region->num - own) << ABTOMP_GO_BITS, memory_order_relaxed);
    abtomp_current = team->members[0];
    abtomp_team_gather(team);
    abtomp_watch_return(team);
    abtomp_current = me;
    return true;
}

void abtomp_serial_end(struct abtomp_team *team)
{
    if (!team)
        return;
    abtomp_watch_quiet();
    /* acquire: pairs with the release in runner_main */
    while (atomic_load_explicit(&team->runners, memory_order_acquire) > 0)
        sched_yield();
    for (int i = 0; i < team->capacity; i++)
        abtomp_teams_end(team->members[i]);
    abtomp_team_free(team);
}
