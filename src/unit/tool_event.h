/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of work units: one function reports each. rt/tool.h says when, and holds the tool. */
#ifndef ABTI_UNIT_TOOL_EVENT_H
#define ABTI_UNIT_TOOL_EVENT_H

#include "rt/tool.h"
#include "unit/unit.h"

/* The calling ES, unless it is hidden from reports; NULL: an external thread. */
ABTI_INLINE abti_es *abti_tool_es(void)
{
    abti_es *es = abti_es_self;
    return es && !es->tool.hidden ? es : NULL;
}

/* The calling unit, in the same way. */
ABTI_INLINE abti_unit *abti_tool_caller(void)
{
    abti_es *es = abti_tool_es();
    return es ? es->cur : NULL;
}

/* The ES's unit begins to run children (1), or has them no more (-1). Counted always: somebody may listen later. */
ABTI_INLINE void abti_tool_descend(abti_es *es, int levels)
{
    if (ABTI_BUILD_TOOL)
        es->tool.depth += levels;
}

/* `es` is where a main scheduler is to run, and for other units the caller's. */
ABTI_INLINE void abti_tool_event_create(abti_es *es, abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_CREATE))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_CREATE, unit, es,
                       &(struct ABT_tool_context_opaque){.pool = unit->pool, .caller = abti_tool_caller()});
}

ABTI_INLINE void abti_tool_event_revive(abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_REVIVE))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_REVIVE, unit, abti_tool_es(),
                       &(struct ABT_tool_context_opaque){.pool = unit->pool, .caller = abti_tool_caller()});
}

/* The unit may be freed already: another thread may have done that since it was seen to be done. */
ABTI_INLINE void abti_tool_event_join(abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_JOIN))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_JOIN, unit, abti_tool_es(),
                       &(struct ABT_tool_context_opaque){.caller = abti_tool_caller()});
}

ABTI_INLINE void abti_tool_event_free(abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_FREE))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_FREE, unit, abti_tool_es(),
                       &(struct ABT_tool_context_opaque){.caller = abti_tool_caller()});
}

/* An unnamed unit has ended. Its parent, or nobody that listens, frees it. */
ABTI_INLINE void abti_tool_event_free_unnamed(abti_es *es, abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_FREE))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_FREE, unit, abti_tool_es(),
                       &(struct ABT_tool_context_opaque){.caller = es->tool.hidden ? NULL : es->parent});
}

/* `before` ran before it on this ES; NULL: no unit did. */
ABTI_INLINE void abti_tool_event_run(abti_es *es, abti_unit *unit, abti_unit *before)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_RUN))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_RUN, unit, es,
                       &(struct ABT_tool_context_opaque){.depth = es->tool.depth, .caller = before});
}

ABTI_INLINE void abti_tool_event_finish(abti_es *es, abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_FINISH))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_FINISH, unit, es,
                       &(struct ABT_tool_context_opaque){.depth = es->tool.depth});
}

ABTI_INLINE void abti_tool_event_cancel(abti_es *es, abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_CANCEL))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_CANCEL, unit, es, &(struct ABT_tool_context_opaque){.depth = 0});
}

/*
 * Reports the cancellation of a unit that was popped. If it has never run, no ES is reported with its end up to
 * abti_tool_after_cancel, nor with the resumption of its joiner.
 */
ABTI_INLINE void abti_tool_event_cancel_popped(abti_es *es, abti_unit *unit)
{
    if (!ABTI_BUILD_TOOL)
        return;
    es->tool.hidden = !abti_unit_has_started(unit);
    abti_tool_event_cancel(es->tool.hidden ? NULL : es, unit);
}

ABTI_INLINE void abti_tool_after_cancel(abti_es *es)
{
    if (ABTI_BUILD_TOOL)
        es->tool.hidden = false;
}

/* One of ABTI_EVENT_*. */
ABTI_INLINE void abti_tool_event_own(uint64_t event, abti_es *es, abti_unit *unit)
{
    if (abti_tool_wants(event))
        abti_tool_tell(event, unit, es, &(struct ABT_tool_context_opaque){.depth = es->tool.depth});
}

/* The calling ULT gives the ES away. */
ABTI_INLINE void abti_tool_event_yield(abti_es *es, ABT_sync_event_type reason, const void *object)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_YIELD))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_YIELD, es->cur, es,
                       &(struct ABT_tool_context_opaque){
                           .pool = es->cur->pool, .depth = es->tool.depth, .reason = reason, .object = object});
}

/*
 * The calling ULT blocks. The contract says that the waits of a reader-writer lock look like those of the cond in it,
 * and that a wait for the user, such as that of ABTX_self_sleep, names no object.
 */
ABTI_INLINE void abti_tool_event_suspend(abti_es *es, ABT_sync_event_type reason, const void *object)
{
    if (reason == ABT_SYNC_EVENT_TYPE_RWLOCK)
        reason = ABT_SYNC_EVENT_TYPE_COND;
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_SUSPEND))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_SUSPEND, es->cur, es,
                       &(struct ABT_tool_context_opaque){.pool = es->cur->pool,
                                                         .depth = es->tool.depth,
                                                         .reason = reason,
                                                         .object = reason == ABT_SYNC_EVENT_TYPE_USER ? NULL : object});
}

ABTI_INLINE void abti_tool_event_resume(abti_unit *unit)
{
    if (abti_tool_wants(ABT_TOOL_EVENT_THREAD_RESUME))
        abti_tool_tell(ABT_TOOL_EVENT_THREAD_RESUME, unit, abti_tool_es(),
                       &(struct ABT_tool_context_opaque){.pool = unit->pool, .caller = abti_tool_caller()});
}

#endif
