/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/lockrank.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/assert.h"

static const char *const names[ABTI_NUM_RANKS] = {
    [ABTI_RANK_WAKEUP] = "wakeup",     [ABTI_RANK_SOURCES] = "sources",
    [ABTI_RANK_ASK] = "ask",           [ABTI_RANK_WALK] = "walk over a pool",
    [ABTI_RANK_HELPER] = "helper",     [ABTI_RANK_RT] = "runtime",
    [ABTI_RANK_LOOKOUT] = "lookout",   [ABTI_RANK_TIMERS] = "timers",
    [ABTI_RANK_REPLACE] = "replace",   [ABTI_RANK_OBJECT] = "object",
    [ABTI_RANK_STOLEN] = "stolen",     [ABTI_RANK_POOL] = "pool",
    [ABTI_RANK_IDLE] = "idle",         [ABTI_RANK_KEYS] = "keys",
    [ABTI_RANK_EXTERNAL] = "external", [ABTI_RANK_SLAB] = "slab",
    [ABTI_RANK_LEAF] = "leaf",
};

/*
 * What a native thread holds, in no order: a lock may be released before one that was taken after it. The functions
 * are not inlined, since their callers may come back from a switch on another thread; and sanitizers, which see units
 * instead of threads, are not reported.
 */
enum { MAX_HELD = 16 };

static _Thread_local struct {
    unsigned num;
    struct {
        const void *lock;
        enum abti_lockrank rank;
    } locks[MAX_HELD];
} held;

/* Whether under a lock of this rank another one of the same rank may be taken, as the table of ranks says. */
static bool may_repeat(enum abti_lockrank rank)
{
    return rank == ABTI_RANK_WALK || rank == ABTI_RANK_TIMERS || rank == ABTI_RANK_OBJECT;
}

ABTI_COLD ABTI_NORETURN static void lockrank_complain(const char *what, enum abti_lockrank rank,
                                                      enum abti_lockrank under)
{
    fprintf(stderr, "libabt: lock of rank '%s' %s '%s'\n", names[rank], what, names[under]);
    abort();
}

ABTI_NOINLINE ABTI_NO_SANITIZE void abti_lockrank_check(const void *lock, enum abti_lockrank rank)
{
    for (unsigned i = 0; i < held.num; i++) {
        enum abti_lockrank other = held.locks[i].rank;
        if (held.locks[i].lock == lock)
            lockrank_complain("is waited for by the thread that holds it as", rank, other);
        if (other > rank || (other == rank && !may_repeat(rank)))
            lockrank_complain("is waited for under one of rank", rank, other);
    }
}

ABTI_NOINLINE ABTI_NO_SANITIZE void abti_lockrank_enter(const void *lock, enum abti_lockrank rank)
{
    abti_assert(held.num < MAX_HELD);
    held.locks[held.num].lock = lock;
    held.locks[held.num].rank = rank;
    held.num++;
}

ABTI_NOINLINE ABTI_NO_SANITIZE void abti_lockrank_leave(const void *lock)
{
    unsigned i = 0;
    while (i < held.num && held.locks[i].lock != lock)
        i++;
    abti_assert(i < held.num);
    held.locks[i] = held.locks[--held.num];
}

ABTI_NOINLINE ABTI_NO_SANITIZE void abti_lockrank_change(const void *lock, enum abti_lockrank rank)
{
    abti_lockrank_leave(lock);
    abti_lockrank_check(lock, rank);
    abti_lockrank_enter(lock, rank);
}

ABTI_NOINLINE ABTI_NO_SANITIZE bool abti_lockrank_holds(const void *lock)
{
    for (unsigned i = 0; i < held.num; i++) {
        if (held.locks[i].lock == lock)
            return true;
    }
    return false;
}

/* The user's function, which is called in a walk over a pool, may wait for anything. */
ABTI_NOINLINE ABTI_NO_SANITIZE bool abti_lockrank_may_sleep(void)
{
    for (unsigned i = 0; i < held.num; i++) {
        if (held.locks[i].rank != ABTI_RANK_WALK)
            return false;
    }
    return true;
}
