/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/lookout.h"

#include "os/clock.h"

/*
 * No timer is missed. A stream that arms one holds the lock of its stream's timers, stores `next` and then loads the
 * stream's bit of `timed`. A stream that polls clears the bits and then takes that lock. If the arming comes first, the
 * poll sees the timer. Otherwise the arming sees the bit cleared, by the lock, and tells. So a poll need not take the
 * locks of streams whose bits were not set: what it sees there without it is what the last poll has seen, or some timer
 * is gone since.
 *
 * A stream that tells sets the bit and then next_ns, under the pool's lock, by which the stream that ends its poll
 * either sees the bit or is overridden.
 */
void abti_lookout_note(abti_pool *pool, struct abti_timers *timers)
{
    if (pool->access == ABT_POOL_ACCESS_PRIV)
        return; /* nobody else serves it */
    /* relaxed: the pool's lock orders it, which abti_parking_look_out_by takes */
    abti_fetch_or_relaxed(&pool->lookout.timed, timers->bit);
    abti_parking_look_out_by(pool, abti_clock_mono_ns() + ABTI_LOOKOUT_EVERY_NS);
}

/* What a poll has found. */
struct found {
    struct abti_heap_node *due, **tail; /* timers whose waits are to be ended */
    uint64_t known;                     /* bits of streams that have timers */
    uint64_t first_ns;                  /* the first of these */
    uint64_t now_ns;
};

static bool is_overdue(uint64_t next_ns, uint64_t now_ns)
{
    return next_ns <= now_ns && now_ns - next_ns >= ABTI_LOOKOUT_GRACE_NS;
}

static void poll_timers(struct abti_timers *timers, bool fresh, struct found *found)
{
    if (fresh) {
        abti_spin_lock(&timers->lock); /* see above */
        abti_spin_unlock(&timers->lock);
    }
    uint64_t next = abti_load_relaxed(&timers->next); /* relaxed, as below: see above */
    if (is_overdue(next, found->now_ns)) {
        *found->tail = abti_timers_take_due(timers, found->now_ns);
        while (*found->tail)
            found->tail = &(*found->tail)->next;
        next = abti_load_relaxed(&timers->next);
    }
    if (next != ABTI_CLOCK_NEVER)
        found->known |= timers->bit;
    found->first_ns = next < found->first_ns ? next : found->first_ns;
}

/* Looks at all streams that have one of the bits. */
static void poll_streams(uint64_t bits, uint64_t fresh, struct found *found)
{
    for (; bits; bits &= bits - 1) {
        unsigned index = (unsigned)__builtin_ctzll(bits), last = index < ABTI_LOOKOUT_SHARED ? index : ABTI_MAX_ES;
        for (struct abti_timers *timers; index <= last && (timers = abti_timers_at(index)) != NULL; index++)
            poll_timers(timers, fresh & timers->bit, found);
    }
}

/* Returns when to poll next, with the lock held. */
static uint64_t next_poll(struct abti_lookout *lookout, const struct found *found)
{
    uint64_t first = found->now_ns + ABTI_LOOKOUT_LEAST_NS, last = found->now_ns + ABTI_LOOKOUT_EVERY_NS;
    uint64_t timed = abti_load_relaxed(&lookout->timed);
    if (timed == 0 && found->known == 0)
        return ABTI_CLOCK_NEVER;
    if (is_overdue(found->first_ns, found->now_ns))
        return found->now_ns; /* there were too many at a time */
    bool is_quiet = timed == 0 && lookout->quiet >= ABTI_LOOKOUT_QUIET;
    if (!is_quiet && found->first_ns >= last)
        return last;
    return found->first_ns < first ? first : found->first_ns + ABTI_LOOKOUT_GRACE_NS;
}

/*
 * Says when the next poll is, with the lock held, as long as somebody polls; a stream that wants an earlier one
 * meanwhile finds that it has to say so. relaxed: the pool's lock is held.
 */
static void begin_poll(abti_pool *pool, uint64_t now_ns)
{
    abti_pool_lock(abti_es_self, pool);
    abti_store_relaxed(&pool->lookout.next_ns, now_ns + ABTI_LOOKOUT_EVERY_NS);
    abti_pool_unlock(abti_es_self, pool);
}

/* Says when it is really, unless somebody has wanted an earlier one. relaxed: the pool's lock is held. */
static void end_poll(abti_pool *pool, const struct found *found)
{
    struct abti_lookout *lookout = &pool->lookout;
    abti_pool_lock(abti_es_self, pool);
    abti_store_relaxed(&lookout->known, found->known);
    if (abti_load_relaxed(&lookout->next_ns) == found->now_ns + ABTI_LOOKOUT_EVERY_NS)
        abti_store_relaxed(&lookout->next_ns, next_poll(lookout, found));
    abti_pool_unlock(abti_es_self, pool);
}

/* Polls, with the lock held. */
static void lookout_poll(abti_pool *pool, struct found *found)
{
    struct abti_lookout *lookout = &pool->lookout;
    begin_poll(pool, found->now_ns);
    /*
     * release: pairs with the acquire in others_are_timed (pool/parking.c), which sees a bit here or there. relaxed:
     * the lock orders `known`, and those of the timers order `timed`, see above
     */
    uint64_t known = abti_load_relaxed(&lookout->known) | abti_load_relaxed(&lookout->timed);
    abti_store_relaxed(&lookout->known, known);
    uint64_t fresh = abti_exchange_release(&lookout->timed, 0);
    lookout->quiet = fresh ? 0 : lookout->quiet + 1;
    poll_streams(known | fresh, fresh, found);
    end_poll(pool, found);
}

void abti_lookout_poll(abti_pool *pool)
{
    struct abti_lookout *lookout = &pool->lookout;
    struct found found = {.first_ns = ABTI_CLOCK_NEVER, .now_ns = abti_clock_mono_ns()};
    found.tail = &found.due;
    /* acquire: pairs with the release in abti_parking_look_out_by. If somebody has polled meanwhile, that is seen below
     */
    if (abti_load_acquire(&lookout->next_ns) > found.now_ns || !abti_spin_trylock(&lookout->lock))
        return;
    if (abti_load_acquire(&lookout->next_ns) <= found.now_ns)
        lookout_poll(pool, &found);
    abti_spin_unlock(&lookout->lock);
    abti_timers_wake(found.due);
}
