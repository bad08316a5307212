#include "pool/thief.h"

#include "os/clock.h"
#include "pool/builtin.h"
#include "pool/wish.h"

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
    return rests(thief) && abti_pool_may_ask(pool);
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
    if (!abti_pool_may_ask(pool))
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
