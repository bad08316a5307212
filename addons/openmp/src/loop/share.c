/* SPDX-License-Identifier: BSD-3-Clause */
/* Work-sharing constructs: what the members of a team divide among them. */
#include "loop/share.h"
#include "ompt/tool.h"

#include <stdlib.h>
#include <string.h>

/*
 * What `stage` says: the number of a construct without its low bits, by which its place is found, and in these whether
 * the share is free for it, somebody sets it up, or it is ready. With LATER some construct that comes later was begun
 * elsewhere. Numbers are counted modulo 2^32: a member would need terabytes to be that far ahead of another one.
 */
enum { FREE = 0, SETTING = 1, READY = 2, LATER = 4, NUMBER = -ABTOMP_NUM_SHARES };

_Static_assert((ABTOMP_NUM_SHARES & (ABTOMP_NUM_SHARES - 1)) == 0 && ABTOMP_NUM_SHARES > (READY | LATER) &&
                   ABTOMP_COUNT_START % ABTOMP_NUM_SHARES == 0,
               "the bits of a stage are where the number of a construct has that of its place");

/* -- The shares of a team -- */

static struct abtomp_share *share_new(int num)
{
    size_t size = sizeof(struct abtomp_share) + (size_t)num * sizeof(struct abtomp_range);
    struct abtomp_share *share = aligned_alloc(_Alignof(struct abtomp_share), size);
    if (!share)
        return NULL;
    memset(share, 0, size);
    atomic_init(&share->stage, ABTOMP_COUNT_START);
    return share;
}

struct abtomp_share **abtomp_shares_new(int num)
{
    struct abtomp_share **shares = calloc(ABTOMP_NUM_SHARES, sizeof(shares[0]));
    for (int i = 0; shares && i < ABTOMP_NUM_SHARES; i++) {
        shares[i] = share_new(num);
        if (!shares[i]) {
            abtomp_shares_free(shares);
            return NULL;
        }
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
    abtomp_assert(team->later.num == 0);
    /* relaxed, all: no member is in a region */
    for (int i = 0; i < ABTOMP_NUM_SHARES; i++)
        atomic_store_explicit(&team->shares[i]->stage, ABTOMP_COUNT_START, memory_order_relaxed);
    atomic_store_explicit(&team->has_shared, false, memory_order_relaxed);
}

/* Tasks of a cancelled region may use its copies until it ends. */
static void share_clear(struct abtomp_share *share)
{
    free(share->memory);
    abtomp_copies_free(share->copies);
    abtomp_doacross_free(share->doacross);
    share->memory = NULL;
    share->copies = NULL;
    share->doacross = NULL;
}

/* Where the share of a construct is, which is none before the first one there and none behind the last. */
static inline struct abtomp_share **later_at(const struct abtomp_later *later, uint32_t construct)
{
    return &later->ring[construct & (later->room - 1)];
}

void abtomp_shares_clear(struct abtomp_team *team)
{
    for (int i = 0; i < ABTOMP_NUM_SHARES; i++)
        share_clear(team->shares[i]);
    struct abtomp_later *later = &team->later;
    for (; later->num > 0; later->first++, later->num--) {
        struct abtomp_share *share = *later_at(later, later->first);
        if (share)
            share_clear(share);
        free(share);
    }
}

/* -- Coming and going -- */

/*
 * Construct n is in the share of place n modulo ABTOMP_NUM_SHARES, if that is free when the first member comes to it.
 * If not, since some member is so many constructs behind, it has a share to itself, in `later` of the team. share_lock
 * is held to decide that, and LATER is set then, so that members of other constructs come here, too, until `later` is
 * empty: a share that is free says in its stage which construct nobody has begun, unless LATER is set.
 */

/* The share of the construct among those; NULL: there is none. */
static struct abtomp_share *find_later(const struct abtomp_later *later, uint32_t construct)
{
    return construct - later->first < later->num ? *later_at(later, construct) : NULL;
}

static void later_grow(struct abtomp_later *later)
{
    enum { FIRST_ROOM = ABTOMP_BUILD_ASSERT ? 1 : 16 };
    struct abtomp_later old = *later;
    later->room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
    later->ring = abtomp_must_have(malloc(later->room * sizeof(later->ring[0])));
    for (uint32_t i = 0; i < old.num; i++)
        *later_at(later, old.first + i) = *later_at(&old, old.first + i);
    free(old.ring);
}

/* Constructs are begun in their order: the new one is the last. */
static struct abtomp_share *add_later(struct abtomp_team *team, uint32_t construct)
{
    struct abtomp_later *later = &team->later;
    struct abtomp_share *share = abtomp_must_have(share_new(team->num));
    share->is_later = true;
    share->construct = construct;
    /* relaxed: the lock publishes it */
    atomic_store_explicit(&share->stage, (construct & NUMBER) | SETTING, memory_order_relaxed);
    if (later->num == 0)
        later->first = construct;
    abtomp_assert(construct - later->first >= later->num);
    while (construct - later->first >= later->num) {
        if (later->num == later->room)
            later_grow(later);
        *later_at(later, later->first + later->num++) = NULL;
    }
    return *later_at(later, construct) = share;
}

static void remove_later(struct abtomp_team *team, struct abtomp_share *share)
{
    struct abtomp_later *later = &team->later;
    abtomp_mutex_lock(&team->share_lock);
    *later_at(later, share->construct) = NULL;
    for (; later->num > 0 && !*later_at(later, later->first); later->num--)
        later->first++;
    abtomp_mutex_unlock(&team->share_lock);
    free(share);
}

/* share_lock is held. True: the caller is the first that comes to the construct. */
static bool find_share_locked(struct abtomp_member *me, uint32_t construct)
{
    struct abtomp_team *team = me->team;
    struct abtomp_share *share = team->shares[construct % ABTOMP_NUM_SHARES];
    /* relaxed: a member that goes on with a share acquires it */
    uint32_t stage = atomic_load_explicit(&share->stage, memory_order_relaxed), next;
    bool is_free;
    me->share = share;
    do {
        uint32_t state = stage % LATER;
        if (state != FREE && (stage & NUMBER) == (construct & NUMBER))
            return false;
        if ((me->share = find_later(&team->later, construct)) != NULL)
            return false;
        me->share = share;
        is_free = state == FREE;
        next = is_free ? (construct & NUMBER) | SETTING | (team->later.num > 0 ? LATER : 0) : stage | LATER;
        /* acquire: pairs with the release in share_close. relaxed: the loop polls again */
    } while (!atomic_compare_exchange_weak_explicit(&share->stage, &stage, next, memory_order_acquire,
                                                    memory_order_relaxed));
    if (is_free)
        share->construct = construct;
    else
        me->share = add_later(team, construct);
    return true;
}

/* The share of the place is not simply that of the construct, or not yet. */
static __attribute__((noinline)) bool share_enter_slow(struct abtomp_member *me, uint32_t construct)
{
    struct abtomp_team *team = me->team;
    abtomp_mutex_lock(&team->share_lock);
    bool is_first = find_share_locked(me, construct);
    abtomp_mutex_unlock(&team->share_lock);
    if (is_first)
        return true;
    for (;;) {
        /* acquire: pairs with the release in abtomp_share_open */
        uint32_t stage = atomic_load_explicit(&me->share->stage, memory_order_acquire);
        if ((stage & READY) != 0)
            return false;
        abtomp_wait(&me->share->stage, stage, team, team->num);
    }
}

bool abtomp_share_enter(struct abtomp_member *me)
{
    uint32_t construct = me->num_shares++, begin = construct & NUMBER;
    struct abtomp_share *share = me->team->shares[construct % ABTOMP_NUM_SHARES];
    me->share = share;
    /* acquire: pairs with the releases in abtomp_share_open and share_close */
    uint32_t stage = atomic_load_explicit(&share->stage, memory_order_acquire);
    if (stage == (begin | READY))
        return false;
    /* acquire: pairs with the release in share_close. relaxed: share_enter_slow polls again */
    if (stage == (begin | FREE) &&
        ABTOMP_LIKELY(atomic_compare_exchange_strong_explicit(&share->stage, &stage, begin | SETTING,
                                                              memory_order_acquire, memory_order_relaxed))) {
        share->construct = construct;
        return true;
    }
    return share_enter_slow(me, construct);
}

void abtomp_share_open(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    /* relaxed, all: the stage publishes them, and this member alone has it */
    atomic_store_explicit(&share->inside, (uint32_t)me->team->num, memory_order_relaxed);
    /* Written only if it changes: others have the line. It becomes false while no member is in a region */
    if (!atomic_load_explicit(&me->team->has_shared, memory_order_relaxed))
        atomic_store_explicit(&me->team->has_shared, true, memory_order_relaxed);
    /* release: pairs with the acquires in abtomp_share_enter and share_enter_slow. Others may set LATER meanwhile */
    uint32_t before = atomic_fetch_add_explicit(&share->stage, READY - SETTING, memory_order_release);
    abtomp_assert(before % LATER == SETTING);
    (void)before;
    if (me->team->num > 1)
        abtomp_wake(&share->stage);
}

/* All have left it. What copies are of is still needed: their barrier is to come, and a member that is there frees
 * them. */
static void share_close(struct abtomp_team *team, struct abtomp_share *share)
{
    free(share->memory);
    free(share->copies);
    abtomp_doacross_free(share->doacross);
    share->memory = NULL;
    share->copies = NULL;
    share->doacross = NULL;
    if (ABTOMP_UNLIKELY(share->is_later))
        remove_later(team, share);
    else
        /* release: pairs with the acquires in abtomp_share_enter and find_share_locked. Others may set LATER */
        atomic_fetch_add_explicit(&share->stage, ABTOMP_NUM_SHARES - READY, memory_order_release);
}

/* A loop or the like begins or ends. */
static __attribute__((noinline)) void tell_work(struct abtomp_member *me, const struct abtomp_loop *loop, int endpoint)
{
    int kind = loop->work != 0 ? loop->work : ompt_work_loop;
    abtomp_tool_work(me, kind, endpoint, loop->all > 0 ? loop->all : loop->num);
}

void abtomp_share_leave(struct abtomp_member *me)
{
    struct abtomp_share *share = me->share;
    if (!share)
        return;
    if (abtomp_is_observed())
        tell_work(me, &share->loop, ompt_scope_end);
    /* acq_rel: pairs with itself, in abtomp_share_leave: the last one frees what all have used */
    if (atomic_fetch_sub_explicit(&share->inside, 1, memory_order_acq_rel) == 1)
        share_close(me->team, share);
    me->share = NULL;
}

/* -- Loops -- */

/* Puts what the program asks for in place of "runtime", "auto" and "trapezoidal". */
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
    if ((loop->kind & ~ABTOMP_MONOTONIC) == ABTOMP_TRAPEZOIDAL)
        loop->kind = ABTOMP_GUIDED;
    if (loop->kind == ABTOMP_DYNAMIC && !loop->is_ordered && loop->num_sinks == 0)
        loop->kind = ABTOMP_RANGES;
    loop->kind &= ~ABTOMP_MONOTONIC;
    if (loop->chunk == 0 && loop->kind != ABTOMP_STATIC)
        loop->chunk = 1;
    if (loop->num_sinks > 0)
        loop->kind |= ABTOMP_CROSSES;
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
        share->doacross = abtomp_doacross_new(&share->loop, me->team->num);
}

/* Memory for all members, of the size that *memory has, all zeros. */
static void set_memory(struct abtomp_share *share, void **memory)
{
    share->memory = abtomp_must_have(calloc(1, (uintptr_t)*memory));
}

void abtomp_loop_enter(struct abtomp_member *me, const struct abtomp_loop *loop, uintptr_t *reductions, void **memory)
{
    me->first = me->end = 0;
    me->round = 0;
    me->has_turn = true; /* of no iterations */
    if (abtomp_is_observed())
        tell_work(me, loop, ompt_scope_begin);
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

static __attribute__((noinline)) void tell_chunk(struct abtomp_member *me, const struct abtomp_loop *loop)
{
    abtomp_tool_chunk(me, loop->work == ompt_work_sections, loop->start + me->first * loop->step, me->end - me->first);
}

/* As compilers divide static loops that they need no function for. */
static bool take_static(struct abtomp_member *me, struct abtomp_share *share)
{
    const struct abtomp_loop *loop = &share->loop;
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
    if (abtomp_is_observed())
        tell_chunk(me, loop);
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
    if (abtomp_is_observed())
        tell_chunk(me, loop);
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
    case ABTOMP_STATIC: return take_static(me, share);
    case ABTOMP_GUIDED: return take_guided(me, share);
    case ABTOMP_STATIC | ABTOMP_CROSSES: return abtomp_doacross_take(me, take_static);
    case ABTOMP_GUIDED | ABTOMP_CROSSES: return abtomp_doacross_take(me, take_guided);
    case ABTOMP_DYNAMIC | ABTOMP_CROSSES: return abtomp_doacross_take(me, take_dynamic);
    default: return take_dynamic(me, share);
    }
}
