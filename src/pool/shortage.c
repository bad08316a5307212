/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/shortage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "os/clock.h"
#include "os/limits.h"
#include "pool/pool.h"
#include "rt/rt.h"

/*
 * One ES polls on behalf of all: the first one that finds no stack. Nothing changes as long as its pools are as full as
 * before. Since ESs take units out of them and put them back all the time, the largest number in a period counts.
 */
enum { PERIOD_MS = 250, PATIENCE_MS = 2000, GONE_MS = 1000 };

static struct {
    struct abti_spin lock; /* guards the rest */
    const abti_es *es;     /* the ES that polls; it is only compared */
    uint64_t seen_ms;      /* when that ES has last found no stack */
    uint64_t period_ms;    /* when the period began */
    uint64_t since_ms;     /* nothing has changed since then */
    size_t most, before;   /* units in its pools, in this period and in the last one */
    bool reported;         /* this stall has been reported */
} stall = {.lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};

void abti_shortage_forget(void)
{
    memset(&stall, 0, sizeof(stall));
    abti_spin_init(&stall.lock, ABTI_RANK_LEAF);
}

static size_t num_units(abti_pool *const *pools, int num)
{
    size_t units = 0;
    for (int i = 0; i < num; i++)
        units += pools[i]->ops->size ? pools[i]->ops->size(pools[i]) : 0;
    return units;
}

static void count_waiting(void *count, abti_unit *unit)
{
    if (!abti_unit_has_started(unit) && !(unit->flags & (ABTI_UNIT_TASKLET | ABTI_UNIT_OWN_STACK)))
        ++*(size_t *)count;
}

/* Returns how many of the units wait for stacks. Nobody can look into the user's pools. */
static size_t num_waiting(abti_pool *const *pools, int num)
{
    size_t waiting = 0;
    for (int i = 0; i < num; i++) {
        if (abti_pool_is_user(pools[i]))
            waiting += num_units(&pools[i], 1);
        else
            pools[i]->ops->print_all(pools[i], &waiting, count_waiting);
    }
    return waiting;
}

/* Returns whether the stall has lasted for so long that it is to be reported now. */
static bool look_locked(const abti_es *es, size_t units, uint64_t now_ms)
{
    bool gone = now_ms >= stall.seen_ms + GONE_MS;
    if (es != stall.es && !gone)
        return false;
    if (gone) {
        stall.es = es;
        stall.period_ms = stall.since_ms = now_ms;
        stall.most = stall.before = units;
        stall.reported = false;
    }
    stall.seen_ms = now_ms;
    if (units > stall.most)
        stall.most = units;
    if (now_ms < stall.period_ms + PERIOD_MS)
        return false;
    if (stall.most != stall.before) {
        stall.since_ms = now_ms;
        stall.reported = false;
    }
    stall.before = stall.most;
    stall.most = units;
    stall.period_ms = now_ms;
    if (stall.reported || now_ms < stall.since_ms + PATIENCE_MS)
        return false;
    stall.reported = true;
    return true;
}

static void tell_stall(const abti_es *es, abti_pool *const *pools, int num)
{
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "libabt: no ULT can start, and nothing has changed for %d seconds: out of memory, %zu ULTs "
                       "in the pools of stream %d wait for stacks of %zu bytes each; the limit is most likely %s\n",
                       PATIENCE_MS / 1000, num_waiting(pools, num), es->rank, abti_rt.config.thread_stacksize,
                       abti_limits_blame(abti_rt.stack_slab.spec.arena.chunk));
    /* There is one write, so that the line stays in one piece. Whether it gets anywhere is not our concern. */
    if (len > 0 && write(STDERR_FILENO, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1) < 0)
        return;
}

void abti_shortage_note(abti_es *es, abti_pool *const *pools, int num)
{
    size_t units = num_units(pools, num);
    abti_spin_lock(&stall.lock);
    bool now = look_locked(es, units, abti_clock_mono_ns() / 1000000);
    abti_spin_unlock(&stall.lock);
    if (now)
        tell_stall(es, pools, num);
}
