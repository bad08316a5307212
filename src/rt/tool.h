/*
 * Events of work units, of which the one callback of a tool is told. A build without the tool interface has none of
 * this: the functions are empty. A build with it tells of every switch by having the scheduler make it
 * (abti_es_set_dsched), so that events stand on the general paths only.
 *
 * An event is told on the native thread where it happens, before any other thread can take the unit further: CREATE
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

/*
 * The tool in use; NULL: none. release: abti_tool_register and abti_tool_stop store it so. acquire: abti_tool_wants and
 * abti_tool_tell load it so.
 */
extern _Atomic(struct abti_tool *) abti_tool;

/* What a callback may ask for. Zero is the answer where the event says nothing. */
struct ABT_tool_context_opaque {
    abti_pool *pool;
    int depth;
    abti_unit *caller; /* NULL: an external thread */
    ABT_sync_event_type reason;
    const void *object;
};

/* Registers a tool. If `cb` is NULL there is none from now on. Returns an ABT code. */
int abti_tool_register(ABT_tool_thread_callback_fn cb, uint64_t events, void *arg) ABTI_MUST_CHECK;

/* Lets nothing be told from now on. */
void abti_tool_stop(void);

/* In the child of a fork: nothing was ever registered. */
void abti_tool_forget(void);

/* Frees all that was registered, when no thread can be in a callback any more. */
void abti_tool_fini(void);

/* Calls back if the event is wanted. If `es` is NULL the tool is told of no ES. */
void abti_tool_tell(uint64_t event, abti_unit *unit, abti_es *es,
                    const struct ABT_tool_context_opaque *context) ABTI_COLD;

/* Whether a tool is registered for the event. In a build without the tool interface none is. */
ABTI_INLINE bool abti_tool_wants(uint64_t event)
{
    if (!ABTI_BUILD_TOOL)
        return false;
    struct abti_tool *tool = abti_load_acquire(&abti_tool); /* acquire: pairs with the release in abti_tool_register */
    return ABTI_UNLIKELY(tool != NULL) && tool->events & event;
}

#endif
