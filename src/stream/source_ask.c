/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream without units: it asks its sources, polls on for a while, and becomes idle. */
#include "base/assert.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "run/sched.h"
#include "pool/member.h"
#include "stream/source_impl.h"
#include "unit/ownstack.h"
#include "unit/tool_event.h"
#include "wait/cpus.h"

/* The work that the ES has got, and its preparation. */
struct asked {
    struct abtx_work work;
    abti_unit *unit;  /* for its function */
    size_t stacksize; /* of the stack that the unit has; 0: it gets a default one when it starts */
    bool is_short;    /* a source was left out, since there was no memory for its stack */
};

/* Gives the unit a stack of that size, from creation to free; 0: none. False: there is no memory, and it has none. */
static bool fit_stack(abti_es *es, struct asked *asked, size_t stacksize)
{
    abti_unit *unit = asked->unit;
    if (ABTI_LIKELY(asked->stacksize == stacksize))
        return true;
    if (asked->stacksize > 0) {
        unit->flags &= (uint16_t)~ABTI_UNIT_OWN_STACK;
        abti_ownstack_give(es, unit->stack);
    }
    unit->stack = NULL;
    asked->stacksize = 0;
    if (stacksize == 0)
        return true;
    unit->stack = abti_ownstack_take(es, stacksize);
    if (!unit->stack)
        return false;
    unit->flags |= ABTI_UNIT_OWN_STACK;
    asked->stacksize = stacksize;
    return true;
}

/*
 * Asks one source after the other. The lock is held, but not during the calls: then others may be attached, before all
 * that are there, and none is detached (source_lock_unasked, source.c).
 */
static bool ask_sources(abti_es *es, struct asked *asked)
{
    struct abti_idle *idle = es->idle;
    bool found = false;
    abti_assert(es == abti_es_self && abti_spin_is_mine(&idle->sources_lock) && !idle->asks);
    abti_annotate_acquire(idle); /* the thread that has attached a source has released that */
    struct abti_attachment *a = abti_load_relaxed(&idle->sources); /* relaxed: the lock is held */
    idle->asks = true;
    for (; a && !found; a = a->next_of_es) {
        asked->work = (struct abtx_work){NULL, NULL};
        abti_spin_unlock(&idle->sources_lock);
        /* The stack is there before anything is taken, so that nothing is lost. */
        if (ABTI_LIKELY(fit_stack(es, asked, a->source->stacksize)))
            found = a->source->ask(a->source->arg, &asked->work) != ABT_FALSE;
        else
            asked->is_short = true;
        if (found && ABTI_UNLIKELY(a->source->pins))
            abti_unit_set_pinned(asked->unit, true);
        abti_spin_lock(&idle->sources_lock);
    }
    idle->asks = false;
    return found;
}

/*
 * All attachments become ABTI_SOURCE_IDLE. True if one was not, so that the sources are to be asked once more. relaxed:
 * the lock of the list is held.
 */
static bool become_idle(abti_es *es)
{
    bool asks = false;
    abti_assert(es == abti_es_self && abti_spin_is_mine(&es->idle->sources_lock));
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        /* acquire: pairs with the store in wake_idler, which has written what end_search reads */
        if (abti_load_acquire(&a->state) == ABTI_SOURCE_IDLE)
            continue;
        abti_source_enter_idle(a);
        asks = true;
    }
    es->idle->in_vain = true;
    /* seq_cst: pairs with the fence in abti_source_wake_one */
    if (asks)
        abti_fence_seq_cst();
    return asks;
}

/* relaxed: the lock of the list is held. */
static bool is_idle(abti_es *es)
{
    abti_assert(abti_spin_is_mine(&es->idle->sources_lock));
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        /* acquire: pairs with the store in wake_idler, whose work is to be seen */
        if (abti_load_acquire(&a->state) != ABTI_SOURCE_IDLE)
            return false;
    }
    return true;
}

bool abti_source_is_one_busy(abti_es *es)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->sources_lock);
    bool is_to_ask = !is_idle(es);
    abti_spin_unlock(&es->idle->sources_lock);
    return is_to_ask;
}

/* relaxed: the lock of the list is held. */
static void set_busy_locked(abti_es *es)
{
    abti_assert(es == abti_es_self && abti_spin_is_mine(&es->idle->sources_lock));
    es->idle->in_vain = false;
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        abti_source_leave_idle(a, ABTI_SOURCE_BUSY);
        abti_source_leave_search(a);
    }
    es->idle->resigns = false;
}

void abti_source_set_all_busy(abti_es *es)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->sources_lock);
    set_busy_locked(es);
    abti_spin_unlock(&es->idle->sources_lock);
}

/* relaxed: the lock of the list is held. */
bool abti_source_is_one_woken(abti_es *es)
{
    bool woken = false;
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->sources_lock);
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a && !woken; a = a->next_of_es)
        /* seq_cst: pairs with the store in wake_idler, and comes after the announcement of the sleep */
        woken = abti_load_seq_cst(&a->state) == ABTI_SOURCE_WOKEN;
    abti_spin_unlock(&es->idle->sources_lock);
    return woken;
}

/*
 * There is no memory for a new unit: the stream asks again before it sleeps, until there is some. relaxed: the lock of
 * the list is held.
 */
static void stay_woken(abti_es *es)
{
    abti_assert(abti_spin_is_mine(&es->idle->sources_lock));
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        abti_source_leave_idle(a, ABTI_SOURCE_WOKEN);
        abti_source_leave_search(a); /* others may have memory */
    }
    es->idle->in_vain = true;
}

/* Whether the ES has something to run, perhaps: into what the user has defined this does not look. */
static bool has_unit(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        if (abti_pool_is_user(pool) || !abti_pool_is_empty(pool))
            return true;
    }
    return false;
}

bool abti_source_resigns(abti_es *es)
{
    abti_assert(es == abti_es_self && es->idle->asks);
    return es->idle->resigns;
}

void abti_source_ask_again(abti_es *es)
{
    abti_assert(es == abti_es_self && es->idle->asks);
    es->idle->asks_again = true;
}

/*
 * The longest patience of the sources for which it searches, one of a few. A source for which it is idle already may
 * wake it for that. relaxed: the lock of the list is held.
 */
static uint64_t search_patience(abti_es *es)
{
    uint64_t patience_ns = 0;
    abti_assert(abti_spin_is_mine(&es->idle->sources_lock));
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        /* acquire: pairs with the store in wake_idler, which has written what abti_source_may_search reads */
        if (a->source->patience_ns > patience_ns && abti_load_acquire(&a->state) != ABTI_SOURCE_IDLE &&
            abti_source_may_search(a))
            patience_ns = a->source->patience_ns;
    }
    return patience_ns;
}

static bool source_poll(abti_es *es, struct asked *asked)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->sources_lock);
    es->idle->asks_again = false;
    bool found = ask_sources(es, asked);
    abti_spin_unlock(&es->idle->sources_lock);
    return found;
}

/*
 * Rests before the ES becomes idle, if a source has asked others for work, which will be there at once, or if what the
 * ES got lately was not worth what it costs to hand it over: some hundred nanoseconds of the stream that makes work for
 * an idle stream. Until it is idle nobody makes work for it, and it only finds what has been made anyway; so it may
 * rest for as long as it likes, and no wake is lost (stream/source.h). Units in its pools end the rest. The lock is
 * held at its begin and end, not meanwhile. The ES polls now and then, since many trees of tasks begin with something
 * to take. True: it has found work.
 */
static bool source_rest(abti_es *es, abti_sched *sched, struct asked *asked)
{
    enum { FIRST_POLL_NS = 250, POLL_NS = 1000 };
    abti_assert(abti_spin_is_mine(&es->idle->sources_lock));
    if (es->sleepy || !abti_runs_at_once(2))
        return false;
    uint64_t patience_ns = search_patience(es);
    if (!abti_thief_needs_time(&es->idle->thief, &es->idle->truce) && patience_ns == 0)
        return false;
    uint64_t now_ns = abti_clock_mono_ns(), end_ns = now_ns + patience_ns,
             gap_ns = patience_ns ? FIRST_POLL_NS : POLL_NS;
    uint64_t poll_ns = now_ns + gap_ns;
    bool found = false;
    abti_spin_unlock(&es->idle->sources_lock);
    while (
        !found &&
        (now_ns < end_ns || (patience_ns > 0 && es->idle->asks_again) || now_ns < abti_truce_until(&es->idle->truce)) &&
        !has_unit(sched)) {
        if (now_ns >= poll_ns) {
            found = source_poll(es, asked);
            gap_ns = gap_ns < POLL_NS ? gap_ns * 2 : gap_ns;
            poll_ns = now_ns + gap_ns;
        }
        abti_cpu_relax();
        now_ns = abti_clock_mono_ns();
    }
    abti_spin_lock(&es->idle->sources_lock);
    return found;
}

/*
 * Whether nobody searches for a source of the ES that has its work made. relaxed: behind the fence in become_idle, and
 * the lock of the list is held.
 */
static bool is_alone(abti_es *es)
{
    bool alone = false;
    abti_assert(abti_spin_is_mine(&es->idle->sources_lock));
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a && !alone; a = a->next_of_es)
        alone = a->source->patience_ns > 0 && abti_load_relaxed(&a->source->searching) == 0;
    return alone;
}

/* The ES becomes idle, and asks once more. */
static bool ask_idle(abti_es *es, struct asked *asked)
{
    if (!become_idle(es))
        return false;
    es->idle->resigns = is_alone(es);
    bool found = ask_sources(es, asked);
    es->idle->resigns = es->idle->resigns && found; /* up to set_busy_locked */
    return found;
}

/* Tells the policy what has become of the last work, and returns the time. */
static uint64_t learn_return(abti_es *es)
{
    uint64_t now_ns = abti_clock_mono_ns();
    abti_thief_learn_return(&es->idle->thief, &es->idle->truce, now_ns);
    return now_ns;
}

/* Asks the sources, with the lock held. False: they have nothing, and the ES is idle. */
static bool find_work(abti_es *es, abti_sched *sched, struct asked *asked)
{
    abti_assert(es == abti_es_self && abti_spin_is_mine(&es->idle->sources_lock));
    bool was_woken = es->idle->in_vain;
    uint64_t start_ns = learn_return(es);
    bool found = ask_sources(es, asked);
    if (!found) {
        if (was_woken) { /* for nothing: that counts as the least that can be stolen */
            abti_thief_learn_steal(&es->idle->thief, start_ns, true);
            abti_thief_learn_return(&es->idle->thief, &es->idle->truce, start_ns);
        }
        found = source_rest(es, sched, asked) || ask_idle(es, asked);
    }
    if (found) {
        abti_thief_learn_steal(&es->idle->thief, abti_clock_mono_ns(), true);
        set_busy_locked(es);
    }
    return found;
}

/* The descriptor is there before anything is taken, so that nothing is lost when out of memory. */
abti_unit *abti_source_ask_all(abti_es *es, abti_sched *sched)
{
    struct asked asked = {.is_short = false};
    int code;
    abti_assert(es == abti_es_self && !es->parent && sched->num_pools > 0);
    abti_spin_lock(&es->idle->sources_lock);
    if (is_idle(es)) { /* also when somebody has detached the last source meanwhile */
        abti_spin_unlock(&es->idle->sources_lock);
        return NULL;
    }
    abti_unit *unit = asked.unit = abti_unit_new(es, sched->pools[0], NULL, NULL, 0, &code);
    bool found = unit && find_work(es, sched, &asked);
    if (!unit || (asked.is_short && !found))
        stay_woken(es);
    abti_spin_unlock(&es->idle->sources_lock);
    if (found) {
        unit->func = asked.work.func;
        unit->arg = asked.work.arg;
        abti_tool_event_create(abti_tool_es(), unit);
        return unit;
    }
    if (unit) {
        (void)fit_stack(es, &asked, 0);
        abti_unit_dispose(es, unit);
    }
    return NULL;
}
