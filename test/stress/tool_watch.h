/*
 * A tool callback that follows the states of all units: each event must be one that can come next, and tell the stream
 * and depth that the unit runs on.
 */
#ifndef TEST_TOOL_WATCH_H
#define TEST_TOOL_WATCH_H

#include <pthread.h>

#include "abt.h"
#include "tap.h"

enum watch_state { GONE = 1 << 0, IS_READY = 1 << 1, RUNS = 1 << 2, IS_BLOCKED = 1 << 3, ENDED = 1 << 4 };

struct watched {
    struct watched *next;
    ABT_thread unit;
    enum watch_state state;
    ABT_xstream xstream; /* RUNS: where */
    int depth;           /* RUNS */
    uint64_t last;       /* event */
};

enum { WATCH_BUCKETS = 4096 };

static struct watch_bucket {
    pthread_mutex_t lock;
    struct watched *first; /* lock */
} watch_buckets[WATCH_BUCKETS];

static atomic_long watch_events;
static _Atomic(void *) watch_arg; /* an event that comes with another argument is one of before, and not watched */

/* From which states an event may come, and to which it leads. */
static const struct watch_rule {
    uint64_t event;
    unsigned from;
    enum watch_state to;
    bool where; /* it is told where the unit runs */
} watch_rules[] = {
    {ABT_TOOL_EVENT_THREAD_CREATE, GONE, IS_READY, false},
    {ABT_TOOL_EVENT_THREAD_JOIN, ENDED, ENDED, false},
    {ABT_TOOL_EVENT_THREAD_FREE, ENDED, GONE, false},
    {ABT_TOOL_EVENT_THREAD_REVIVE, ENDED, IS_READY, false},
    {ABT_TOOL_EVENT_THREAD_RUN, IS_READY, RUNS, true},
    {ABT_TOOL_EVENT_THREAD_FINISH, RUNS, ENDED, true},
    {ABT_TOOL_EVENT_THREAD_CANCEL, IS_READY, ENDED, false},
    {ABT_TOOL_EVENT_THREAD_YIELD, RUNS, IS_READY, true},
    {ABT_TOOL_EVENT_THREAD_SUSPEND, RUNS, IS_BLOCKED, true},
    {ABT_TOOL_EVENT_THREAD_RESUME, IS_BLOCKED, IS_READY, false},
};

static inline const struct watch_rule *watch_rule_of(uint64_t event)
{
    for (size_t i = 0; i < sizeof(watch_rules) / sizeof(watch_rules[0]); i++) {
        if (watch_rules[i].event == event)
            return &watch_rules[i];
    }
    bail_out("unknown event %" PRIu64, event);
}

/* Before the first callback. */
static inline void watch_init(void)
{
    for (int i = 0; i < WATCH_BUCKETS; i++)
        pthread_mutex_init(&watch_buckets[i].lock, NULL);
}

/* Bucket lock held. `first_from`: the state of a unit that is seen for the first time. */
static inline struct watched *watch_find(struct watch_bucket *bucket, ABT_thread unit, enum watch_state first_from)
{
    struct watched *w = bucket->first;

    while (w && w->unit != unit)
        w = w->next;
    if (!w) {
        w = calloc(1, sizeof(*w));
        if (!w)
            bail_out("no memory");
        w->unit = unit;
        w->state = first_from;
        w->xstream = NULL;
        w->next = bucket->first;
        bucket->first = w;
    }
    return w;
}

static void watch_event(ABT_thread unit, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    const struct watch_rule *rule = watch_rule_of(event);
    uintptr_t line = (uintptr_t)unit >> 6;
    struct watch_bucket *bucket = &watch_buckets[(line ^ line >> 12) % WATCH_BUCKETS];
    int depth;

    if (ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &depth) != ABT_SUCCESS)
        bail_out("no depth");
    pthread_mutex_lock(&bucket->lock);
    if (arg != atomic_load(&watch_arg)) {
        pthread_mutex_unlock(&bucket->lock);
        return;
    }
    struct watched *w = watch_find(bucket, unit, rule->from & GONE ? GONE : (enum watch_state)rule->from);
    if (!(w->state & rule->from))
        bail_out("event %#" PRIx64 " after %#" PRIx64, event, w->last);
    if (rule->where && rule->to != RUNS && w->xstream && (xstream != w->xstream || depth != w->depth))
        bail_out("event %#" PRIx64 ": it runs elsewhere", event);
    w->state = rule->to;
    w->last = event;
    w->xstream = rule->to == RUNS ? xstream : NULL;
    w->depth = depth;
    pthread_mutex_unlock(&bucket->lock);
    atomic_fetch_add_explicit(&watch_events, 1, memory_order_relaxed);
}

/* Units that have not gone; with forget, none is known any more. */
static inline int watch_end(void)
{
    int left = 0;

    for (int i = 0; i < WATCH_BUCKETS; i++) {
        struct watch_bucket *bucket = &watch_buckets[i];
        pthread_mutex_lock(&bucket->lock);
        while (bucket->first) {
            struct watched *next = bucket->first->next;
            left += bucket->first->state != GONE;
            free(bucket->first);
            bucket->first = next;
        }
        pthread_mutex_unlock(&bucket->lock);
    }
    return left;
}

#endif
