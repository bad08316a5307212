/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/adaptive.h"

#include "base/assert.h"

static void adaptive_learn(struct abti_adaptive *adaptive, uint32_t level, bool woken)
{
    uint32_t next = woken ? 0 : level < ABTI_ADAPTIVE_MOST ? level + 1 : level;
    /*
     * If it has changed meanwhile, another thread has learnt something. relaxed, everywhere in this file: see
     * wait/adaptive.h.
     */
    if (next != level)
        (void)abti_cas_relaxed(&adaptive->level, &level, next);
}

/*
 * Lets the next waits of the group begin with sleep, since this one took too long. There are twice as many of them each
 * time, unless the group gets on without that for as many waits in between.
 */
static void prefer_sleep(struct abti_adaptive *adaptive, uint32_t level, uint32_t num)
{
    uint32_t threads = num < ABTI_ADAPTIVE_MOST_THREADS ? num : ABTI_ADAPTIVE_MOST_THREADS;
    uint32_t least = ABTI_ADAPTIVE_LEAST_MEETINGS * threads, most = ABTI_ADAPTIVE_MOST_MEETINGS * threads;
    uint32_t waits = 2 * abti_load_relaxed(&adaptive->waits_asleep);
    if (waits < least)
        waits = least;
    else if (waits > most)
        waits = most;
    /* If several threads notice this at the same time, one of them counts. */
    if (abti_cas_relaxed(&adaptive->level, &level, ABTI_ADAPTIVE_MOST + waits))
        abti_store_relaxed(&adaptive->waits_asleep, waits);
}

static void prefer_polls(struct abti_adaptive *adaptive)
{
    uint32_t waits = abti_load_relaxed(&adaptive->waits_asleep);
    if (waits > 0)
        abti_store_relaxed(&adaptive->waits_asleep, waits - 1);
}

/* Whether the wait is one of those that begin with sleep. */
static bool sleeps_at_once(struct abti_adaptive *adaptive, uint32_t level)
{
    if (level > ABTI_ADAPTIVE_MOST)
        abti_store_relaxed(&adaptive->level, level - 1); /* another thread may do so at the same time */
    return level > ABTI_ADAPTIVE_MOST;
}

struct abti_adaptive_leave abti_adaptive_allow_spins(struct abti_adaptive *adaptive, uint32_t wakes)
{
    uint32_t level = abti_load_relaxed(&adaptive->level);
    if (sleeps_at_once(adaptive, level))
        return (struct abti_adaptive_leave){.times = 0, .level = level};
    uint32_t saved = wakes % ABTI_ADAPTIVE_AGAIN == 0 ? 0 : level;
    return (struct abti_adaptive_leave){.times = (uint32_t)ABTI_ADAPTIVE_SPINS >> saved, .level = level};
}

void abti_adaptive_learn_spins(struct abti_adaptive *adaptive, uint32_t level, uint32_t num, bool pays)
{
    if (!pays) {
        prefer_sleep(adaptive, level, num);
        return;
    }
    adaptive_learn(adaptive, level, true);
    prefer_polls(adaptive);
}

void abti_adaptive_learn_sleep(struct abti_adaptive *adaptive, uint32_t level, uint64_t slept_ns)
{
    adaptive_learn(adaptive, level, slept_ns < ABTI_ADAPTIVE_SHORT_NS);
}

/* One yield is always tried, since it costs less than to sleep and be woken. */
struct abti_adaptive_leave abti_adaptive_allow_yields(struct abti_adaptive *adaptive, uint32_t wakes, uint32_t num,
                                                      uint32_t cpus)
{
    uint32_t level = abti_load_relaxed(&adaptive->level);
    if (sleeps_at_once(adaptive, level))
        return (struct abti_adaptive_leave){.times = 0, .level = level};
    uint32_t saved = wakes % ABTI_ADAPTIVE_AGAIN == 0 ? 0 : level;
    uint32_t yields = (uint32_t)ABTI_ADAPTIVE_YIELDS >> saved;
    return (struct abti_adaptive_leave){.times = yields > 0 ? yields : 1,
                                        .least_ns = (uint64_t)ABTI_ADAPTIVE_YIELD_LEAST_NS >> saved,
                                        .limit_ns = ABTI_ADAPTIVE_YIELD_NS +
                                                    (uint64_t)ABTI_ADAPTIVE_YIELD_EACH_NS * num / (cpus > 0 ? cpus : 1),
                                        .level = level};
}

void abti_adaptive_learn_yields(struct abti_adaptive *adaptive, struct abti_adaptive_leave leave, uint32_t num,
                                bool woken, uint64_t took_ns)
{
    abti_assert(leave.times > 0 && leave.level <= ABTI_ADAPTIVE_MOST);
    if (took_ns > leave.limit_ns) {
        prefer_sleep(adaptive, leave.level, num);
        return;
    }
    adaptive_learn(adaptive, leave.level, woken);
    if (woken)
        prefer_polls(adaptive);
}
