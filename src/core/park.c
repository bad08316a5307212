#include "core/park.h"

#include "core/pool.h"
#include "core/switch.h"
#include "os/futex.h"

/* --- Sleepers. All accesses to the word are sequentially consistent: sleep and wake are a store-load exchange. --- */

void abti_sleeper_prepare(struct abti_sleeper *s)
{
    abti_store_seq_cst(&s->word, ABTI_ASLEEP);
}

bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns)
{
    bool in_time = true;
    while (abti_load_seq_cst(&s->word) == ABTI_ASLEEP && in_time)
        in_time = abti_futex_wait(&s->word, ABTI_ASLEEP, deadline_ns);
    return atomic_exchange(&s->word, ABTI_AWAKE) == ABTI_WOKEN;
}

void abti_sleeper_cancel(struct abti_sleeper *s)
{
    abti_store_seq_cst(&s->word, ABTI_AWAKE);
}

static bool sleeper_claim(struct abti_sleeper *s)
{
    uint32_t asleep = ABTI_ASLEEP;
    return atomic_compare_exchange_strong(&s->word, &asleep, ABTI_WOKEN);
}

bool abti_sleeper_wake(struct abti_sleeper *s)
{
    if (!sleeper_claim(s))
        return false;
    abti_futex_wake(&s->word);
    return true;
}

/* --- Sleeping on pools --- */

bool abti_parking_enter(struct abti_parking *p, abti_pool *pool, struct abti_sleeper *s)
{
    p->sleeper = s;
    abti_spin_lock(&pool->lock);
    p->prev = NULL;
    p->next = abti_load_relaxed(&pool->parked);
    if (p->next)
        p->next->prev = p;
    /* seq_cst, with the fence in the push of user-defined pools, which have a lock of their own */
    abti_store_seq_cst(&pool->parked, p);
    p->linked = true;
    bool empty = pool->user_defined || pool->ops->is_empty(pool);
    abti_spin_unlock(&pool->lock);
    /* A user's callback is called without our lock: after the entry it sees the unit, or its pusher sees the entry. */
    if (pool->user_defined)
        empty = pool->ops->is_empty(pool);
    return empty;
}

void abti_parking_leave(struct abti_parking *p, abti_pool *pool)
{
    if (!p->linked)
        return;
    abti_spin_lock(&pool->lock);
    if (p->next)
        p->next->prev = p->prev;
    if (p->prev)
        p->prev->next = p->next;
    else
        abti_store_relaxed(&pool->parked, p->next);
    abti_spin_unlock(&pool->lock);
    p->linked = false;
}

struct abti_sleeper *abti_parking_claim_locked(abti_pool *pool)
{
    /* Those who are woken already, by this pool or another, look at all of their pools anyway: wake somebody else. */
    for (struct abti_parking *p = abti_load_relaxed(&pool->parked); p; p = p->next) {
        if (sleeper_claim(p->sleeper))
            return p->sleeper;
    }
    return NULL;
}

void abti_parking_wake(struct abti_sleeper *s)
{
    if (ABTI_UNLIKELY(s != NULL))
        abti_futex_wake(&s->word);
}

abti_unit *abti_park_pop(abti_pool *pool, uint64_t deadline_ns, ABT_pool_context context)
{
    struct abti_sleeper sleeper = {ABTI_AWAKE};
    for (bool in_time = true;;) {
        abti_unit *unit = abti_pool_pop(pool, context);
        if (unit || !in_time)
            return unit;
        struct abti_parking parking = {.linked = false};
        abti_sleeper_prepare(&sleeper);
        if (abti_parking_enter(&parking, pool, &sleeper))
            in_time = abti_sleeper_sleep(&sleeper, deadline_ns);
        else
            abti_sleeper_cancel(&sleeper);
        abti_parking_leave(&parking, pool);
    }
}

/* --- Waiters of synchronisation objects --- */

struct park_arg {
    abti_unit *self;
    struct abti_spin *lock;
};

static void after_park(void *arg)
{
    struct park_arg *park = arg;
    struct abti_spin *lock = park->lock; /* *park lies on the stack that was left and may be gone with the unlock */
    abti_store_release(&park->self->state, ABT_THREAD_STATE_BLOCKED);
    abti_spin_unlock(lock);
}

void abti_waiter_init(struct abti_waiter *w)
{
    abti_es *es = abti_es_self;
    w->next = NULL;
    w->unit = es && es->parent && !abti_unit_is_tasklet(es->cur) ? es->cur : NULL;
    atomic_init(&w->sleeper.word, ABTI_AWAKE);
}

void abti_waiter_park(struct abti_waiter *w, struct abti_spin *lock)
{
    if (w->unit) {
        struct park_arg arg = {w->unit, lock};
        abti_block(abti_es_self, w->unit, after_park, &arg);
        return;
    }
    abti_sleeper_prepare(&w->sleeper);
    abti_spin_unlock(lock);
    while (!abti_sleeper_sleep(&w->sleeper, ABTI_CLOCK_NEVER))
        abti_sleeper_prepare(&w->sleeper);
}

void abti_waiter_wake(struct abti_waiter *w)
{
    if (w->unit)
        abti_unblock(w->unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    else
        abti_sleeper_wake(&w->sleeper);
}
