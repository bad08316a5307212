/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of work units, reported to those that listen: a tool's callback, and the library's own statistics and traces.
 * The streams report them on the general paths only; run/observe.h says why they take no other ones then.
 *
 * An event is reported on the native thread where it happens, before any other thread can take the unit further: CREATE
 * before the push, and SUSPEND before the unit can be resumed, and so under the lock of the object that it waits for.
 */
#ifndef ABTI_RT_TOOL_H
#define ABTI_RT_TOOL_H

#include "base/atomic.h"
#include "rt/types.h"

/* What was registered. It is constant. abti_tool_fini frees all. */
struct abti_tool {
    ABT_tool_thread_callback_fn callback;
    uint64_t events;
    void *arg;
    struct abti_tool *next;
};

/* The listeners that there can be at the same time, each with its own record. */
enum abti_listener {
    ABTI_LISTENER_TOOL,
    ABTI_LISTENER_STATS,
    ABTI_LISTENER_TRACE,
    ABTI_LISTENER_TOP,
    ABTI_NUM_LISTENERS
};

/* Events that only the library's own listeners learn of, beyond ABT_TOOL_EVENT_THREAD_ALL. The unit is the scheduler's.
 */
enum {
    ABTI_EVENT_PARK = 1 << 16,   /* the stream is about to sleep because it has no work */
    ABTI_EVENT_UNPARK = 1 << 17, /* and has slept */
    ABTI_EVENT_STEAL = 1 << 18,  /* a RANDWS scheduler has taken a unit, which this is, from another's pool */
};

/* The events that somebody listens to. Written with the records, which abti_tool_tell acquires. */
extern _Atomic(uint32_t) abti_tool_events ABTI_HIDDEN;

/* What a callback may ask for. Zero is the answer where the event says nothing. */
struct ABT_tool_context_opaque {
    abti_pool *pool;
    int depth;
    abti_unit *caller; /* NULL: an external thread */
    ABT_sync_event_type reason;
    const void *object;
};

/* The record of this callback, made when it is not there yet. NULL when there is no memory. */
const struct abti_tool *abti_tool_record(ABT_tool_thread_callback_fn cb, uint64_t events, void *arg) ABTI_MUST_CHECK;

/* The listener has this tool from now on; NULL: none. Returns whether any listener has one. */
bool abti_tool_set(enum abti_listener listener, const struct abti_tool *tool);

/* The calling native thread is in a callback. */
bool abti_tool_is_telling(void);

/* In the child of a fork: nothing was ever registered. */
void abti_tool_forget(void);

/* Frees all that was registered, when no thread can be in a callback any more. */
void abti_tool_fini(void);

/* Calls back those that want the event. es NULL: they are informed of none. */
void abti_tool_tell(uint64_t event, abti_unit *unit, abti_es *es,
                    const struct ABT_tool_context_opaque *context) ABTI_COLD;

/* Somebody listens to the event. Never, in a build without the tool interface. */
ABTI_INLINE bool abti_tool_wants(uint64_t event)
{
    /* relaxed: abti_tool_tell acquires what it calls */
    return ABTI_BUILD_TOOL && ABTI_UNLIKELY((abti_load_relaxed(&abti_tool_events) & (uint32_t)event) != 0);
}

#endif
