#include "rt/tool.h"

#include <stdlib.h>
#include "base/assert.h"
#include "os/spin.h"

_Atomic(struct abti_tool *) abti_tool;

static struct abti_spin tool_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static struct abti_tool *all; /* tool_lock: all that was ever registered. Another thread may still use any of them */

/*
 * Returns the record that equals `fresh`, or adds `fresh`, so that switching a tool on and off takes no more memory
 * each time.
 */
static struct abti_tool *find_or_add(struct abti_tool *fresh)
{
    abti_spin_lock(&tool_lock);
    struct abti_tool *tool = all;
    while (tool && (tool->callback != fresh->callback || tool->events != fresh->events || tool->arg != fresh->arg))
        tool = tool->next;
    if (!tool) {
        fresh->next = all;
        all = tool = fresh;
    }
    abti_spin_unlock(&tool_lock);
    return tool;
}

int abti_tool_register(ABT_tool_thread_callback_fn cb, uint64_t events, void *arg)
{
    if (!cb) {
        abti_tool_stop();
        return ABT_SUCCESS;
    }
    struct abti_tool *fresh = malloc(sizeof(*fresh));
    if (!fresh)
        return ABT_ERR_MEM;
    *fresh = (struct abti_tool){.callback = cb, .events = events & ABT_TOOL_EVENT_THREAD_ALL, .arg = arg};
    struct abti_tool *tool = find_or_add(fresh);
    if (tool != fresh)
        free(fresh);
    abti_store_release(&abti_tool, tool); /* release: pairs with the acquires in abti_tool_wants and abti_tool_tell */
    return ABT_SUCCESS;
}

void abti_tool_stop(void)
{
    abti_store_release(&abti_tool, NULL); /* release: of no use, as nothing is published */
}

void abti_tool_fini(void)
{
    abti_tool_stop();
    while (all) {
        struct abti_tool *next = all->next;
        free(all);
        all = next;
    }
}

void abti_tool_tell(uint64_t event, abti_unit *unit, abti_es *es, const struct ABT_tool_context_opaque *context)
{
    abti_assert(unit && context);
    /* acquire: pairs with the release in abti_tool_register */
    struct abti_tool *tool = abti_load_acquire(&abti_tool);
    if (!tool || !(tool->events & event))
        return; /* the tool has changed since the caller looked */
    tool->callback(unit, es ? es : ABT_XSTREAM_NULL, event, (ABT_tool_context)context, tool->arg);
}

void abti_tool_forget(void)
{
    abti_spin_init(&tool_lock, ABTI_RANK_LEAF);
    all = NULL;
    abti_store_relaxed(&abti_tool, NULL); /* relaxed: there is no other thread */
}
