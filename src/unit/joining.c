/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/joining.h"

#include "base/atomic.h"
#include "lock/spin.h"

static struct abti_spin joining_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static struct abti_joining table[ABTI_MAX_JOINING]; /* joining_lock */
static _Atomic(unsigned) num_joining;               /* stored under joining_lock */

/* joining_lock held. */
static struct abti_joining *joining_find(const abti_unit *unit)
{
    for (unsigned i = 0; i < ABTI_MAX_JOINING; i++) {
        if (table[i].unit == unit)
            return &table[i];
    }
    return NULL;
}

/* joining_lock held. relaxed, here as in abti_joining_find: a racy read, so that a caller that finds none takes no lock
 */
static void count_joining(unsigned change)
{
    abti_store_relaxed(&num_joining, abti_load_relaxed(&num_joining) + change);
}

void abti_joining_note(abti_unit *unit, abti_unit *joined, bool keeps_stream)
{
    abti_spin_lock(&joining_lock);
    struct abti_joining *at = joining_find(unit);
    if (at && at->joined != joined) { /* it was cancelled, and another unit has its descriptor */
        at->joined = joined;
        at->rounds = 0;
        at->reported = false;
    }
    if (!at && (at = joining_find(NULL))) {
        *at = (struct abti_joining){.unit = unit, .joined = joined, .keeps_stream = keeps_stream};
        count_joining(1);
    }
    if (at)
        at->polls++;
    abti_spin_unlock(&joining_lock);
}

/* joining_lock held. */
static void free_entry(struct abti_joining *at)
{
    at->unit = NULL;
    count_joining(-1u);
}

void abti_joining_end(const abti_unit *unit)
{
    abti_spin_lock(&joining_lock);
    struct abti_joining *at = joining_find(unit);
    if (at)
        free_entry(at);
    abti_spin_unlock(&joining_lock);
}

bool abti_joining_find(const abti_unit *unit, struct abti_joining *joining)
{
    if (abti_load_relaxed(&num_joining) == 0) /* relaxed: see count_joining */
        return false;
    abti_spin_lock(&joining_lock);
    const struct abti_joining *at = joining_find(unit);
    if (at)
        *joining = *at;
    abti_spin_unlock(&joining_lock);
    return at != NULL;
}

unsigned abti_joining_round(struct abti_joining joining[ABTI_MAX_JOINING])
{
    unsigned num = 0;
    abti_spin_lock(&joining_lock);
    for (unsigned i = 0; i < ABTI_MAX_JOINING; i++) {
        struct abti_joining *at = &table[i];
        if (!at->unit)
            continue;
        if (!at->keeps_stream && at->polls == at->seen) {
            free_entry(at);
            continue;
        }
        at->seen = at->polls;
        at->rounds += at->rounds < UINT8_MAX;
        joining[num++] = *at;
    }
    abti_spin_unlock(&joining_lock);
    return num;
}

void abti_joining_tell(const abti_unit *unit)
{
    abti_spin_lock(&joining_lock);
    struct abti_joining *at = joining_find(unit);
    if (at)
        at->reported = true;
    abti_spin_unlock(&joining_lock);
}

void abti_joining_forget(void)
{
    abti_spin_forget(&joining_lock, ABTI_RANK_LEAF);
    for (unsigned i = 0; i < ABTI_MAX_JOINING; i++)
        table[i].unit = NULL;
    abti_store_relaxed(&num_joining, 0); /* relaxed: there is no other thread */
}
