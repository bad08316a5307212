/* SPDX-License-Identifier: BSD-3-Clause */
/* How members wait: for a word, for a mutex, for the bell of their team (task/crew.c says what that is). */
#include "task/relief.h"
#include "team/serial.h"

#include <abt.h>

_Thread_local struct abtomp_post *abtomp_own_post;
_Thread_local struct abtomp_watch *abtomp_own_watch;

/* -- Mutexes -- */

/* Pauses of all polls together, and between two polls at most: longer ones let the holder have it several times. */
enum { PAUSES = 500, MOST_PAUSES = 128 };

/* Polls for a while, less and less often. True: the caller holds it. */
static bool lock_by_spins(_Atomic(uint32_t) *mutex)
{
    for (int all = 0, pauses = 4; all < PAUSES; all += pauses) {
        for (int i = 0; i < pauses; i++)
            ABTOMP_RELAX();
        /* relaxed: trylock acquires it */
        if (atomic_load_explicit(mutex, memory_order_relaxed) == 0 && abtomp_mutex_trylock(mutex))
            return true;
        if (pauses < MOST_PAUSES)
            pauses *= 2;
    }
    return false;
}

/*
 * How many members there are: the waits depend on it, since members beyond the processors give way. A member that has
 * left its region may look for tasks while the next one is prepared: it must not read the number in the team.
 */
static int num_around(const struct abtomp_member *me)
{
    if (!me)
        return 0;
    return me->num == 0 ? me->team->num : (int)(me->seen & ABTOMP_GO_NUM);
}

void abtomp_mutex_lock_slow(_Atomic(uint32_t) *mutex)
{
    int num = num_around(abtomp_current);
    bool fits = num <= abtomp_env.num_procs;
    if (fits && abtomp_env.num_procs > 1 && lock_by_spins(mutex))
        return;
    /* acquire: pairs with the release in abtomp_mutex_unlock */
    while (atomic_exchange_explicit(mutex, 2, memory_order_acquire) != 0)
        (void)ABTX_word_wait((const volatile void *)mutex, 2, (uint32_t)num, ABT_TRUE, NULL, NULL);
}

void abtomp_mutex_wake(_Atomic(uint32_t) *mutex)
{
    (void)ABTX_word_wake((const volatile void *)mutex, 1);
}

/* -- Words -- */

/* Polls by OMP_WAIT_POLICY=active: some milliseconds. */
enum { ACTIVE_SPINS = 200000 };

void abtomp_pause_at(const _Atomic(uint32_t) *word, uint32_t value, int num)
{
    bool blocks = !abtomp_is_relieved();
    struct abtomp_ult *ult = blocks ? NULL : abtomp_own_post->running;
    if (ult && ult->stay == ABTOMP_STAYS_UNSEEN)
        ult->stay = ABTOMP_STAYS_TIED;
    (void)ABTX_word_wait((const volatile void *)word, value, (uint32_t)num, blocks ? ABT_TRUE : ABT_FALSE, NULL, NULL);
    if (ult)
        ult->stay = ABTOMP_STAYS_UNSEEN;
}

/* acquire: pairs with the release by which a word is changed, as in abtomp_barrier and abtomp_team_release */
static inline bool is_changed(const _Atomic(uint32_t) *word, uint32_t value)
{
    return atomic_load_explicit(word, memory_order_acquire) != value;
}

static void set_waits(bool waits)
{
    struct abtomp_watch *watch = abtomp_own_watch;
    if (ABTOMP_LIKELY(watch != NULL))
        atomic_store_explicit(&watch->waits, waits, memory_order_relaxed); /* relaxed: a hint */
}

static void wait_for_change(const _Atomic(uint32_t) *word, uint32_t value, int num)
{
    if (abtomp_env.is_active && num <= abtomp_env.num_procs) {
        for (int i = 0; i < ACTIVE_SPINS; i++) {
            if (is_changed(word, value))
                return;
            ABTOMP_RELAX();
        }
    }
    while (!is_changed(word, value))
        abtomp_pause_at(word, value, num);
}

void abtomp_wait(const _Atomic(uint32_t) *word, uint32_t value, const struct abtomp_team *team, int num)
{
    struct abtomp_member *me = abtomp_current;
    abtomp_assert(num >= 0);
    if (is_changed(word, value))
        return;
    if (ABTOMP_UNLIKELY(me && me->spread))
        me->spread(me->team, true);
    abtomp_make_bare(me);
    set_waits(true);
    wait_for_change(word, value, team ? abtomp_num_rivals(team, num) : num);
    set_waits(false);
}

void abtomp_wake(const _Atomic(uint32_t) *word)
{
    (void)ABTX_word_wake((const volatile void *)word, UINT32_MAX);
}

/* -- The bell -- */

/* Rings if somebody waits for one of those things: the bits say which. */
static inline void ring_for(struct abtomp_team *team, uint64_t bits)
{
    /* seq_cst: pairs with the fence in crew_sleep. relaxed: the fence orders it */
    atomic_thread_fence(memory_order_seq_cst);
    if ((atomic_load_explicit(&team->waiting, memory_order_relaxed) & bits) == 0)
        return;
    /* release: pairs with the acquire in crew_sleep */
    atomic_fetch_add_explicit(&team->bell, 1, memory_order_release);
    abtomp_wake(&team->bell);
}

void abtomp_bell_ring(struct abtomp_team *team)
{
    ring_for(team, UINT64_MAX);
}

void abtomp_bell_call(struct abtomp_team *team)
{
    ring_for(team, ABTOMP_RESTS - 1);
}

void abtomp_make_bare_slow(struct abtomp_member *me, struct abtomp_tasks *own)
{
    abtomp_deque_bare(&own->deque);
    abtomp_bell_call(me->team);
}

/* -- Locks of the program -- */

/* Its holder may wait for anything: on this stream, or for a task that this member has. */
static void lock_users_slow(_Atomic(uint32_t) *mutex)
{
    int num = num_around(abtomp_current);
    bool fits = num <= abtomp_env.num_procs && !abtomp_is_relieved();
    if (fits && abtomp_env.num_procs > 1 && lock_by_spins(mutex))
        return;
    abtomp_make_bare(abtomp_current);
    /* acquire: pairs with the release in abtomp_mutex_unlock */
    while (atomic_exchange_explicit(mutex, 2, memory_order_acquire) != 0)
        abtomp_pause_at(mutex, 2, num);
}

void abtomp_users_lock(_Atomic(uint32_t) *mutex)
{
    if (ABTOMP_UNLIKELY(!abtomp_mutex_trylock(mutex)))
        lock_users_slow(mutex);
}
