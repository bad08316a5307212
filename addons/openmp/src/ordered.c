/* SPDX-License-Identifier: BSD-3-Clause */
/* ordered, in its two forms: turns of chunks, and iterations that wait for others (doacross). */
#include "share.h"

#include <stdarg.h>
#include <stdlib.h>
#include "gomp.h"

/* -- Turns -- */

static void await_turn(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    for (;;) {
        /* acquire: pairs with the release in abtomp_ordered_pass, and keeps the look at the turn behind it */
        uint32_t turns = atomic_load_explicit(&share->turns, memory_order_acquire);
        /* acquire: pairs with the release in abtomp_ordered_pass */
        if (atomic_load_explicit(&share->turn, memory_order_acquire) == me->first)
            break;
        abtomp_wait(&share->turns, turns, me->team, me->team->num);
    }
    me->has_turn = true;
}

void abtomp_ordered_pass(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    if (me->first == me->end)
        return;
    if (!me->has_turn)
        await_turn(me);
    /*
     * release, both: pairs with the acquires in await_turn. The count is added to: the next one may have its turn, and
     * pass it, before this one counts.
     */
    atomic_store_explicit(&share->turn, me->end, memory_order_release);
    atomic_fetch_add_explicit(&share->turns, 1, memory_order_release);
    if (me->team->num > 1)
        abtomp_wake(&share->turns);
    me->first = me->end;
}

void GOMP_ordered_start(void)
{
    struct abtomp_member *me = abtomp_self();
    if (me->share && me->share->loop.is_ordered && !me->has_turn)
        await_turn(me);
}

/* The turn is passed when the chunk has ended. */
void GOMP_ordered_end(void)
{
}

/* -- Doacross -- */

/*
 * For each iteration of the outermost loop how far the loops in it are: the number of the last iteration that was
 * posted, plus 1. All those of one outermost iteration run one after another.
 */
struct abtomp_doacross {
    unsigned num_counts;
    const uint64_t *counts;     /* of the program, as long as the loop runs */
    _Atomic(uint32_t) posts;    /* changes with each post */
    _Atomic(uint64_t) posted[]; /* counts[0] of them */
};

struct abtomp_doacross *abtomp_doacross_new(const struct abtomp_loop *loop)
{
    const uint64_t *counts = loop->sink_counts;
    struct abtomp_doacross *doacross;
    doacross =
        calloc(1, sizeof(*doacross) + counts[0] * sizeof(doacross->posted[0]) + loop->num_sinks * sizeof(counts[0]));
    if (!doacross)
        abtomp_fail("out of memory");
    /* The program's counts are on the stack of one member. */
    uint64_t *copy = (uint64_t *)(void *)&doacross->posted[counts[0]];
    for (unsigned i = 0; i < loop->num_sinks; i++)
        copy[i] = counts[i];
    doacross->num_counts = loop->num_sinks;
    doacross->counts = copy;
    return doacross;
}

void abtomp_doacross_free(struct abtomp_doacross *doacross)
{
    free(doacross);
}

/* The doacross loop that the member is in; NULL: there is none. */
static struct abtomp_doacross *doacross_of(const struct abtomp_member *me)
{
    return me->share ? me->share->doacross : NULL;
}

static void post_at(const uint64_t *at)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_doacross *doacross = doacross_of(me);
    if (!doacross || doacross->counts[0] <= at[0])
        return;
    uint64_t inner = 0;
    for (unsigned i = 1; i < doacross->num_counts; i++)
        inner = inner * doacross->counts[i] + at[i];
    /* release, both: pairs with the acquires in await_post */
    atomic_store_explicit(&doacross->posted[at[0]], inner + 1, memory_order_release);
    atomic_fetch_add_explicit(&doacross->posts, 1, memory_order_release);
    if (me->team->num > 1)
        abtomp_wake(&doacross->posts);
}

/* Waits until inner iteration number `inner` of the outermost iteration `outer` is posted. */
static void await_post(struct abtomp_member *me, uint64_t outer, uint64_t inner)
{
    struct abtomp_doacross *doacross = me->share->doacross;
    for (;;) {
        /* acquire: pairs with the release in post_at, and keeps the next look behind it */
        uint32_t posts = atomic_load_explicit(&doacross->posts, memory_order_acquire);
        /* acquire: pairs with the release in post_at */
        if (atomic_load_explicit(&doacross->posted[outer], memory_order_acquire) > inner)
            return;
        abtomp_wait(&doacross->posts, posts, me->team, me->team->num);
    }
}

void GOMP_doacross_post(long *at)
{
    post_at((const uint64_t *)(const void *)at);
}

void GOMP_doacross_ull_post(unsigned long long *at)
{
    post_at((const uint64_t *)(const void *)at);
}

/* The arguments are the iteration's numbers in all dimensions, of 8 bytes each. */
#define AWAIT(first, type)                                                                                             \
    struct abtomp_member *me = abtomp_self();                                                                          \
    struct abtomp_doacross *doacross = doacross_of(me);                                                                \
    if (!doacross || me->team->num == 1 || doacross->counts[0] <= (uint64_t)(first))                                   \
        return;                                                                                                        \
    uint64_t inner = 0;                                                                                                \
    va_list rest;                                                                                                      \
    va_start(rest, first);                                                                                             \
    for (unsigned i = 1; i < doacross->num_counts; i++)                                                                \
        inner = inner * doacross->counts[i] + (uint64_t)va_arg(rest, type);                                            \
    va_end(rest);                                                                                                      \
    await_post(me, (uint64_t)(first), inner)

void GOMP_doacross_wait(long first, ...)
{
    AWAIT(first, long);
}

void GOMP_doacross_ull_wait(unsigned long long first, ...)
{
    AWAIT(first, unsigned long long);
}
