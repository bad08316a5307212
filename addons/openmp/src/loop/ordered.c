/* SPDX-License-Identifier: BSD-3-Clause */
/* ordered, in its two forms: turns of chunks, and iterations that wait for others (doacross). */
#include "loop/share.h"
#include "ompt/tool.h"

#include <stdlib.h>
#include <string.h>

/* -- Turns -- */

/*
 * The word, of several, that changes when an iteration has its turn. Iterations whose numbers are a chunk apart have
 * different words, mostly. Members that share one wait again.
 */
static _Atomic(uint32_t) *turns_of(_Atomic(uint32_t) *turns, uint64_t iteration)
{
    return &turns[iteration * 0x9e3779b97f4a7c15U >> (64 - ABTOMP_TURN_BITS)];
}

static void await_turn(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    _Atomic(uint32_t) *word = turns_of(share->turns, me->first);
    for (;;) {
        /* acquire: pairs with the release in abtomp_ordered_pass, and keeps the read of the turn behind it */
        uint32_t turns = atomic_load_explicit(word, memory_order_acquire);
        /* acquire: pairs with the release in abtomp_ordered_pass */
        if (atomic_load_explicit(&share->turn, memory_order_acquire) == me->first)
            break;
        abtomp_wait(word, turns, me->team, me->team->num);
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
    _Atomic(uint32_t) *word = turns_of(share->turns, me->end);
    atomic_store_explicit(&share->turn, me->end, memory_order_release);
    atomic_fetch_add_explicit(word, 1, memory_order_release);
    if (me->team->num > 1)
        abtomp_wake(word);
    me->first = me->end;
}

static inline void await_own_turn(struct abtomp_member *me)
{
    if (me->share && me->share->loop.is_ordered && !me->has_turn)
        await_turn(me);
}

static bool await_viewed(void *share)
{
    (void)share;
    await_own_turn(abtomp_current);
    return true;
}

void abtomp_ordered_await(struct abtomp_member *me)
{
    if (abtomp_is_observed())
        (void)abtomp_tool_lock(me->share, ompt_mutex_ordered, await_viewed);
    else
        await_own_turn(me);
}

/* -- Doacross -- */

/*
 * All iterations have numbers: those of the outermost loop by the iterations in each of them, and the inner ones
 * behind. A member has chunks of the outermost loop, in ascending order, and says which one and how far it is. So an
 * iteration has been posted if somebody had its chunk, and nobody has it now and is not as far. That takes a few words
 * of each member, however many iterations there are.
 */
struct abtomp_doacross *abtomp_doacross_new(const struct abtomp_loop *loop, int num)
{
    const uint64_t *counts = loop->sink_counts;
    size_t size = sizeof(struct abtomp_doacross) + (size_t)num * sizeof(struct abtomp_position), line = 64;
    size_t all = (size + loop->num_sinks * sizeof(counts[0]) + line - 1) / line * line;
    struct abtomp_doacross *doacross = abtomp_must_have(aligned_alloc(_Alignof(struct abtomp_doacross), all));
    memset(doacross, 0, all);
    /* The program's counts are on the stack of one member. */
    uint64_t *copy = (uint64_t *)(void *)&doacross->at[num];
    memcpy(copy, counts, loop->num_sinks * sizeof(counts[0]));
    doacross->num_counts = loop->num_sinks;
    doacross->counts = copy;
    doacross->inner = 1;
    atomic_init(&doacross->posts, ABTOMP_COUNT_START);
    for (unsigned i = 1; i < loop->num_sinks; i++)
        doacross->inner *= counts[i];
    /* The member of each chunk is known of a static loop, also before it comes. relaxed: the stage of the share
     * publishes it
     */
    for (int i = 0; i < num && (loop->kind & ~ABTOMP_CROSSES) != ABTOMP_STATIC; i++)
        atomic_store_explicit(&doacross->at[i].next, UINT64_MAX, memory_order_relaxed);
    return doacross;
}

void abtomp_doacross_free(struct abtomp_doacross *doacross)
{
    free(doacross);
}

/* release, both: pairs with the acquires in is_passed and in abtomp_doacross_await */
static void set_next(struct abtomp_member *me, struct abtomp_doacross *doacross, uint64_t next)
{
    atomic_store_explicit(&doacross->at[me->num].next, next, memory_order_release);
    atomic_fetch_add_explicit(&doacross->posts, 1, memory_order_release);
    if (me->team->num > 1)
        abtomp_wake(&doacross->posts);
}

bool abtomp_doacross_take(struct abtomp_member *me, bool (*take)(struct abtomp_member *, struct abtomp_share *))
{
    struct abtomp_doacross *doacross = me->share->doacross;
    struct abtomp_position *at = &doacross->at[me->num];
    /*
     * release: pairs with the acquire in is_taken, since `take` changes the share's `next`, and with the fence in
     * is_passed: a member that sees that the new chunk is taken, or its bounds, sees that this member does not say
     * where it is
     */
    atomic_store_explicit(&at->next, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    bool has_some = take(me, me->share);
    if (has_some) {
        /* relaxed, both: set_next publishes them */
        atomic_store_explicit(&at->first, me->first, memory_order_relaxed);
        atomic_store_explicit(&at->end, me->end, memory_order_relaxed);
    }
    set_next(me, doacross, has_some ? me->first * doacross->inner + 1 : UINT64_MAX);
    return has_some;
}

void abtomp_doacross_post(struct abtomp_member *me, const uint64_t *at)
{
    struct abtomp_doacross *doacross = abtomp_doacross_of(me);
    if (!doacross || doacross->counts[0] <= at[0])
        return;
    uint64_t number = at[0];
    for (unsigned i = 1; i < doacross->num_counts; i++)
        number = number * doacross->counts[i] + at[i];
    set_next(me, doacross, number + 2);
}

void abtomp_doacross_leave(struct abtomp_member *me)
{
    if (abtomp_doacross_of(me))
        set_next(me, me->share->doacross, UINT64_MAX);
}

/* Which member of a static loop has the iteration of the outermost loop. */
static uint64_t owner_of(const struct abtomp_loop *loop, uint64_t num, uint64_t outer)
{
    if (loop->chunk > 0)
        return outer / loop->chunk % num;
    uint64_t each = loop->num / num, more = loop->num % num, large = more * (each + 1);
    return outer < large ? outer / (each + 1) : more + (outer - large) / each;
}

/* Whether somebody has, or had, the iteration of the outermost loop. */
static bool is_taken(struct abtomp_share *share, uint64_t outer)
{
    bool has_chunks = (share->loop.kind & ~ABTOMP_CROSSES) == ABTOMP_DYNAMIC;
    /* acquire: pairs with the fence in abtomp_doacross_take */
    return atomic_load_explicit(&share->next, memory_order_acquire) > (has_chunks ? outer / share->loop.chunk : outer);
}

/* Whether the member has nothing to do with the iteration, or has posted it. */
static bool is_passed(const struct abtomp_position *at, uint64_t outer, uint64_t number)
{
    /* acquire: pairs with the release in set_next */
    uint64_t next = atomic_load_explicit(&at->next, memory_order_acquire), before;
    do {
        if (next == 0 || next > number + 1)
            return next != 0;
        /* relaxed, both: if they are of another chunk, `next` is seen to change */
        uint64_t first = atomic_load_explicit(&at->first, memory_order_relaxed);
        uint64_t end = atomic_load_explicit(&at->end, memory_order_relaxed);
        if (first <= outer && outer < end)
            return false;
        atomic_thread_fence(memory_order_acquire); /* acquire: pairs with the fence in abtomp_doacross_take */
        before = next;
        next = atomic_load_explicit(&at->next, memory_order_acquire); /* acquire: as above */
    } while (next != before);
    return true;
}

static bool is_posted(const struct abtomp_member *me, uint64_t outer, uint64_t number)
{
    struct abtomp_share *share = me->share;
    const struct abtomp_position *at = share->doacross->at;
    int num = me->team->num;
    if ((share->loop.kind & ~ABTOMP_CROSSES) == ABTOMP_STATIC)
        /* acquire: pairs with the release in set_next */
        return atomic_load_explicit(&at[owner_of(&share->loop, (uint64_t)num, outer)].next, memory_order_acquire) >
               number + 1;
    if (!is_taken(share, outer))
        return false;
    for (int i = 0; i < num; i++)
        if (!is_passed(&at[i], outer, number))
            return false;
    return true;
}

void abtomp_doacross_await(struct abtomp_member *me, uint64_t outer, uint64_t number)
{
    struct abtomp_doacross *doacross = me->share->doacross;
    for (;;) {
        /* acquire: pairs with the release in set_next, and keeps the next poll behind it */
        uint32_t posts = atomic_load_explicit(&doacross->posts, memory_order_acquire);
        if (is_posted(me, outer, number))
            return;
        abtomp_wait(&doacross->posts, posts, me->team, me->team->num);
    }
}
