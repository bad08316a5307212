/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/carrier.h"

#include <errno.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/round.h"
#include "stream/native.h"
#include "os/affinity.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "os/fault.h"
#include "rt/rt.h"
#include "run/annotated.h"
#include "unit/exceptions.h"
#include "unit/saved.h"
#include "wait/word.h"

enum { TURN_NONE, TURN_GIVEN, TURN_ENDING };

/* --- CPUs --- */

/*
 * A thread that rebinds counts, and then looks whether the stream is away; a carrier says that it is away, and then
 * looks at the count. So one of the two sees the other, and a carrier that has missed the count is asked.
 */
void abti_carriers_rebind(abti_es *es)
{
    /* seq_cst: pairs with the load in abti_carrier_follow. The system orders the masks */
    atomic_fetch_add(&es->carried.bindings, 1);
    if (atomic_load(&es->carried.is_away)) /* seq_cst: pairs with the store in begin_to_carry */
        abti_es_notify(es, ABTI_ES_REQ_RETURN);
}

/* Without memory for the set it stays where it is, and tries again the next time. */
void abti_carrier_follow(abti_es *es)
{
    struct abti_carrier *c = es->carried.crew->now;
    struct abti_cpuset cpus;
    uint32_t bindings =
        atomic_load(&es->carried.bindings); /* seq_cst: pairs with the addition in abti_carriers_rebind */
    if (ABTI_LIKELY(c->bindings == bindings) || c == &es->carried.crew->own)
        return;
    if (abti_affinity_get(es->thread, &cpus) != 0)
        return;
    if (abti_affinity_set(pthread_self(), cpus.cpus, cpus.num) != -ENOMEM)
        c->bindings = bindings;
    abti_cpuset_fini(&cpus);
}

/* --- Turns --- */

static void set_turn(struct abti_carrier *c, uint32_t turn)
{
    abti_store_release(&c->turn, turn); /* release: pairs with the acquires in await_turn and abti_word_await_change */
    abti_futex_wake(&c->turn);
}

/* False: the thread is to end. */
static bool await_turn(struct abti_carrier *c)
{
    (void)abti_word_await_change(&c->turn, TURN_NONE, ABTI_CLOCK_NEVER);
    if (abti_load_acquire(&c->turn) == TURN_ENDING) /* acquire: pairs with the release in set_turn */
        return false;
    /* relaxed: the next one to store it has got the stream from this thread, or from one that came after it */
    abti_store_relaxed(&c->turn, TURN_NONE);
    return true;
}

static void begin_to_carry(struct abti_carrier *c)
{
    abti_es *es = c->es;
    es->carried.crew->now = c;
    atomic_store(&es->carried.is_away,
                 c != &es->carried.crew->own); /* seq_cst: pairs with the load in abti_carriers_rebind */
    abti_known_set_self(&es->known);
    abti_es_self = es;
    abti_exceptions_move(es);
    abti_carrier_follow(es);
}

void abti_carrier_give(struct abti_carrier *from, struct abti_carrier *to)
{
    abti_assert(from->es == abti_es_self && to->es == from->es && from->es->carried.crew->now == from && to != from);
    abti_es_self = NULL;
    abti_known_set_self(&from->known);
    set_turn(to, TURN_GIVEN);
}

void abti_carrier_return(struct abti_carrier *c)
{
    (void)await_turn(c);
    begin_to_carry(c);
}

/* --- Switches --- */

static void switch_to(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    if (abti_annotate_on)
        (void)abti_annotate_switch(self, to, after, arg);
    else if (after)
        (void)abti_ctx_switch_after(&self->ctx, to->ctx, after, arg);
    else
        (void)abti_ctx_switch(&self->ctx, to->ctx);
}

/* A carrier without a unit, on a stack where no unit runs. */
static void carrier_carry(struct abti_carrier *c)
{
    while (await_turn(c)) {
        begin_to_carry(c);
        switch_to(&c->idle, c->es->cur, NULL, NULL); /* until the stream is given to another carrier */
    }
}

struct carriers {
    struct abti_carrier *from, *to;
};

static void give_after(void *arg)
{
    struct carriers carriers = *(struct carriers *)arg; /* it is stored on the stack that goes with the stream */
    abti_carrier_give(carriers.from, carriers.to);
}

void abti_carrier_switch(abti_es *es, abti_unit *self, struct abti_carrier *to)
{
    struct abti_crew *crew = es->carried.crew;
    struct carriers carriers = {crew->now, to};
    abti_assert(es == abti_es_self && !crew->now->unit);
    if (crew->now != &crew->own) {
        crew->now->next = crew->spares;
        crew->spares = crew->now;
    }
    struct abti_saved saved = abti_saved_lay_by(es);
    switch_to(self, &crew->now->idle, give_after, &carriers);
    abti_saved_pick_up(&saved);
}

/* --- The stream's own thread --- */

/* Its own stack is in use by the stream, whichever thread carries that: it waits on another one. */
static void own_main(void)
{
    if (abti_annotate_on)
        abti_annotate_asan_finish(NULL, NULL, NULL);
    struct abti_known *known = abti_known_self; /* of the carrier that has just given its stream away */
    carrier_carry((struct abti_carrier *)((char *)known - offsetof(struct abti_carrier, known)));
    abort(); /* it is never asked to end: it carries the stream then */
}

static struct abti_crew *crew_of(abti_es *es)
{
    enum { STACK_SIZE = 64 * 1024 }; /* for handlers of signals */
    if (es->carried.crew)
        return es->carried.crew;
    if (!abti_known_self) /* see own_main */
        return NULL;
    struct abti_crew *crew = aligned_alloc(ABTI_CACHE_LINE, abti_round_up(sizeof(*crew), ABTI_CACHE_LINE));
    struct abti_stack *stack = crew ? abti_stack_map(STACK_SIZE) : NULL;
    if (!stack) {
        free(crew);
        return NULL;
    }
    *crew = (struct abti_crew){.own.es = es, .own.idle.stack = stack, .now = &crew->own};
    crew->own.idle.ctx = abti_ctx_make(abti_stack_top(stack), own_main);
    crew->return_tail = &crew->returning;
    abti_spin_init(&crew->lock, ABTI_RANK_LEAF);
    es->carried.crew = crew;
    return crew;
}

/* --- Spare threads --- */

static void *spare_main(void *arg)
{
    struct abti_carrier *c = arg;
    abti_native_describe(&c->stack, abti_rt.config.sched_stacksize);
    if (abti_annotate_on)
        c->stack.valgrind_id = abti_annotate_stack_register(c->stack.base, c->stack.size);
    c->idle.stack = &c->stack;
    abti_known_set_self(&c->known);
    abti_own_enter(&c->own);
    abti_fault_enter(c->fault_stack);
    carrier_carry(c);
    abti_fault_leave(c->fault_stack);
    abti_own_leave(&c->own);
    abti_native_forget(&c->stack);
    abti_known_set_self(NULL);
    return NULL;
}

static void free_spare(struct abti_carrier *c)
{
    abti_fault_stack_unmap(c->fault_stack);
    free(c);
}

/*
 * It is bound to the CPUs of the calling thread, by the system. If that is the stream's own, or is bound anew
 * meanwhile, it is bound once more when it begins to carry.
 */
static struct abti_carrier *make_spare(abti_es *es)
{
    struct abti_carrier *c = aligned_alloc(ABTI_CACHE_LINE, abti_round_up(sizeof(*c), ABTI_CACHE_LINE));
    if (!c)
        return NULL;
    bool guarded = abti_guard_room() > 0;
    *c = (struct abti_carrier){
        .es = es,
        .fault_stack = guarded ? abti_fault_stack_map() : NULL,
        .bindings = es->carried.crew->now->bindings,
    };
    if ((guarded && !c->fault_stack) || abti_native_start(&c->thread, spare_main, c) != ABT_SUCCESS) {
        free_spare(c);
        return NULL;
    }
    return c;
}

struct abti_carrier *abti_carrier_spare(abti_es *es)
{
    struct abti_crew *crew = crew_of(es);
    abti_assert(es == abti_es_self);
    if (!crew || !crew->spares)
        return crew ? make_spare(es) : NULL;
    struct abti_carrier *c = crew->spares;
    crew->spares = c->next;
    return c;
}

/* --- The end --- */

void abti_crew_fini(abti_es *es)
{
    struct abti_crew *crew = es->carried.crew;
    if (!crew)
        return;
    abti_assert(crew->num_away == 0 && crew->now == &crew->own);
    while (crew->spares) {
        struct abti_carrier *c = crew->spares;
        crew->spares = c->next;
        set_turn(c, TURN_ENDING);
        pthread_join(c->thread, NULL);
        free_spare(c);
    }
    abti_stack_destroy(crew->own.idle.stack);
    free(crew);
    es->carried.crew = NULL;
}

void abti_crew_forget(abti_es *es)
{
    while (es->carried.crew && es->carried.crew->spares) {
        struct abti_carrier *c = es->carried.crew->spares;
        es->carried.crew->spares = c->next;
        free_spare(c);
    }
}
