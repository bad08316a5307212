/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks. A simple one is the mutex of 4 bytes. A nestable one is 8 bytes long, which is the least room that a compiler
 * gives it: its owner, and how often. It is owned by a task, which gets a number when it first takes such a lock.
 * Hints are not used. Locks of programs that ask for version OMP_1.0 have the same form.
 */
#include "ompt/tool.h"
#include "task/relief.h"

#include <abt.h>
#include "api/routines.h"
#include "api/lock.versions.h"

/* The number of the task that owns it, or 0, and whether it may be waited for. */
#define WAITED_FOR 0x80000000U

struct nest_lock {
    _Atomic(uint32_t) owner;
    uint32_t count; /* of the owner */
};

_Static_assert(sizeof(struct nest_lock) == 8, "Fortran and other compilers have no more room for a nestable lock");

/* ---- As tools see them ------------------------------------------------------------------------------------------- */

static bool take_users(void *mutex)
{
    abtomp_users_lock(mutex);
    return true;
}

void abtomp_view_lock(void *mutex, int kind)
{
    if (abtomp_is_ready())
        (void)abtomp_tool_lock(mutex, kind, take_users);
    else
        abtomp_users_lock(mutex);
}

void abtomp_view_unlock(void *mutex, int kind)
{
    abtomp_mutex_unlock(mutex);
    if (abtomp_is_ready())
        abtomp_tool_unlock(mutex, kind);
}

/* ---- Simple ------------------------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) void init_lock(void *lock, int hint)
{
    /* relaxed: nobody else uses the lock yet */
    atomic_store_explicit((_Atomic(uint32_t) *)lock, 0, memory_order_relaxed);
    if (ABTOMP_NOTED(0))
        abtomp_tool_lock_init(lock, ompt_mutex_lock, (unsigned)hint);
}

ABTOMP_API void omp_init_lock(void *lock)
{
    init_lock(lock, 0);
}

ABTOMP_API void omp_init_lock_with_hint(void *lock, int hint)
{
    init_lock(lock, hint);
}

ABTOMP_API void omp_destroy_lock(void *lock)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_lock_destroy(lock, ompt_mutex_lock);
}

ABTOMP_API void omp_set_lock(void *lock)
{
    ABTOMP_LOCK(lock, ompt_mutex_lock);
}

ABTOMP_API void omp_unset_lock(void *lock)
{
    ABTOMP_UNLOCK(lock, ompt_mutex_lock);
}

static bool try_lock(void *lock)
{
    return abtomp_mutex_trylock(lock);
}

ABTOMP_API int omp_test_lock(void *lock)
{
    if (ABTOMP_NOTED(0))
        return abtomp_tool_lock(lock, ompt_mutex_test_lock, try_lock);
    return try_lock(lock);
}

/* ---- Nestable ---------------------------------------------------------------------------------------------------- */

/* Whether the caller owns the lock. relaxed: nobody else stores or removes the caller's number */
static bool is_mine(const struct nest_lock *lock, uint32_t mine)
{
    return (atomic_load_explicit(&lock->owner, memory_order_relaxed) & ~WAITED_FOR) == mine;
}

static bool try_nest_lock(struct nest_lock *lock, uint32_t owner)
{
    uint32_t is_free = 0;
    /* acquire: pairs with the release in omp_unset_nest_lock. relaxed: the lock is not taken */
    return atomic_compare_exchange_strong_explicit(&lock->owner, &is_free, owner, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* A task that has waited does not know whether others do. */
static void nest_lock_slow(struct nest_lock *lock, uint32_t mine)
{
    int num = abtomp_self()->team->num;
    abtomp_make_bare(abtomp_current);
    while (!try_nest_lock(lock, mine | WAITED_FOR)) {
        /* relaxed: it says which owner may be waited for, and nothing is read that the owner has written */
        uint32_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
        if (owner == 0)
            continue;
        if ((owner & WAITED_FOR) == 0 &&
            !atomic_compare_exchange_strong_explicit(&lock->owner, &owner, owner | WAITED_FOR, memory_order_relaxed,
                                                     memory_order_relaxed)) /* relaxed: as above */
            continue;
        abtomp_pause_at(&lock->owner, owner | WAITED_FOR, num);
    }
    lock->count = 1;
}

static inline __attribute__((always_inline)) void init_nest_lock(struct nest_lock *lock, int hint)
{
    /* relaxed: nobody else uses the lock yet */
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    lock->count = 0;
    if (ABTOMP_NOTED(0))
        abtomp_tool_lock_init(lock, ompt_mutex_nest_lock, (unsigned)hint);
}

ABTOMP_API void omp_init_nest_lock(void *lock)
{
    init_nest_lock(lock, 0);
}

ABTOMP_API void omp_init_nest_lock_with_hint(void *lock, int hint)
{
    init_nest_lock(lock, hint);
}

ABTOMP_API void omp_destroy_nest_lock(void *lock)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_lock_destroy(lock, ompt_mutex_nest_lock);
}

static bool try_to_nest(void *arg)
{
    struct nest_lock *lock = arg;
    uint32_t mine = abtomp_number(abtomp_self());
    if (!is_mine(lock, mine) && !try_nest_lock(lock, mine))
        return false;
    lock->count++;
    return true;
}

static bool take_nest_lock(void *lock)
{
    if (!try_to_nest(lock))
        nest_lock_slow(lock, abtomp_number(abtomp_current));
    return true;
}

/* Of a lock that the caller owns already a tool sees another event. */
static bool take_viewed(struct nest_lock *lock, int kind, bool (*take)(void *lock))
{
    if (!is_mine(lock, abtomp_number(abtomp_self())))
        return abtomp_tool_lock(lock, kind, take);
    abtomp_tool_acquire(lock, kind);
    (void)take(lock);
    abtomp_tool_nest(lock, ompt_scope_begin);
    return true;
}

ABTOMP_API void omp_set_nest_lock(void *lock)
{
    if (ABTOMP_NOTED(0))
        (void)take_viewed(lock, ompt_mutex_nest_lock, take_nest_lock);
    else
        (void)take_nest_lock(lock);
}

static void leave_nest_lock(struct nest_lock *lock)
{
    /* release: pairs with the acquire in try_nest_lock */
    if ((atomic_exchange_explicit(&lock->owner, 0, memory_order_release) & WAITED_FOR) != 0)
        (void)ABTX_word_wake((const volatile void *)&lock->owner, 1);
}

ABTOMP_API void omp_unset_nest_lock(void *arg)
{
    struct nest_lock *lock = arg;
    bool is_last = --lock->count == 0;
    if (is_last)
        leave_nest_lock(lock);
    if (!ABTOMP_NOTE(0))
        return;
    if (is_last)
        abtomp_tool_unlock(lock, ompt_mutex_nest_lock);
    else
        abtomp_tool_nest(lock, ompt_scope_end);
}

ABTOMP_API int omp_test_nest_lock(void *arg)
{
    struct nest_lock *lock = arg;
    bool is_taken = ABTOMP_NOTED(0) ? take_viewed(lock, ompt_mutex_test_nest_lock, try_to_nest) : try_to_nest(lock);
    return is_taken ? (int)lock->count : 0;
}

/* ---- Fortran, and version OMP_1.0 -------------------------------------------------------------------------------- */

/* The function `name`, which is in OMP_3.0, as it is in OMP_1.0, too. What ends in _1_0 is local to the library. */
#define VERSIONS(type, name)                                                                                           \
    ABTOMP_API type name##_1_0(void *lock) __attribute__((alias(#name)));                                              \
    __asm__(".symver " #name "_1_0, " #name "@OMP_1.0")
#define BOTH(type, name)                                                                                               \
    ABTOMP_FORTRAN(type, name, (void *lock));                                                                          \
    VERSIONS(type, name);                                                                                              \
    VERSIONS(type, name##_)

BOTH(void, omp_init_lock);
BOTH(void, omp_destroy_lock);
BOTH(void, omp_set_lock);
BOTH(void, omp_unset_lock);
BOTH(int, omp_test_lock);
BOTH(void, omp_init_nest_lock);
BOTH(void, omp_destroy_nest_lock);
BOTH(void, omp_set_nest_lock);
BOTH(void, omp_unset_nest_lock);
BOTH(int, omp_test_nest_lock);
