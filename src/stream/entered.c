/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/entered.h"

#include "base/assert.h"
#include "stream/native.h"
#include "idle/driver.h"
#include "idle/idle.h"
#include "mem/stack.h"
#include "os/annotate.h"
#include "os/fault.h"
#include "run/observe.h"
#include "run/sched.h"
#include "pool/member.h"
#include "rt/rt.h"
#include "run/join.h"
#include "stream/affinity.h"
#include "stream/events.h"
#include "stream/list.h"
#include "stream/main.h"
#include "stream/xstream.h"
#include "sync/timer.h"
#include "unit/exceptions.h"
#include "unit/ledger.h"
#include "unit/tool_event.h"

/* --- Records that are kept --- */

/*
 * A record with its caches, a stack for the scheduler and one for signals takes some ten microseconds to make, which
 * threads that enter for a moment would spend each time. So many are kept for those that come; more that leave at the
 * same time free theirs.
 */
enum { MOST_KEPT = 32 };

static struct kept {
    struct abti_spin lock;
    int num; /* lock, as all else */
    abti_es *records[MOST_KEPT];
    struct abti_stack *stacks[MOST_KEPT];
} kept = {.lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};

static bool take_kept_record(abti_es **es, struct abti_stack **stack)
{
    abti_spin_lock(&kept.lock);
    bool taken = kept.num > 0;
    if (taken) {
        kept.num--;
        *es = kept.records[kept.num];
        *stack = kept.stacks[kept.num];
    }
    abti_spin_unlock(&kept.lock);
    return taken;
}

static bool keep_record(abti_es *es, struct abti_stack *stack)
{
    abti_spin_lock(&kept.lock);
    bool has_room = kept.num < MOST_KEPT;
    if (has_room) {
        kept.records[kept.num] = es;
        kept.stacks[kept.num] = stack;
        kept.num++;
    }
    abti_spin_unlock(&kept.lock);
    return has_room;
}

void abti_es_free_kept(void)
{
    abti_es *es;
    struct abti_stack *stack;
    while (take_kept_record(&es, &stack)) {
        abti_stack_destroy(stack);
        abti_es_drop(es);
    }
}

void abti_es_forget_kept(void)
{
    abti_spin_forget(&kept.lock, ABTI_RANK_LEAF);
    kept.num = 0;
}

/* --- Entering --- */

/*
 * Makes what the stream needs beside what others need: its CPUs, a stack for the scheduler, and the ULT of what the
 * native thread runs. A user-defined pool makes its unit for the ULT here, where the thread is no stream yet. That
 * comes last, so that no such unit is to be freed when something else fails. It undoes itself then. Returns an ABT
 * code.
 */
static int entered_alloc(abti_es *es, abti_pool *pool, unsigned flags, struct abti_stack **stack, abti_unit **main_ult,
                         struct abti_cpuset *cpus)
{
    int code = abti_esaffinity_of(es->rank, cpus);
    if (code == ABT_SUCCESS)
        code = abti_drivers_enter(es);
    if (code == ABT_SUCCESS && !*stack) {
        *stack = abti_stack_map(abti_rt.config.sched_stacksize);
        code = *stack ? ABT_SUCCESS : ABT_ERR_MEM;
    }
    if (code == ABT_SUCCESS)
        *main_ult = abti_unit_new(es, pool, NULL, NULL, flags, &code);
    if (code == ABT_SUCCESS)
        return ABT_SUCCESS;
    abti_cpuset_fini(cpus);
    if (*stack)
        abti_stack_destroy(*stack);
    return code;
}

/*
 * Nobody has made the two units: there is no caller. Of the primary stream nobody could have heard when it was made,
 * since ABT_init makes it.
 */
static void tell_entered(abti_es *es)
{
    abti_observe_look(es);
    es->tool.hidden = true;
    abti_tool_event_create(es, es->main_unit);
    abti_tool_event_create(es, es->cur);
    es->tool.hidden = false;
    es->tool.depth = 0;
    abti_tool_event_run(es, es->main_unit, NULL);
    es->tool.depth = 1;
    abti_tool_event_run(es, es->cur, es->main_unit);
}

/* The work of the native thread becomes a ULT of the stream. */
static void become_ult(abti_es *es, abti_unit *main_ult)
{
    abti_unit_set_pinned(main_ult, true);
    main_ult->stack = &es->native;
    es->parent = es->main_unit;
    es->tool.depth = 1;
    abti_es_set_dsched(es, NULL); /* not before the main unit has started: it would miss what is handed to it */
    abti_exceptions_enter(es);
    abti_set_running(es, main_ult);
    abti_es_self = es;
    abti_known_set_self(&es->known);
    if (!abti_es_is_primary(es))
        tell_entered(es);
}

int abti_es_enter(abti_sched *sched, int rank, abti_es **out)
{
    abti_assert(!abti_es_self && (rank == 0 || rank == ABTI_RANK_ENTERED) && sched->num_pools > 0);
    abti_es *es = NULL;
    struct abti_stack *stack = NULL;
    (void)take_kept_record(&es, &stack);
    int code = abti_es_alloc(sched, rank, true, es, &es);
    if (code != ABT_SUCCESS) {
        if (stack)
            abti_stack_destroy(stack);
        return code;
    }
    abti_unit *main_ult;
    struct abti_cpuset cpus;
    unsigned flags = ABTI_UNIT_PRIMARY | (rank == 0 ? 0 : ABTI_UNIT_ENTERED);
    code = entered_alloc(es, sched->pools[0], flags, &stack, &main_ult, &cpus);
    if (code != ABT_SUCCESS) {
        if (rank == 0)
            abti_es_list_move(es, -1);     /* the primary one keeps its timers to its end */
        (void)abti_timers_leave(es, true); /* others may have given it some */
        abti_es_drain(es);
        abti_es_dispose(es);
        return code;
    }
    es->thread = pthread_self();
    abti_own_enter(&es->own);
    abti_esaffinity_bind(es, &cpus);
    atomic_store(&sched->es, es); /* seq_cst: pairs with the load in abti_sched_request */
    abti_native_describe_primary(&es->native);
    abti_fault_enter(es->fault_stack);
    es->main_unit->stack = stack;
    es->main_unit->ctx = abti_ctx_make(abti_stack_top(stack), abti_main_run_entered);
    become_ult(es, main_ult);
    *out = es;
    return ABT_SUCCESS;
}

/* --- Leaving --- */

/* The reverse of tell_entered. The main scheduler's unit has a name, and is joined before it is freed. */
static void tell_left(abti_es *es)
{
    abti_tool_event_finish(es, es->cur);
    es->tool.depth = 0;
    abti_tool_event_finish(es, es->main_unit);
    es->tool.hidden = true;
    abti_tool_event_join(es->main_unit);
    abti_tool_event_free(es->cur);
    es->tool.hidden = false;
}

void abti_es_finish(abti_es *es)
{
    abti_assert(es == abti_es_self && es->is_entered && es->cur->flags & ABTI_UNIT_PRIMARY);
    abti_sched *sched = atomic_load(&es->main_sched); /* seq_cst: of no use; the ES itself stores it */
    /*
     * Nothing has run here but the caller, and nothing is to, nor is a driver to be ended: then there is nothing to
     * wait for. Timers of others may have come, which go to others again.
     */
    bool is_fresh = !es->has_begun && !es->picked && !abti_sched_has_work(sched) && !abti_drivers_have_begun(es);
    if (!is_fresh || !abti_timers_leave(es, true)) {
        abti_sched_request(sched, ABTI_SCHED_REQ_FINISH);
        abti_tool_event_suspend(es, ABT_SYNC_EVENT_TYPE_THREAD_JOIN, es->main_unit);
        abti_join_uncounted(es, es->main_unit);
    }
    abti_annotate_acquire(&abti_annotate_ends);
}

void abti_es_leave(abti_es *es)
{
    abti_assert(es == abti_es_self && es->is_entered && es->cur->flags & ABTI_UNIT_PRIMARY);
    struct abti_stack *stack = es->main_unit->stack;
    abti_unit *main_ult = es->cur;
    main_ult->flags &= (uint16_t)~ABTI_UNIT_OWN_STACK; /* see abti_end_with_process: the stack is not ours */
    abti_unit_dispose(es, main_ult);
    abti_native_forget(&es->native);
    abti_fault_leave(es->fault_stack);
    abti_own_leave(&es->own);
    abti_known_set_self(NULL);
    abti_es_self = NULL;
    abti_tool_event_free(es->main_unit);
    if (!abti_es_is_primary(es) && !abti_ledger_on && !abti_annotate_on) {
        abti_es_leave_list(es);
        abti_es_reset(es);
        if (!keep_record(es, stack)) {
            abti_stack_destroy(stack);
            abti_es_drop(es);
        }
    } else {
        abti_stack_destroy(stack);
        abti_es_drain(es);
        abti_es_dispose(es);
    }
}

abti_sched *abti_es_end_entered(abti_es *es)
{
    abti_unit_call_back(es->cur);
    abti_unit_call_back(es->main_unit);
    abti_sched *sched = atomic_load(&es->main_sched); /* seq_cst: of no use; the ES itself stores it */
    tell_left(es);
    abti_es_leave(es);
    return sched;
}

/* --- The primary stream --- */

int abti_es_promote(abti_es *es)
{
    abti_assert(es == abti_es_self && es->is_entered && es->cur->flags & ABTI_UNIT_ENTERED);
    struct abti_cpuset cpus;
    int code = abti_esaffinity_of(0, &cpus);
    if (code != ABT_SUCCESS)
        return code;
    abti_es_list_move(es, 0);
    es->had_entered = true;
    es->cur->flags &= (uint16_t)~ABTI_UNIT_ENTERED;
    abti_esaffinity_bind(es, &cpus);
    return ABT_SUCCESS;
}

void abti_es_demote(abti_es *es)
{
    abti_assert(es == abti_es_self && abti_es_is_primary(es));
    es->cur->flags |= ABTI_UNIT_ENTERED;
    abti_es_list_move(es, ABTI_RANK_ENTERED);
}
