/* SPDX-License-Identifier: BSD-3-Clause */
#include "idle/leader.h"

#include "base/assert.h"
#include "idle/driver.h"
#include "os/clock.h"
#include "rt/rt.h"

enum { CALLING = 1 };

static uint32_t lead_of(abti_es *es)
{
    return (uint32_t)es->index << 1;
}

static void set_leads(abti_es *es, struct abti_callee *c, bool leads)
{
    abti_assert(es == abti_es_self);
    if (c->following.leads == leads)
        return;
    abti_spin_lock(&es->idle->lock);
    c->following.leads = leads;
    abti_callees_update_own(es);
    abti_spin_unlock(&es->idle->lock);
}

/* Whether the leader has been silent for so long that the ES may take its place. */
static bool is_silent(struct abti_callee *c)
{
    struct abti_following *f = &c->following;
    uint32_t calls = abti_load_relaxed(&c->driver->calls); /* relaxed: only whether it changes counts */
    uint64_t now = abti_clock_mono_ns(), patience = ABTI_LEADER_PATIENCE_NS;
    if (c->period_ns != ABTI_CLOCK_NEVER && 2 * c->period_ns > patience)
        patience = 2 * c->period_ns;
    if (f->seen_ns == 0 || calls != f->seen_calls) {
        f->seen_calls = calls;
        f->seen_ns = now;
    }
    return now - f->seen_ns >= patience;
}

bool abti_leader_enter(abti_es *es, struct abti_callee *c)
{
    _Atomic(uint32_t) *leader = &c->driver->leader;
    uint32_t mine = lead_of(es);
    uint32_t word = abti_load_relaxed(leader); /* relaxed: what follows acquires */
    abti_assert(es == abti_es_self && word != (mine | CALLING));
    bool may = word == 0 || word == mine || (is_silent(c) && !(word & CALLING));
    /* acquire: pairs with the release in abti_leader_leave. The callbacks on other streams have happened. */
    bool leads = may && abti_cas_acquire(leader, &word, mine | CALLING);
    set_leads(es, c, leads);
    return leads;
}

bool abti_leader_is_calling(abti_es *es, struct abti_callee *c)
{
    /* relaxed: only the ES itself stores its own index with CALLING, and changes that */
    return abti_load_relaxed(&c->driver->leader) == (lead_of(es) | CALLING);
}

/* The next leader may sleep as a follower by now, and others would find it silent before it polls by itself. */
static void wake_next_leader(uint32_t index)
{
    abti_spin_lock(&abti_rt.lock);
    abti_es *es = abti_load_relaxed(&abti_rt.by_index[index]); /* relaxed: the lock is held */
    if (es)
        abti_es_notify(es, ABTI_ES_REQ_CHECK);
    abti_spin_unlock(&abti_rt.lock);
}

void abti_leader_leave(abti_es *es, struct abti_callee *c)
{
    abti_assert(es == abti_es_self && abti_leader_is_calling(es, c));
    abti_fetch_add_relaxed(&c->driver->calls, 1); /* relaxed: only whether it changes counts */
    c->following.seen_ns = 0;
    /* relaxed: a number that orders nothing. What is stored after this poll is found at the next */
    uint32_t next = abti_load_relaxed(&c->driver->next_leader);
    if (ABTI_UNLIKELY(next != 0))
        abti_store_relaxed(&c->driver->next_leader, 0); /* relaxed: as above */
    /* release: pairs with the acquires in abti_leader_enter and abti_leader_enter_at_once */
    abti_store_release(&c->driver->leader, next != 0 ? next << 1 : lead_of(es));
    if (ABTI_UNLIKELY(next != 0))
        wake_next_leader(next);
}

bool abti_leader_enter_at_once(abti_es *es, struct abti_callee *c)
{
    uint32_t word = abti_load_relaxed(&c->driver->leader); /* relaxed: what follows acquires */
    /* acquire: pairs with the release in abti_leader_leave, as in abti_leader_enter */
    if (word & CALLING || !abti_cas_acquire(&c->driver->leader, &word, lead_of(es) | CALLING))
        return false;
    set_leads(es, c, true);
    return true;
}

/* A next leader that ends before it leads is found silent, as a leader that ends so would be. */
uint32_t abti_leader_claim(abti_es *es, struct abti_callee *c)
{
    uint32_t mine = lead_of(es), word = abti_load_relaxed(&c->driver->leader); /* relaxed: what follows acquires */
    abti_assert(es == abti_es_self && abti_spin_is_mine(&es->idle->lock));
    while (!(word & CALLING) && word != mine) {
        /* acquire: as in abti_leader_enter, which pairs with abti_leader_leave; the next callback acquires, too */
        if (abti_cas_acquire(&c->driver->leader, &word, mine))
            word = mine;
    }
    if ((word & ~(uint32_t)CALLING) == mine) {
        c->following.leads = true;
        abti_callees_update_own(es);
        return 0;
    }
    abti_store_relaxed(&c->driver->next_leader, es->index); /* relaxed: a number that orders nothing */
    return word >> 1;
}

static void give_up(abti_es *es, struct abti_callee *c)
{
    uint32_t mine = lead_of(es);
    /*
     * It fails when another stream has taken the lead already. release: pairs with the acquire in abti_leader_enter, as
     * that in abti_leader_leave does
     */
    (void)abti_cas_release(&c->driver->leader, &mine, 0);
}

/* The lock of the callees is held, under which no other ES may be looked for: that one finds out by itself. */
void abti_leader_resign(abti_es *es, struct abti_callee *c)
{
    abti_assert(abti_spin_is_mine(&es->idle->lock));
    c->following.leads = false;
    if (c->driver->ops.one_leader)
        give_up(es, c);
}

void abti_leaders_give_up(abti_es *es)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->lock);
    for (struct abti_callee *c = es->idle->callees; c; c = c->next) {
        if (c->following.leads)
            give_up(es, c);
    }
    abti_spin_unlock(&es->idle->lock);
}
