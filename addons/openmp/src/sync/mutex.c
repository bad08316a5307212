/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutual exclusion. */
#include "task/relief.h"

#include <abt.h>

/* Pauses of all looks together, and between two looks at most: longer ones let the holder have it several times. */
enum { PAUSES = 500, MOST_PAUSES = 128 };

/* Looks for a while, less and less often. True: the caller holds it. */
static bool lock_by_looks(_Atomic(uint32_t) *mutex)
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
    if (fits && abtomp_env.num_procs > 1 && lock_by_looks(mutex))
        return;
    /* acquire: pairs with the release in abtomp_mutex_unlock */
    while (atomic_exchange_explicit(mutex, 2, memory_order_acquire) != 0)
        (void)ABTX_word_wait((const volatile void *)mutex, 2, (uint32_t)num, ABT_TRUE, NULL, NULL);
}

/* Who holds it may wait for anything: on this stream, or for a task that this member has. */
static void lock_users_slow(_Atomic(uint32_t) *mutex)
{
    int num = num_around(abtomp_current);
    bool fits = num <= abtomp_env.num_procs && !abtomp_is_relieved();
    if (fits && abtomp_env.num_procs > 1 && lock_by_looks(mutex))
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

void abtomp_mutex_wake(_Atomic(uint32_t) *mutex)
{
    (void)ABTX_word_wake((const volatile void *)mutex, 1);
}
