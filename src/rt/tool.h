/*
 * Events of work units, told to the one callback of a tool. A build without the tool interface has none of this: the
 * functions are empty. One with it tells of every switch by having the scheduler make it (abti_es_set_dsched), so that
 * events stand on the general paths only.
 *
 * An event is told on the native thread where it happens, before anybody else can take the unit further: CREATE before
 * the push, SUSPEND before the unit can be resumed, and so under the lock of the object that it waits for.
 */
#ifndef ABTI_RT_TOOL_H
#define ABTI_RT_TOOL_H

#include "base/atomic.h"
#include "rt/types.h"

/* What was registered; constant. All are freed by abti_tool_fini. */
struct abti_tool {
    ABT_tool_thread_callback_fn callback;
    uint64_t events;
    void *arg;
    struct abti_tool *next;
};

/* The one in use; NULL: none. abti_tool_register stores it with release, abti_tool_wants and abti_tool_tell acquire it.
 */
extern _Atomic(struct abti_tool *) abti_tool;

/* What a callback may ask for; zero is the answer where the event says nothing. */
struct ABT_tool_context_opaque {
    abti_pool *pool;
    int depth;
    abti_unit *caller; /* NULL: an external thread */
    ABT_sync_event_type reason;
    const void *object;
};

/* cb NULL: none from now on. ABT code. */
int abti_tool_register(ABT_tool_thread_callback_fn cb, uint64_t events, void *arg) ABTI_MUST_CHECK;

/* Nothing is told from now on. */
void abti_tool_stop(void);

/* In the child of a fork: nothing was ever registered. */
void abti_tool_forget(void);

/* Frees what was registered, when no thread can be in a callback any more. */
void abti_tool_fini(void);

/* Calls back if the event is wanted. es NULL: the tool is told of none. */
void abti_tool_tell(uint64_t event, abti_unit *unit, abti_es *es,
                    const struct ABT_tool_context_opaque *context) ABTI_COLD;

/* A tool is registered for the event. Never, in a build without the tool interface. */
ABTI_INLINE bool abti_tool_wants(uint64_t event)
{
    if (!ABTI_BUILD_TOOL)
        return false;
    struct abti_tool *tool = abti_load_acquire(&abti_tool);
    return ABTI_UNLIKELY(tool != NULL) && tool->events & event;
}

#endif
