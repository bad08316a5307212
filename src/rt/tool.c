/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/tool.h"

#include <stdlib.h>
#include <string.h>
#include "lock/spin.h"
#include "wait/threadword.h"

_Atomic(uint32_t) abti_tool_events;

/* By listener; NULL: nobody. Written under tool_lock with release, which abti_tool_tell acquires. */
static _Atomic(const struct abti_tool *) listeners[ABTI_NUM_LISTENERS];

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

const struct abti_tool *abti_tool_record(ABT_tool_thread_callback_fn cb, uint64_t events, void *arg)
{
    struct abti_tool *fresh = malloc(sizeof(*fresh));
    if (!fresh)
        return NULL;
    *fresh = (struct abti_tool){.callback = cb, .events = events & ABT_TOOL_EVENT_THREAD_ALL, .arg = arg};
    struct abti_tool *tool = find_or_add(fresh);
    if (tool != fresh)
        free(fresh);
    return tool;
}

bool abti_tool_set(enum abti_listener listener, const struct abti_tool *tool)
{
    uint64_t events = 0;
    abti_spin_lock(&tool_lock);
    abti_store_release(&listeners[listener], tool); /* release: pairs with the acquire in abti_tool_tell */
    for (int i = 0; i < ABTI_NUM_LISTENERS; i++) {
        const struct abti_tool *each = abti_load_relaxed(&listeners[i]); /* relaxed: the lock is held */
        events |= each ? each->events : 0;
    }
    abti_store_relaxed(&abti_tool_events, (uint32_t)events); /* relaxed: see abti_tool_wants */
    abti_spin_unlock(&tool_lock);
    return events != 0;
}

void abti_tool_fini(void)
{
    for (int i = 0; i < ABTI_NUM_LISTENERS; i++)
        (void)abti_tool_set((enum abti_listener)i, NULL);
    while (all) {
        struct abti_tool *next = all->next;
        free(all);
        all = next;
    }
}

bool abti_tool_is_telling(void)
{
    return abti_thread_word(ABTI_THREAD_TELLING) != NULL;
}

void abti_tool_tell(uint64_t event, abti_unit *unit, abti_es *es, const struct ABT_tool_context_opaque *context)
{
    void *outer = abti_thread_word(ABTI_THREAD_TELLING);
    (void)abti_thread_set_word(ABTI_THREAD_TELLING, &tool_lock); /* anything; it tells no more than that */
    for (int i = 0; i < ABTI_NUM_LISTENERS; i++) {
        /* acquire: pairs with the release in abti_tool_set. It may have changed since the caller looked. */
        const struct abti_tool *tool = abti_load_acquire(&listeners[i]);
        if (tool && tool->events & event)
            tool->callback(unit, es ? es : ABT_XSTREAM_NULL, event, (ABT_tool_context)context, tool->arg);
    }
    (void)abti_thread_set_word(ABTI_THREAD_TELLING, outer);
}

void abti_tool_forget(void)
{
    abti_spin_forget(&tool_lock, ABTI_RANK_LEAF);
    all = NULL;
    (void)abti_thread_set_word(ABTI_THREAD_TELLING, NULL);
    memset(listeners, 0, sizeof(listeners));
    abti_store_relaxed(&abti_tool_events, 0); /* relaxed: there is no other thread */
}
