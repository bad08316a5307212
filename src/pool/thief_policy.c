/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/thief_policy.h"

void abti_thief_learn_steal(struct abti_thief *thief, uint64_t now_ns, bool was_busy)
{
    thief->got_ns = now_ns;
    thief->was_busy = was_busy;
    thief->ran = 0;
}

/* How many units it wants next time, when one takes so long. Units that are small already are not to be moved more. */
static void learn_size(struct abti_thief *thief, uint64_t unit_ns)
{
    uint8_t more = (uint8_t)(2 * thief->more + 1);
    if (unit_ns > ABTI_THIEF_BULK_NS)
        thief->more = 0;
    else if (unit_ns >= ABTI_THIEF_SMALL_NS)
        thief->more = more < ABTI_THIEF_BULK ? more : ABTI_THIEF_BULK;
}

/* Counts a small unit, and begins a truce if it was one too many. */
static void learn_small(struct abti_truce *truce, uint64_t now_ns)
{
    uint64_t smalls = atomic_load_explicit(&truce->word, memory_order_relaxed) / ABTI_TRUCE_SMALL, until_ns = 0;
    if (smalls < ABTI_THIEF_ENOUGH_SMALLS + ABTI_THIEF_REST_DOUBLINGS)
        smalls++;
    if (smalls >= ABTI_THIEF_ENOUGH_SMALLS)
        until_ns = now_ns + ((uint64_t)ABTI_THIEF_REST_MIN_NS << (smalls - ABTI_THIEF_ENOUGH_SMALLS));
    atomic_store_explicit(&truce->word, smalls * ABTI_TRUCE_SMALL + until_ns, memory_order_relaxed);
}

uint64_t abti_truce_end(struct abti_truce *truce)
{
    uint64_t word = atomic_load_explicit(&truce->word, memory_order_relaxed);
    atomic_store_explicit(&truce->word, word - word % ABTI_TRUCE_SMALL, memory_order_relaxed);
    return word % ABTI_TRUCE_SMALL;
}

void abti_thief_learn_return(struct abti_thief *thief, struct abti_truce *truce, uint64_t now_ns)
{
    if (thief->got_ns == 0)
        return;
    uint64_t unit_ns = (now_ns - thief->got_ns) / (1u + thief->ran);
    thief->got_ns = 0;
    if (!thief->is_warm) {
        thief->is_warm = true;
        return;
    }
    learn_size(thief, unit_ns);
    uint64_t word = atomic_load_explicit(&truce->word, memory_order_relaxed);
    if (unit_ns < ABTI_THIEF_SMALL_NS && thief->was_busy)
        learn_small(truce, now_ns);
    else if (unit_ns >= ABTI_THIEF_SMALL_NS && word != 0) /* most often nothing is written that others read */
        atomic_store_explicit(&truce->word, word / ABTI_TRUCE_SMALL / 2 * ABTI_TRUCE_SMALL, memory_order_relaxed);
    else if (word % ABTI_TRUCE_SMALL - 1 < now_ns + ABTI_THIEF_SMALL_NS)
        (void)abti_truce_end(truce); /* nobody is busy there, as a try has found */
}

bool abti_truce_try(struct abti_truce *truce, uint64_t now_ns)
{
    uint64_t word = atomic_load_explicit(&truce->word, memory_order_relaxed), until_ns = word % ABTI_TRUCE_SMALL;
    if (now_ns < until_ns)
        return false;
    return until_ns == 0 ||
           atomic_compare_exchange_strong_explicit(&truce->word, &word, word - until_ns + now_ns + ABTI_THIEF_SMALL_NS,
                                                   memory_order_relaxed, memory_order_relaxed);
}
