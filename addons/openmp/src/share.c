/* SPDX-License-Identifier: BSD-3-Clause */
/* Work-sharing constructs: what the members of a team divide among them. */
#include "share.h"

#include <stdlib.h>
#include <string.h>

enum { STAGES = 3, SETTING = 1, READY = 2 };

/* -- The shares of a team -- */

struct abtomp_share **abtomp_shares_new(int num)
{
    struct abtomp_share **shares = calloc(ABTOMP_NUM_SHARES, sizeof(shares[0]));
    size_t size = sizeof(*shares[0]) + (size_t)num * sizeof(shares[0]->ranges[0]);
    for (int i = 0; shares && i < ABTOMP_NUM_SHARES; i++) {
        shares[i] = aligned_alloc(_Alignof(struct abtomp_share), size);
        if (!shares[i]) {
            abtomp_shares_free(shares);
            return NULL;
        }
        memset(shares[i], 0, size);
    }
    return shares;
}

void abtomp_shares_free(struct abtomp_share **shares)
{
    for (int i = 0; shares && i < ABTOMP_NUM_SHARES; i++)
        free(shares[i]);
    free(shares);
}

void abtomp_shares_reset(struct abtomp_team *team)
{
    /* relaxed, all: no member is in a region */
    for (int i = 0; i < ABTOMP_NUM_SHARES; i++)
        atomic_store_explicit(&team->shares[i]->stage, 0, memory_order_relaxed);
    atomic_store_explicit(&team->has_shared, false, memory_order_relaxed);
}

/* -- Coming and going -- */

bool abtomp_share_enter(struct abtomp_member *me)
{
    uint32_t met = me->num_shares++, begin = met / ABTOMP_NUM_SHARES * STAGES;
    struct abtomp_share *share = me->team->shares[met % ABTOMP_NUM_SHARES];
    me->share = share;
    for (;;) {
        /* acquire: pairs with the releases in abtomp_share_open and abtomp_share_leave */
        uint32_t stage = atomic_load_explicit(&share->stage, memory_order_acquire);
        if (stage == begin + READY)
            return false;
        /* acquire: pairs with the release in abtomp_share_leave. relaxed: the loop looks again */
        if (stage == begin && atomic_compare_exchange_strong_explicit(&share->stage, &stage, begin + SETTING,
                                                                      memory_order_acquire, memory_order_relaxed))
            return true;
        if (stage != begin + READY)
            abtomp_wait(&share->stage, stage, me->team, me->team->num);
    }
}

static void set_stage(const struct abtomp_team *team, struct abtomp_share *share, uint32_t stage)
{
    /* release: pairs with the acquire in abtomp_share_enter */
    atomic_store_explicit(&share->stage, stage, memory_order_release);
    if (team->num > 1)
        abtomp_wake(&share->stage);
}

void abtomp_share_open(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    /* relaxed, all: the stage publishes them, and this member alone has it */
    uint32_t stage = atomic_load_explicit(&share->stage, memory_order_relaxed);
    abtomp_assert(stage % STAGES == SETTING);
    atomic_store_explicit(&share->inside, (uint32_t)me->team->num, memory_order_relaxed);
    /* Written only if it changes: others have the line. It becomes false while no member is in a region */
    if (!atomic_load_explicit(&me->team->has_shared, memory_order_relaxed))
        atomic_store_explicit(&me->team->has_shared, true, memory_order_relaxed);
    set_stage(me->team, share, stage + READY - SETTING);
}

/* All have left it that come to it. */
static void share_close(const struct abtomp_team *team, struct abtomp_share *share)
{
    free(share->memory);
    free(share->copies); /* not what they are: the barrier is still to come */
    abtomp_doacross_free(share->doacross);
    share->memory = NULL;
    share->copies = NULL;
    share->doacross = NULL;
    /* relaxed: nobody else changes it now */
    set_stage(team, share, atomic_load_explicit(&share->stage, memory_order_relaxed) + STAGES - READY);
}

/* How many members have quit before they have met the construct of that number. quit_lock is held. */
static uint32_t count_missing(const struct abtomp_team *team, uint32_t construct)
{
    uint32_t missing = 0;
    for (int i = 0; i < team->num; i++) {
        const struct abtomp_member *member = team->members[i];
        missing += member->has_quit && (int32_t)(member->num_shares - construct) <= 0;
    }
    return missing;
}

/*
 * In a cancelled region some members go on without those that have quit, as far as they like without a barrier. So a
 * share is free for its next use when only such members are counted in it as have quit before they have met it. It is
 * only closed here then, with quit_lock: that the last one leaves it, which closes it elsewhere, does not happen. Who
 * changes one of the two, by a leave or by quitting, looks here afterwards, and the fences let one of them see both.
 *
 * A construct with copies ends with a barrier, behind which nobody is: its share is not needed, and tasks need them.
 */
static void close_shares_locked(struct abtomp_team *team)
{
    for (uint32_t i = 0; i < ABTOMP_NUM_SHARES; i++) {
        struct abtomp_share *share = team->shares[i];
        /* acquire: pairs with the release in set_stage */
        uint32_t stage = atomic_load_explicit(&share->stage, memory_order_acquire);
        if (stage % STAGES != READY)
            continue;
        uint32_t missing = count_missing(team, stage / STAGES * ABTOMP_NUM_SHARES + i);
        /* acquire: pairs with the release in abtomp_share_leave */
        if (missing > 0 && atomic_load_explicit(&share->inside, memory_order_acquire) == missing && !share->copies)
            share_close(team, share);
    }
}

static __attribute__((noinline)) void leave_cancelled(struct abtomp_team *team)
{
    atomic_thread_fence(memory_order_seq_cst); /* seq_cst: pairs with the fence in abtomp_shares_quit */
    /* relaxed: the fence orders it */
    if ((atomic_load_explicit(&team->cancelled, memory_order_relaxed) & ABTOMP_CANCELLED_REGION) == 0)
        return;
    abtomp_mutex_lock(&team->quit_lock);
    close_shares_locked(team);
    abtomp_mutex_unlock(&team->quit_lock);
}

void abtomp_shares_quit(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    if (team->num == 1)
        return;
    /* relaxed: the fence orders it. It is there already, but a write of this thread is what the fence orders */
    atomic_fetch_or_explicit(&team->cancelled, ABTOMP_CANCELLED_REGION, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* seq_cst: pairs with the fence in leave_cancelled */
    abtomp_mutex_lock(&team->quit_lock);
    me->has_quit = true;
    close_shares_locked(team);
    abtomp_mutex_unlock(&team->quit_lock);
}

void abtomp_share_leave(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    if (!share)
        return;
    /* acq_rel: pairs with itself, in abtomp_share_leave: the last one frees what all have used */
    if (atomic_fetch_sub_explicit(&share->inside, 1, memory_order_acq_rel) == 1)
        share_close(me->team, share);
    else if (ABTOMP_UNLIKELY(abtomp_env.cancels) && me->team->num > 1)
        leave_cancelled(me->team);
    me->share = NULL;
}

/* -- Loops -- */

/* Puts what the program asks for in place of "runtime" and "auto". */
static void resolve_loop(struct abtomp_loop *loop, const struct abtomp_icvs *icvs)
{
    if ((loop->kind & ~ABTOMP_MONOTONIC) == ABTOMP_RUNTIME) {
        loop->kind = icvs->run_sched | (loop->kind & ABTOMP_MONOTONIC);
        loop->chunk = icvs->run_chunk > 0 ? (uint64_t)icvs->run_chunk : 0;
    }
    if ((loop->kind & ~ABTOMP_MONOTONIC) == ABTOMP_AUTO) {
        loop->kind = ABTOMP_STATIC;
        loop->chunk = 0;
    }
    if (loop->kind == ABTOMP_DYNAMIC && !loop->is_ordered && loop->num_sinks == 0)
        loop->kind = ABTOMP_RANGES;
    loop->kind &= ~ABTOMP_MONOTONIC;
    if (loop->chunk == 0 && loop->kind != ABTOMP_STATIC)
        loop->chunk = 1;
}

/*
 * Each member has a range of the chunks. Their numbers have 32 bits. The last chunk is in no member's part:
 * compilers look for the end of the loop in the last chunk that a member has had (lastprivate, linear), so that no
 * other may come behind it.
 */
static void set_ranges(struct abtomp_share *share, int num)
{
    if (share->num_chunks > UINT32_MAX) {
        share->loop.kind = ABTOMP_DYNAMIC;
        return;
    }
    abtomp_ranges_divide(share->ranges, (uint32_t)num, (uint32_t)(share->num_chunks > 0 ? share->num_chunks - 1 : 0));
}

static void set_loop(struct abtomp_member *me, const struct abtomp_loop *loop)
{
    struct abtomp_share *share = me->share;
    share->loop = *loop;
    resolve_loop(&share->loop, &me->icvs);
    /* relaxed, all: the stage publishes them */
    atomic_store_explicit(&share->next, 0, memory_order_relaxed);
    atomic_store_explicit(&share->turn, 0, memory_order_relaxed);
    if (share->loop.chunk > 0)
        share->num_chunks = loop->num / share->loop.chunk + (loop->num % share->loop.chunk > 0);
    if (share->loop.kind == ABTOMP_RANGES)
        set_ranges(share, me->team->num);
    if (loop->num_sinks > 0)
        share->doacross = abtomp_doacross_new(loop);
}

/* Memory for all members, of the size that *memory has, all zeros. */
static void set_memory(struct abtomp_share *share, void **memory)
{
    share->memory = calloc(1, (uintptr_t)*memory);
    if (!share->memory)
        abtomp_fail("out of memory");
}

void abtomp_loop_enter(struct abtomp_member *me, const struct abtomp_loop *loop, uintptr_t *reductions, void **memory)
{
    me->first = me->end = 0;
    me->round = 0;
    me->has_turn = true; /* of no iterations */
    if (abtomp_share_enter(me)) {
        set_loop(me, loop);
        if (reductions)
            me->share->copies = abtomp_reductions_begin(me, reductions);
        if (memory)
            set_memory(me->share, memory);
        abtomp_share_open(me);
    } else if (reductions) {
        abtomp_reductions_join(me, reductions, me->share->copies);
    }
    if (memory)
        *memory = me->share->memory;
}

/* -- Taking iterations -- */

/* As compilers divide static loops that they need no function for. */
static bool take_static(struct abtomp_member *me, const struct abtomp_loop *loop)
{
    uint64_t num = (uint64_t)me->team->num, own = (uint64_t)me->num;
    if (loop->chunk == 0) {
        uint64_t each = loop->num / num, more = loop->num % num;
        if (me->round++ > 0)
            return false;
        me->first = each * own + (own < more ? own : more);
        me->end = me->first + each + (own < more);
        return me->first < me->end;
    }
    uint64_t chunk = num * me->round++ + own, chunks = loop->num / loop->chunk + (loop->num % loop->chunk > 0);
    if (chunk >= chunks)
        return false;
    me->first = chunk * loop->chunk;
    me->end = loop->num - me->first < loop->chunk ? loop->num : me->first + loop->chunk;
    return true;
}

/* The member has the chunk of that number. */
static inline void take_chunk(struct abtomp_member *me, const struct abtomp_loop *loop, uint64_t chunk)
{
    me->first = chunk * loop->chunk;
    me->end = loop->num - me->first < loop->chunk ? loop->num : me->first + loop->chunk;
}

static bool take_dynamic(struct abtomp_member *me, struct abtomp_share *share)
{
    /* relaxed, both: only the division of the loop depends on it */
    if (atomic_load_explicit(&share->next, memory_order_relaxed) >= share->num_chunks)
        return false;
    uint64_t chunk = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
    if (chunk >= share->num_chunks)
        return false;
    take_chunk(me, &share->loop, chunk);
    return true;
}

static bool take_guided(struct abtomp_member *me, struct abtomp_share *share)
{
    const struct abtomp_loop *loop = &share->loop;
    /* relaxed, all: only the division of the loop depends on it */
    uint64_t num = (uint64_t)me->team->num, next = atomic_load_explicit(&share->next, memory_order_relaxed), end;
    do {
        uint64_t left = loop->num - next, part = left / num + (left % num > 0);
        if (left == 0)
            return false;
        if (part < loop->chunk)
            part = loop->chunk;
        end = part < left ? next + part : loop->num;
    } while (
        !atomic_compare_exchange_weak_explicit(&share->next, &next, end, memory_order_relaxed, memory_order_relaxed));
    me->first = next;
    me->end = end;
    return true;
}

/* The last chunk, for the first member that finds no other. */
static bool take_last(struct abtomp_member *me, struct abtomp_share *share)
{
    /* relaxed, both: only the division of the loop depends on it */
    if (share->num_chunks == 0 || atomic_load_explicit(&share->next, memory_order_relaxed) > 0 ||
        atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed) > 0)
        return false;
    take_chunk(me, &share->loop, share->num_chunks - 1);
    return true;
}

static bool take_range(struct abtomp_member *me, struct abtomp_share *share)
{
    uint32_t own = (uint32_t)me->num, chunk;
    do {
        if (ABTOMP_LIKELY(abtomp_range_take(&share->ranges[own], 1, &chunk) > 0)) {
            take_chunk(me, &share->loop, chunk);
            return true;
        }
        if (me->end == share->loop.num)
            return false; /* it has had the last chunk */
    } while (abtomp_range_steal(share->ranges, (uint32_t)me->team->num, own));
    return take_last(me, share);
}

bool abtomp_loop_take(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    abtomp_assert(share);
    switch (share->loop.kind) {
    case ABTOMP_RANGES: return take_range(me, share);
    case ABTOMP_STATIC: return take_static(me, &share->loop);
    case ABTOMP_GUIDED: return take_guided(me, share);
    default: return take_dynamic(me, share);
    }
}
