#include "pool/steal.h"

#include "pool/pool.h"
#include "rt/rt.h"
#include "stream/xstream.h"

/*
 * How long a thief waits to be granted its wish. Who is busy with small units answers at once; from others a unit is
 * taken, with the bias, and then the next ones are cheap.
 */
enum { PATIENCE_NS = 1000 };

/* How often in a row a thief goes without: another one asks, which may have lost its CPU, or nothing is left. */
enum { MOST_REFUSED = 16 };

/*
 * A stolen unit costs both streams some hundred nanoseconds: the lines of its descriptor, its argument and its results
 * go there and back. One that takes no longer than that was better left to the ES that is busy with its pool. A thief
 * that gets such units only therefore rests after each, longer each time, and does not look at others' pools meanwhile:
 * each look would cost them a cache miss.
 */
enum { SMALL_NS = 200, ENOUGH_SMALLS = 4, REST_MIN_NS = 256, REST_DOUBLINGS = 6 };

/*
 * Where a line takes long from one processor to the other, a unit has to be larger to be worth it. Taking one from the
 * pool tells: three in four such steals took less than `cost_ns`, which goes up three steps for each that took longer
 * and down one for each that did not.
 */
enum { COST_STEP_NS = 16, COST_UP = 3 };

static void accept_gift(abti_pool *pool, struct abti_gift *gift)
{
    pool->ops->push_locked(pool, gift->unit, gift->context);
    abti_pool_count_left(abti_es_self, pool);
    /* release: the gift goes with its giver's frame */
    abti_store_release(&gift->taken, true);
}

void abti_pool_answer_locked(abti_pool *pool)
{
    uintptr_t word = abti_load_relaxed(&pool->wish);
    if (ABTI_LIKELY(word == 0))
        return;
    bool is_gift = word & ABTI_WISH_GIFT;
    /* The last one is left to who has the lock, and is likely to take it soon. A gift that somebody sleeps for is not
       for us: its giver wakes him. */
    if (is_gift ? abti_pool_has_parked(pool) : abti_ring_size(&pool->ring) < 2)
        return;
    /* acquire: what is taken off is as its owner has made it */
    if (!abti_cas_acq_rel(&pool->wish, &word, 0))
        return;
    if (is_gift)
        accept_gift(pool, (struct abti_gift *)(word - ABTI_WISH_GIFT));
    else
        /* release: publishes the unit, and with it what the lock has ordered so far */
        abti_store_release(&((struct abti_wish *)word)->unit, abti_ring_pop(&pool->ring, true));
}

/* Whether it is worth while to wait on. relaxed: glances */
static bool is_busy(abti_pool *pool, uint64_t asked_ns)
{
    return abti_load_relaxed(&pool->lock.owner) && abti_clock_mono_ns() - asked_ns < PATIENCE_NS;
}

bool abti_pool_ask(abti_pool *pool, abti_unit **unit)
{
    struct abti_wish wish = {NULL};
    uintptr_t none = 0, mine = (uintptr_t)&wish;
    bool empty = false;
    *unit = NULL;
    /* release: publishes the wish */
    if (!abti_cas_acq_rel(&pool->wish, &none, mine))
        return false;
    uint64_t asked_ns = abti_clock_mono_ns();
    /* acquire: pairs with abti_pool_answer_locked */
    while (!(*unit = abti_load_acquire(&wish.unit)) && !(empty = abti_pool_looks_empty(pool)) &&
           is_busy(pool, asked_ns))
        abti_cpu_relax();
    if (*unit)
        return true;
    if (abti_cas_acq_rel(&pool->wish, &mine, 0))
        return !empty;
    for (unsigned step = 0; !(*unit = abti_load_acquire(&wish.unit)); step++)
        abti_backoff(step);
    return true;
}

/* Where one native thread runs at a time, nobody could answer. */
static bool may_ask(abti_pool *pool)
{
    return pool->ops->answers && abti_rt_runs_at_once(2);
}

bool abti_pool_give(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    struct abti_gift gift = {.unit = unit, .context = context};
    uintptr_t none = 0, mine = (uintptr_t)&gift | ABTI_WISH_GIFT;
    struct abti_bias_user *owner = abti_load_relaxed(&pool->lock.owner); /* relaxed: a hint */
    if (!owner || (es && owner == es->bias) || !may_ask(pool) || abti_pool_has_parked(pool))
        return false;
    /* release: publishes the gift, and the unit */
    if (!abti_cas_acq_rel(&pool->wish, &none, mine))
        return false;
    uint64_t offered_ns = abti_clock_mono_ns();
    /* acquire: pairs with abti_pool_answer_locked */
    while (!abti_load_acquire(&gift.taken) && is_busy(pool, offered_ns))
        abti_cpu_relax();
    if (abti_cas_acq_rel(&pool->wish, &mine, 0))
        return false;
    for (unsigned step = 0; !abti_load_acquire(&gift.taken); step++)
        abti_backoff(step);
    return true;
}

static bool is_small(const struct abti_thief *thief, uint64_t ns)
{
    return ns < SMALL_NS || ns < thief->cost_ns;
}

static void learn_cost(struct abti_thief *thief, uint64_t ns)
{
    if (ns > thief->cost_ns)
        thief->cost_ns += COST_UP * COST_STEP_NS;
    else if (thief->cost_ns > 0)
        thief->cost_ns -= COST_STEP_NS;
}

static bool rests(struct abti_thief *thief)
{
    if (ABTI_LIKELY(thief->got_ns == 0 && thief->rest_ns == 0))
        return false;
    uint64_t now = abti_clock_mono_ns();
    if (thief->got_ns != 0) {
        thief->smalls = is_small(thief, now - thief->got_ns) ? thief->smalls + 1 : 0;
        thief->got_ns = 0;
        if (thief->smalls >= ENOUGH_SMALLS) {
            uint32_t more = thief->smalls - ENOUGH_SMALLS;
            thief->rest_ns = now + ((uint64_t)REST_MIN_NS << (more < REST_DOUBLINGS ? more : REST_DOUBLINGS));
        }
    }
    if (now < thief->rest_ns)
        return true;
    thief->rest_ns = 0;
    return false;
}

bool abti_thief_avoids(struct abti_thief *thief, abti_pool *pool)
{
    return rests(thief) && may_ask(pool);
}

/* What has been got, NULL: nothing, from a pool with which `busy` was busy last, NULL: nobody. */
static abti_unit *got(struct abti_thief *thief, abti_pool *pool, abti_unit *unit, const struct abti_bias_user *busy)
{
    /* relaxed: a hint */
    if (unit && busy && busy == abti_load_relaxed(&pool->server))
        thief->got_ns = abti_clock_mono_ns();
    else
        thief->smalls = 0;
    return unit;
}

static abti_unit *take_unasked(struct abti_thief *thief, abti_pool *pool, const struct abti_bias_user *busy)
{
    uint64_t start_ns = abti_clock_mono_ns();
    /* After a rest, and before it has taken two units one right after the other, all that it touches has moved. */
    bool tells_cost = thief->smalls > 0 && thief->smalls < ENOUGH_SMALLS;
    abti_unit *unit = got(thief, pool, abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY), busy);
    if (tells_cost && thief->got_ns != 0)
        learn_cost(thief, thief->got_ns - start_ns);
    return unit;
}

abti_unit *abti_steal(struct abti_thief *thief, abti_pool *pool)
{
    struct abti_bias_user *me = abti_es_self->bias;
    abti_unit *unit;
    if (!may_ask(pool))
        return abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_SECONDARY);
    /* A glance before all else: an empty pool costs no access that others would notice. */
    if (rests(thief) || abti_pool_looks_empty(pool))
        return NULL;
    /* relaxed: hints */
    struct abti_bias_user *busy = abti_load_relaxed(&pool->lock.owner);
    if (!busy) {
        busy = abti_load_relaxed(&pool->lock.last);
    } else if (busy != me) {
        if (!abti_pool_ask(pool, &unit) && ++thief->refused < MOST_REFUSED)
            return NULL;
        thief->refused = 0;
        if (unit)
            return got(thief, pool, unit, busy);
        busy = NULL;
    }
    return take_unasked(thief, pool, busy);
}
