/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/thrift.h"

#include "base/assert.h"

static void thrift_learn(struct abti_thrift *thrift, uint32_t level, bool woken)
{
    uint32_t next = woken ? 0 : level < ABTI_THRIFT_MOST ? level + 1 : level;
    /*
     * If it has changed meanwhile, another thread has learnt something. relaxed, everywhere in this file: see
     * wait/thrift.h.
     */
    if (next != level)
        (void)abti_cas_relaxed(&thrift->level, &level, next);
}

/*
 * Lets the next waits of the crowd begin with sleep, since this one took too long. There are twice as many of them each
 * time, unless the crowd gets on without that for as many waits in between.
 */
static void lose_patience(struct abti_thrift *thrift, uint32_t level, uint32_t num)
{
    uint32_t threads = num < ABTI_THRIFT_MOST_THREADS ? num : ABTI_THRIFT_MOST_THREADS;
    uint32_t least = ABTI_THRIFT_LEAST_MEETINGS * threads, most = ABTI_THRIFT_MOST_MEETINGS * threads;
    uint32_t waits = 2 * abti_load_relaxed(&thrift->waits_asleep);
    if (waits < least)
        waits = least;
    else if (waits > most)
        waits = most;
    /* If several threads notice this at the same time, one of them counts. */
    if (abti_cas_relaxed(&thrift->level, &level, ABTI_THRIFT_MOST + waits))
        abti_store_relaxed(&thrift->waits_asleep, waits);
}

static void gain_patience(struct abti_thrift *thrift)
{
    uint32_t waits = abti_load_relaxed(&thrift->waits_asleep);
    if (waits > 0)
        abti_store_relaxed(&thrift->waits_asleep, waits - 1);
}

/* Whether the wait is one of those that begin with sleep. */
static bool sleeps_at_once(struct abti_thrift *thrift, uint32_t level)
{
    if (level > ABTI_THRIFT_MOST)
        abti_store_relaxed(&thrift->level, level - 1); /* another thread may do so at the same time */
    return level > ABTI_THRIFT_MOST;
}

struct abti_thrift_leave abti_thrift_allow_looks(struct abti_thrift *thrift, uint32_t wakes)
{
    uint32_t level = abti_load_relaxed(&thrift->level);
    if (sleeps_at_once(thrift, level))
        return (struct abti_thrift_leave){.times = 0, .level = level};
    uint32_t saved = wakes % ABTI_THRIFT_AGAIN == 0 ? 0 : level;
    return (struct abti_thrift_leave){.times = (uint32_t)ABTI_THRIFT_LOOKS >> saved, .level = level};
}

void abti_thrift_learn_looks(struct abti_thrift *thrift, uint32_t level, uint32_t num, bool pays)
{
    if (!pays) {
        lose_patience(thrift, level, num);
        return;
    }
    thrift_learn(thrift, level, true);
    gain_patience(thrift);
}

void abti_thrift_learn_sleep(struct abti_thrift *thrift, uint32_t level, uint64_t slept_ns)
{
    thrift_learn(thrift, level, slept_ns < ABTI_THRIFT_SHORT_NS);
}

/* One yield is always tried, since it costs less than to sleep and be woken. */
struct abti_thrift_leave abti_thrift_allow_yields(struct abti_thrift *thrift, uint32_t wakes, uint32_t num,
                                                  uint32_t cpus)
{
    uint32_t level = abti_load_relaxed(&thrift->level);
    if (sleeps_at_once(thrift, level))
        return (struct abti_thrift_leave){.times = 0, .level = level};
    uint32_t saved = wakes % ABTI_THRIFT_AGAIN == 0 ? 0 : level;
    uint32_t yields = (uint32_t)ABTI_THRIFT_YIELDS >> saved;
    return (struct abti_thrift_leave){.times = yields > 0 ? yields : 1,
                                      .least_ns = (uint64_t)ABTI_THRIFT_YIELD_LEAST_NS >> saved,
                                      .limit_ns = ABTI_THRIFT_YIELD_NS +
                                                  (uint64_t)ABTI_THRIFT_YIELD_EACH_NS * num / (cpus > 0 ? cpus : 1),
                                      .level = level};
}

void abti_thrift_learn_yields(struct abti_thrift *thrift, struct abti_thrift_leave leave, uint32_t num, bool woken,
                              uint64_t took_ns)
{
    abti_assert(leave.times > 0 && leave.level <= ABTI_THRIFT_MOST);
    if (took_ns > leave.limit_ns) {
        lose_patience(thrift, leave.level, num);
        return;
    }
    thrift_learn(thrift, leave.level, woken);
    if (woken)
        gain_patience(thrift);
}
