/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams and ULTs for models, with stacks of their own: what the sources call of the rest of the library, as simple as
 * its contract allows. Each thread of a program that calls model_stream is an ES; its scheduler takes units from one
 * shared pool until as many as were made have ended. A switch saves a context with what was on the frame by plain
 * stores, so that a thread which resumes a unit too early, or by too weak an order, has a race.
 */
#ifndef MODEL_UNITS_H
#define MODEL_UNITS_H

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "checker.h"
#include "pool/builtin.h"
#include "rt/rt.h"
#include "run/switch.h"
#include "run/block.h"
#include "run/end.h"
#include "run/sched.h"
#include "sync/lookout.h"
#include "wait/external.h"
#include "wait/waketree.h"
#include "wait/word.h"

enum { MODEL_UNITS = 6, MODEL_STACK = 32 * 1024 };

/* --- Variables of the library --- */

struct abti_rt abti_rt;
_Thread_local abti_es *abti_es_self;
_Atomic(bool) abti_observe_on, abti_externals_are_wanted;
_Atomic(uint32_t) abti_tool_events, abti_num_cpus = 4;
uint32_t abti_num_nodes = 1;
bool abti_annotate_on, abti_annotate_order, abti_ledger_on;
abti_pool abti_no_pool;

static void *const model_nothing;
static const unsigned model_none;
static struct ABT_xstream_opaque model_es[MODEL_THREADS];
static bool model_is_stream[MODEL_THREADS];
static struct abti_bias_user model_bias[MODEL_THREADS];
static abti_unit model_parents[MODEL_THREADS], model_units[MODEL_UNITS];
static struct {
    char memory[MODEL_STACK];
    struct abti_stack header;
} model_stacks[MODEL_UNITS], model_parent_stacks[MODEL_THREADS];
static void *model_cache[MODEL_THREADS][2][MODEL_UNITS + 1], *model_external_cache[MODEL_UNITS + 1];
static abti_pool model_pool;
static _Atomic(int) model_units_left;

/* All threads have one such variable here: no access to it counts. */
__attribute__((no_sanitize("thread"))) void model_arrive(int index)
{
    abti_es_self = model_is_stream[index] ? &model_es[index] : NULL;
}

/* A pool has no host, and no timers are looked at, as abti_pool_alloc leaves it. */
static inline void model_pool_init(abti_pool *pool)
{
    abti_store_relaxed(&pool->host, ABTI_NO_HOST);
    abti_store_relaxed(&pool->quick_host, ABTI_NO_HOST);
    abti_lookout_init(&pool->lookout);
}

/* Each stream looks at its own timers here, and at nobody else's. */
void abti_lookout_note(abti_pool *pool, struct abti_timers *timers)
{
    (void)pool, (void)timers;
}

void abti_lookout_poll(abti_pool *pool)
{
}

/* No thread has words of its own. */
void *abti_thread_word(enum abti_thread_word which)
{
    return NULL;
}

/* test/model/waketree.c has it. */
uint32_t abti_waketree_own(void)
{
    return 1;
}

void abti_waketree_wake(_Atomic(uint32_t) *word)
{
    abti_word_wake(word);
}

void abti_waketree_arrive(uint32_t number)
{
}

void abti_waketree_help(uint32_t number)
{
}

/* --- Contexts --- */

struct model_context {
    jmp_buf registers;
    ucontext_t start;
    bool starts;
    int frame; /* stands for all that is on the stack */
};

static struct {
    void (*after)(void *);
    void *arg;
    _Atomic(uint8_t) *at;
    uint8_t value;
} model_arrival[MODEL_THREADS];
static struct model_context model_fresh[MODEL_UNITS];

/* What a switch does on the new stack: step 4 in arch/ctx.h. */
static void model_arrived(void)
{
    int self = model_self();
    void (*after)(void *) = model_arrival[self].after;
    _Atomic(uint8_t) *at = model_arrival[self].at;
    model_arrival[self].after = NULL;
    model_arrival[self].at = NULL;
    if (after)
        after(model_arrival[self].arg);
    if (at)
        abti_store_release(at, model_arrival[self].value); /* as abti_ctx_switch_store says */
}

static void __attribute__((noreturn)) model_go(struct model_context *to)
{
    model_assert(to->frame == 1);
    to->frame = 0;
    if (to->starts) {
        to->starts = false;
        setcontext(&to->start);
    }
    _longjmp(to->registers, 1);
}

static int model_switch(abti_ctx *save, abti_ctx to)
{
    struct model_context context;
    context.starts = false;
    context.frame = 1;
    abti_plain_store_relaxed(save, &context); /* the machine's store of a word */
    if (_setjmp(context.registers) == 0)
        model_go(to);
    model_arrived();
    return 0;
}

static void model_first(void)
{
    model_arrived();
    abti_ult_main();
    abort();
}

static struct model_context *model_start_context(void *top)
{
    struct abti_stack *stack = top;
    struct model_context *context = &model_fresh[((char *)stack - (char *)model_stacks) / sizeof model_stacks[0]];
    getcontext(&context->start);
    context->start.uc_stack.ss_sp = (char *)top - MODEL_STACK;
    context->start.uc_stack.ss_size = MODEL_STACK;
    makecontext(&context->start, model_first, 0);
    context->starts = true;
    context->frame = 1;
    return context;
}

int abti_ctx_switch(abti_ctx *save, abti_ctx to)
{
    return model_switch(save, to);
}

int abti_ctx_switch_after(abti_ctx *save, abti_ctx to, void (*after)(void *), void *arg)
{
    model_arrival[model_self()].after = after;
    model_arrival[model_self()].arg = arg;
    return model_switch(save, to);
}

int abti_ctx_switch_store(abti_ctx *save, abti_ctx to, uint8_t value, _Atomic(uint8_t) *at)
{
    model_arrival[model_self()].at = at;
    model_arrival[model_self()].value = value;
    return model_switch(save, to);
}

int abti_ctx_start(abti_ctx *save, void *top, void (*entry)(void), void (*after)(void *), void *arg)
{
    return abti_ctx_switch_after(save, model_start_context(top), after, arg);
}

ABTI_NORETURN void abti_ctx_jump(abti_ctx to)
{
    model_go(to);
}

ABTI_NORETURN void abti_ctx_jump_after(abti_ctx to, void (*after)(void *), void *arg)
{
    model_arrival[model_self()].after = after;
    model_arrival[model_self()].arg = arg;
    model_go(to);
}

ABTI_NORETURN void abti_ctx_restart(void *top, void (*entry)(void), void (*after)(void *), void *arg)
{
    model_arrival[model_self()].after = after;
    model_arrival[model_self()].arg = arg;
    model_go(model_start_context(top));
}

void abti_exception_leaves(void)
{
    abort();
}

/* --- The pool: a list under a spin lock --- */

static struct abti_spin model_pool_lock;
static abti_unit *model_ready[MODEL_UNITS];
static int model_num_ready;

static void model_push(abti_unit *unit)
{
    abti_spin_lock(&model_pool_lock);
    model_assert(model_num_ready < MODEL_UNITS);
    model_ready[model_num_ready++] = unit;
    abti_spin_unlock(&model_pool_lock);
}

static abti_unit *model_pop(void)
{
    abti_unit *unit = NULL;
    abti_spin_lock(&model_pool_lock);
    if (model_num_ready > 0) {
        unit = model_ready[0];
        model_num_ready--;
        for (int i = 0; i < model_num_ready; i++)
            model_ready[i] = model_ready[i + 1];
    }
    abti_spin_unlock(&model_pool_lock);
    return unit;
}

#ifndef MODEL_REAL_POOLS /* the model includes pool/blocked.c */
void abti_pool_push_unblocked(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    (void)pool, (void)context;
    model_push(unit);
}

void abti_pool_count_entered_shared(abti_pool *pool)
{
}
void abti_pool_count_left_shared(abti_pool *pool, uint64_t num)
{
}
#endif

/* --- Streams --- */

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    return abti_leave(es, self, next, after, arg);
}

static void model_reset(void)
{
    memset(model_es, 0, sizeof model_es);
    memset(model_units, 0, sizeof model_units);
    memset(model_parents, 0, sizeof model_parents);
    memset(model_arrival, 0, sizeof model_arrival);
    memset(model_is_stream, 0, sizeof model_is_stream);
    memset(&model_pool, 0, sizeof model_pool);
    model_pool_init(&model_pool);
    memset(&model_pool_lock, 0, sizeof model_pool_lock);
    memset(model_bias, 0, sizeof model_bias);
    memset(model_external_cache, 0, sizeof model_external_cache);
    memset(&abti_rt.external_lock, 0, sizeof abti_rt.external_lock);
    abti_rt.external_units.top = model_external_cache;
    abti_rt.external_units.end = &model_external_cache[MODEL_UNITS];
    model_num_ready = 0;
    model_units_left = 0;
    for (int i = 0; i < MODEL_THREADS; i++) {
        abti_es *es = &model_es[i];
        es->index = (uint16_t)(i + 1);
        es->running = ABTI_RUNNING_ON(es->index);
        es->bias = &model_bias[i];
        es->fast = &abti_no_pool;
        es->slow = es->in_hand = (struct abti_in_hand){&model_nothing, &model_none};
        es->budget = 1000;
        for (int k = 0; k < 2; k++) {
            struct abti_cache *cache = k ? &es->stacks : &es->units;
            memset(model_cache[i][k], 0, sizeof model_cache[i][k]);
            cache->top = model_cache[i][k];
            cache->end = cache->quick_end = &model_cache[i][k][MODEL_UNITS];
        }
        abti_rt.by_index[es->index] = es;
        model_parents[i].stack = &model_parent_stacks[i].header;
        model_parents[i].flags = ABTI_UNIT_MAIN_SCHED;
        model_split(&model_parents[i].meta, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7);
    }
    for (int i = 0; i < MODEL_UNITS; i++)
        model_split(&model_units[i].meta, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7);
}

/* Makes a ULT with a stack of its own, which no other unit gets. */
static abti_unit *model_unit(int index, void (*func)(void *), void *arg, unsigned flags)
{
    abti_unit *unit = &model_units[index];
    abti_unit_init(unit, func, arg, &model_pool, flags);
    model_stacks[index].header.in_place_limit = (char *)(UINTPTR_MAX >> 1);
    unit->stack = &model_stacks[index].header;
    model_units_left++;
    return unit;
}

/* The unit has done what it had to. */
static void model_unit_ends(void)
{
    atomic_fetch_sub_explicit(&model_units_left, 1, memory_order_relaxed);
}

/* Runs a unit that was popped, until its stream's scheduler is back. */
static void model_run(abti_es *es, abti_unit *unit)
{
    bool fresh = !abti_unit_has_started(unit);
    abti_set_running(es, unit);
    if (fresh)
        abti_ctx_start(&es->parent->ctx, abti_stack_top(unit->stack), NULL, NULL, NULL);
    else
        abti_ctx_switch(&es->parent->ctx, unit->ctx);
    abti_set_running(es, es->parent);
}

static abti_es *model_enter(int index)
{
    abti_es *es = &model_es[index];
    model_is_stream[index] = true;
    model_arrive(index);
    es->parent = es->main_unit = es->cur = &model_parents[index];
    abti_set_running(es, es->parent);
    return es;
}

/* What a scheduler does when there is no unit; NULL: nothing. */
static void (*model_idle)(abti_es *es);

static void model_stream(int index)
{
    abti_es *es = model_enter(index);
    while (atomic_load_explicit(&model_units_left, memory_order_relaxed) > 0) {
        abti_unit *unit = model_pop();
        if (unit)
            model_run(es, unit);
        else if (model_idle)
            model_idle(es);
        if (!unit)
            model_give_way();
    }
}

#endif
