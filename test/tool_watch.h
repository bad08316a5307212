/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool callback that follows the states of all units and streams: each event must be one that can come next, and say
 * what the contract has it say. What is wrong goes to watch_wrong, which who includes this may define.
 */
#ifndef TEST_TOOL_WATCH_H
#define TEST_TOOL_WATCH_H

#include <pthread.h>

#include "abt.h"
#include "tap.h"

#ifndef watch_wrong
#define watch_wrong bail_out
#endif

enum watch_state { GONE = 1 << 0, IS_READY = 1 << 1, RUNS = 1 << 2, IS_BLOCKED = 1 << 3, ENDED = 1 << 4 };

struct watched {
    struct watched *next;
    ABT_thread unit;
    enum watch_state state;
    ABT_xstream xstream; /* RUNS: where */
    int depth;           /* RUNS */
    bool has_run, is_joined, is_unnamed;
    char pool;      /* '+': it is in one; '-': it is not, as it is a main scheduler's; 0: that is not known yet */
    char story[32]; /* its last events, by their letters */
};

enum { WATCH_BUCKETS = 4096, WATCH_DEPTHS = 16, WATCH_STREAMS = 64 };

static struct watch_bucket {
    pthread_mutex_t lock;
    struct watched *first; /* lock */
} watch_buckets[WATCH_BUCKETS];

/* What runs on a stream, by depth. Streams whose handles fall together stand in one list. */
struct watched_stream {
    struct watched_stream *next;
    ABT_xstream xstream;
    ABT_thread running[WATCH_DEPTHS]; /* NULL: nothing; WATCH_UNKNOWN: something that has told of nothing yet */
    ABT_thread left;                  /* what has last given the stream away */
};

static struct watch_streams {
    pthread_mutex_t lock;
    struct watched_stream *first; /* lock */
} watch_streams[WATCH_STREAMS];

#define WATCH_UNKNOWN ((ABT_thread)(void *)watch_streams)

static atomic_long watch_events;
static _Atomic(void *) watch_arg; /* an event that comes with another argument is one of before, and not watched */

/* Since ABT_init: no unit is unknown but the primary ULT, and its stream's main scheduler, which run. */
static bool watch_all;

/* From which states an event may come, and to which it leads. What else it says: +: always, -: never, and a space: it
 * may. */
static const struct watch_rule {
    uint64_t event;
    char letter;
    unsigned from;
    enum watch_state to;
    char xstream, pool, caller, sync;
    bool where; /* it is told where the unit runs, with its depth */
} watch_rules[] = {
    {ABT_TOOL_EVENT_THREAD_CREATE, 'C', GONE, IS_READY, ' ', '+', ' ', '-', false},
    {ABT_TOOL_EVENT_THREAD_JOIN, 'J', ENDED, ENDED, ' ', '-', ' ', '-', false},
    {ABT_TOOL_EVENT_THREAD_FREE, 'F', ENDED, GONE, ' ', '-', ' ', '-', false},
    {ABT_TOOL_EVENT_THREAD_REVIVE, 'V', ENDED, IS_READY, ' ', '+', ' ', '-', false},
    {ABT_TOOL_EVENT_THREAD_RUN, 'R', IS_READY, RUNS, '+', '-', ' ', '-', true},
    {ABT_TOOL_EVENT_THREAD_FINISH, 'N', RUNS, ENDED, '+', '-', '-', '-', true},
    {ABT_TOOL_EVENT_THREAD_CANCEL, 'X', IS_READY, ENDED, ' ', '-', '-', '-', false},
    {ABT_TOOL_EVENT_THREAD_YIELD, 'Y', RUNS, IS_READY, '+', '+', '-', '+', true},
    {ABT_TOOL_EVENT_THREAD_SUSPEND, 'S', RUNS, IS_BLOCKED, '+', '+', '-', '+', true},
    {ABT_TOOL_EVENT_THREAD_RESUME, 'W', IS_BLOCKED, IS_READY, ' ', '+', ' ', '-', false},
};

/* What an event says. */
struct watch_said {
    ABT_pool pool;
    int depth;
    ABT_exec_entity_type caller_type;
    ABT_thread caller;
    ABT_sync_event_type reason;
    void *object;
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
    for (int i = 0; i < WATCH_STREAMS; i++)
        pthread_mutex_init(&watch_streams[i].lock, NULL);
}

/* --- What an event says --- */

static inline bool watch_asks(ABT_tool_context context, uint64_t event, struct watch_said *said)
{
    return ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_POOL, &said->pool) == ABT_SUCCESS &&
           ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &said->depth) == ABT_SUCCESS &&
           ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_CALLER_TYPE, &said->caller_type) == ABT_SUCCESS &&
           ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_CALLER_HANDLE, &said->caller) == ABT_SUCCESS &&
           ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE, &said->reason) == ABT_SUCCESS &&
           ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE, &said->object) == ABT_SUCCESS;
}

static inline bool watch_agrees(char rule, bool there)
{
    return rule == ' ' || (rule == '+') == there;
}

/* The pool, if the event names it: units of main schedulers are in none. */
static inline bool watch_agrees_pool(const struct watch_rule *rule, struct watched *w, bool there)
{
    if (rule->pool == '+' && !w->pool)
        w->pool = there ? '+' : '-';
    return watch_agrees(rule->pool == '+' ? w->pool : rule->pool, there);
}

/* Who waits for any of several eventuals names none. */
static inline bool watch_agrees_sync(const struct watch_rule *rule, const struct watch_said *said)
{
    bool no_object = said->reason == ABT_SYNC_EVENT_TYPE_UNKNOWN || said->reason == ABT_SYNC_EVENT_TYPE_USER ||
                     said->reason == ABT_SYNC_EVENT_TYPE_OTHER;
    return watch_agrees(rule->sync, said->reason != ABT_SYNC_EVENT_TYPE_UNKNOWN) &&
           (no_object == (said->object == NULL) || said->reason == ABT_SYNC_EVENT_TYPE_EVENTUAL) &&
           said->reason != ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN && said->reason != ABT_SYNC_EVENT_TYPE_RWLOCK;
}

static inline const char *watch_misled(const struct watch_rule *rule, struct watched *w, ABT_xstream xstream,
                                       const struct watch_said *said)
{
    bool has_stream = xstream != ABT_XSTREAM_NULL;

    if (!watch_agrees(rule->xstream, has_stream))
        return "a wrong stream";
    if (rule->event == ABT_TOOL_EVENT_THREAD_CANCEL && watch_all && w->has_run != has_stream)
        return "a wrong stream";
    if (!watch_agrees_pool(rule, w, said->pool != ABT_POOL_NULL))
        return "a wrong pool";
    if (!watch_agrees(rule->caller, said->caller != NULL) ||
        (said->caller_type == ABT_EXEC_ENTITY_TYPE_THREAD) != (said->caller != NULL))
        return "a wrong caller";
    if (!watch_agrees_sync(rule, said))
        return "a wrong object";
    return !rule->where && said->depth != 0 ? "a depth" : NULL;
}

/* --- Streams --- */

static inline struct watched_stream *watch_stream_find(struct watch_streams *streams, ABT_xstream xstream)
{
    struct watched_stream *s = streams->first;

    while (s && s->xstream != xstream)
        s = s->next;
    if (!s) {
        s = calloc(1, sizeof(*s));
        if (!s)
            bail_out("no memory");
        s->xstream = xstream;
        s->next = streams->first;
        streams->first = s;
    }
    return s;
}

/* What is wrong with its running here now, or with its having run. */
static inline const char *watch_on_stream(struct watched_stream *s, enum watch_state to, ABT_thread unit,
                                          const struct watch_said *said)
{
    int depth = said->depth;

    if (to != RUNS) {
        if (s->running[depth] && s->running[depth] != unit && s->running[depth] != WATCH_UNKNOWN)
            return "another unit runs";
        s->running[depth] = NULL;
        s->left = unit;
        return NULL;
    }
    if (s->running[depth])
        return "another unit runs still";
    if (depth > 0 && !s->running[depth - 1])
        return "no scheduler runs";
    s->running[depth] = unit;
    if (!said->caller || said->caller == s->left)
        return NULL;
    if (depth > 0 && s->running[depth - 1] == WATCH_UNKNOWN)
        s->running[depth - 1] = said->caller;
    return depth > 0 && said->caller == s->running[depth - 1] ? NULL : "its caller has not run before";
}

static inline const char *watch_stream(ABT_xstream xstream, enum watch_state to, ABT_thread unit,
                                       const struct watch_said *said)
{
    struct watch_streams *streams = &watch_streams[((uintptr_t)xstream >> 6) % WATCH_STREAMS];

    if (said->depth < 0 || said->depth >= WATCH_DEPTHS)
        return "its depth";
    pthread_mutex_lock(&streams->lock);
    const char *wrong = watch_on_stream(watch_stream_find(streams, xstream), to, unit, said);
    pthread_mutex_unlock(&streams->lock);
    return wrong;
}

/* --- Units --- */

static inline struct watch_bucket *watch_bucket_of(ABT_thread unit)
{
    uintptr_t line = (uintptr_t)unit >> 6;

    return &watch_buckets[(line ^ line >> 12) % WATCH_BUCKETS];
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
        w->has_run = first_from == RUNS;
        w->next = bucket->first;
        bucket->first = w;
    }
    return w;
}

static inline void watch_story(struct watched *w, char letter)
{
    size_t length = strlen(w->story);

    if (length == sizeof(w->story) - 1)
        memmove(w->story, w->story + 1, length--);
    w->story[length] = letter;
}

/* What must have been before. */
static inline const char *watch_past(const struct watch_rule *rule, struct watched *w)
{
    ABT_bool is_unnamed = ABT_FALSE;

    switch (rule->event) {
    case ABT_TOOL_EVENT_THREAD_CREATE:
        w->has_run = w->is_joined = false;
        w->pool = 0;
        w->story[0] = '\0';
        if (ABT_thread_is_unnamed(w->unit, &is_unnamed) != ABT_SUCCESS)
            return "no unit";
        w->is_unnamed = is_unnamed;
        return NULL;
    case ABT_TOOL_EVENT_THREAD_REVIVE: w->is_joined = false; return NULL;
    case ABT_TOOL_EVENT_THREAD_JOIN: w->is_joined = true; return w->is_unnamed ? "it has no name" : NULL;
    case ABT_TOOL_EVENT_THREAD_FREE:
        return watch_all && !w->is_joined && !w->is_unnamed ? "it has not been joined" : NULL;
    default: return NULL;
    }
}

/* What is wrong with it, or NULL. All is noted in any case, so that a fault is told once. */
static inline const char *watch_step(const struct watch_rule *rule, struct watched *w, ABT_xstream xstream,
                                     const struct watch_said *said)
{
    bool may_come = w->state & rule->from, was_here = xstream == w->xstream && said->depth == w->depth;
    const char *past = watch_past(rule, w), *misled = watch_misled(rule, w, xstream, said);
    const char *elsewhere = rule->where && watch_all ? watch_stream(xstream, rule->to, w->unit, said) : NULL;

    if (rule->where && rule->to != RUNS && w->xstream && !was_here)
        elsewhere = "it runs elsewhere";
    w->has_run |= rule->to == RUNS;
    w->state = rule->to;
    w->xstream = rule->to == RUNS ? xstream : NULL;
    w->depth = said->depth;
    watch_story(w, rule->letter);
    return !may_come ? "it cannot come now" : past ? past : misled ? misled : elsewhere;
}

/* The state of a unit that has not been seen, before its first event. */
static inline enum watch_state watch_first(const struct watch_rule *rule)
{
    if (rule->from & GONE)
        return GONE;
    return watch_all ? RUNS : (enum watch_state)rule->from;
}

static void watch_event(ABT_thread unit, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    const struct watch_rule *rule = watch_rule_of(event);
    struct watch_bucket *bucket = watch_bucket_of(unit);
    struct watch_said said;

    if (!watch_asks(context, event, &said))
        bail_out("it cannot be asked");
    pthread_mutex_lock(&bucket->lock);
    if (arg != atomic_load(&watch_arg)) {
        pthread_mutex_unlock(&bucket->lock);
        return;
    }
    struct watched *w = watch_find(bucket, unit, watch_first(rule));
    const char *wrong = watch_step(rule, w, xstream, &said);
    if (wrong)
        watch_wrong("unit %p, events %s, the last at depth %d: %s", (void *)unit, w->story, said.depth, wrong);
    pthread_mutex_unlock(&bucket->lock);
    atomic_fetch_add_explicit(&watch_events, 1, memory_order_relaxed);
}

/*
 * Both run at depths 0 and 1: the main scheduler, unknown yet, and the primary ULT, which calls this. `alone`: there
 * are no other streams yet, of which nothing is known.
 */
static inline void watch_begin(ABT_xstream xstream, ABT_thread primary, bool alone)
{
    struct watch_streams *streams = &watch_streams[((uintptr_t)xstream >> 6) % WATCH_STREAMS];
    struct watch_bucket *bucket = watch_bucket_of(primary);

    watch_all = alone;
    pthread_mutex_lock(&bucket->lock);
    struct watched *w = watch_find(bucket, primary, RUNS);
    w->is_unnamed = true;
    w->xstream = xstream;
    w->depth = 1;
    watch_story(w, '(');
    pthread_mutex_unlock(&bucket->lock);
    pthread_mutex_lock(&streams->lock);
    struct watched_stream *s = watch_stream_find(streams, xstream);
    s->running[0] = WATCH_UNKNOWN;
    s->running[1] = primary;
    pthread_mutex_unlock(&streams->lock);
}

static inline void watch_forget_streams(void)
{
    for (int i = 0; i < WATCH_STREAMS; i++) {
        struct watch_streams *streams = &watch_streams[i];
        pthread_mutex_lock(&streams->lock);
        while (streams->first) {
            struct watched_stream *next = streams->first->next;
            free(streams->first);
            streams->first = next;
        }
        pthread_mutex_unlock(&streams->lock);
    }
}

/* Units that have not gone; afterwards none is known any more. */
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
    watch_forget_streams();
    return left;
}

#endif
