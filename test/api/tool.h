/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the tool interface share: a callback that notes every event with all that can be asked about it. */
#ifndef TEST_API_TOOL_H
#define TEST_API_TOOL_H

#include "common.h"

struct event {
    uint64_t kind; /* 0: there is none */
    ABT_thread unit;
    ABT_xstream xstream;
    ABT_pool pool;
    int depth;
    ABT_exec_entity_type caller_type;
    ABT_thread caller;
    ABT_sync_event_type reason;
    void *object;
    void *arg;
};

enum { MAX_EVENTS = 1 << 16 };

static struct event events[MAX_EVENTS]; /* log_lock */
static int num_events;                  /* log_lock */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void query(ABT_tool_context context, uint64_t kind, ABT_tool_query_kind what, void *val)
{
    must(ABT_tool_query_thread(context, kind, what, val));
}

static void note_event(ABT_thread unit, ABT_xstream xstream, uint64_t kind, ABT_tool_context context, void *arg)
{
    struct event e = {.kind = kind, .unit = unit, .xstream = xstream, .arg = arg};

    query(context, kind, ABT_TOOL_QUERY_KIND_POOL, &e.pool);
    query(context, kind, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &e.depth);
    query(context, kind, ABT_TOOL_QUERY_KIND_CALLER_TYPE, &e.caller_type);
    query(context, kind, ABT_TOOL_QUERY_KIND_CALLER_HANDLE, &e.caller);
    query(context, kind, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE, &e.reason);
    query(context, kind, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE, &e.object);
    pthread_mutex_lock(&log_lock);
    if (num_events == MAX_EVENTS)
        bail_out("too many events");
    events[num_events++] = e;
    pthread_mutex_unlock(&log_lock);
}

/* Notes the events of the mask from now on, and forgets what was noted before. */
static inline void log_only(uint64_t mask)
{
    must(ABT_tool_register_thread_callback(NULL, 0, NULL));
    pthread_mutex_lock(&log_lock);
    num_events = 0;
    pthread_mutex_unlock(&log_lock);
    must(ABT_tool_register_thread_callback(note_event, mask, events));
}

static inline void log_all(void)
{
    log_only(ABT_TOOL_EVENT_THREAD_ALL);
}

static inline void log_stop(void)
{
    must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_ALL, NULL));
}

static inline int log_length(void)
{
    pthread_mutex_lock(&log_lock);
    int length = num_events;
    pthread_mutex_unlock(&log_lock);
    return length;
}

/* One letter for each kind: Create, Join, Free, reVive, Run, fiNish, X cancel, Yield, Suspend, resume W. */
static const struct {
    uint64_t kind;
    char letter;
} letters[] = {
    {ABT_TOOL_EVENT_THREAD_CREATE, 'C'}, {ABT_TOOL_EVENT_THREAD_JOIN, 'J'},  {ABT_TOOL_EVENT_THREAD_FREE, 'F'},
    {ABT_TOOL_EVENT_THREAD_REVIVE, 'V'}, {ABT_TOOL_EVENT_THREAD_RUN, 'R'},   {ABT_TOOL_EVENT_THREAD_FINISH, 'N'},
    {ABT_TOOL_EVENT_THREAD_CANCEL, 'X'}, {ABT_TOOL_EVENT_THREAD_YIELD, 'Y'}, {ABT_TOOL_EVENT_THREAD_SUSPEND, 'S'},
    {ABT_TOOL_EVENT_THREAD_RESUME, 'W'},
};

enum { NUM_KINDS = sizeof(letters) / sizeof(letters[0]) };

static inline char letter_of(uint64_t kind)
{
    for (int i = 0; i < NUM_KINDS; i++) {
        if (letters[i].kind == kind)
            return letters[i].letter;
    }
    return '?';
}

/* The events of one unit in their order, by their letters. */
static inline const char *story_of(ABT_thread unit)
{
    static char story[256];
    int length = 0;

    pthread_mutex_lock(&log_lock);
    for (int i = 0; i < num_events && length < 255; i++) {
        if (events[i].unit == unit)
            story[length++] = letter_of(events[i].kind);
    }
    pthread_mutex_unlock(&log_lock);
    story[length] = '\0';
    return story;
}

#define is_story(unit, expected, ...) is_str(story_of(unit), (expected), __VA_ARGS__)

/* The nth event, from 0, of a unit and a kind. */
static inline struct event nth(ABT_thread unit, char letter, int n)
{
    struct event found = {.kind = 0};

    pthread_mutex_lock(&log_lock);
    for (int i = 0; i < num_events && !found.kind; i++) {
        if (events[i].unit == unit && letter_of(events[i].kind) == letter && n-- == 0)
            found = events[i];
    }
    pthread_mutex_unlock(&log_lock);
    return found;
}

/* The one unit that was created on that stream: its main scheduler's. */
static inline ABT_thread created_on(ABT_xstream xstream)
{
    ABT_thread unit = ABT_THREAD_NULL;

    pthread_mutex_lock(&log_lock);
    for (int i = 0; i < num_events; i++) {
        if (events[i].kind == ABT_TOOL_EVENT_THREAD_CREATE && events[i].xstream == xstream)
            unit = events[i].unit;
    }
    pthread_mutex_unlock(&log_lock);
    return unit;
}

/* What an event is to say: what is not given is its neutral value. No caller: an external one. */
#define is_event(unit, letter, n, ...)                                                                                 \
    check_event(nth((unit), (letter), (n)), (letter), (struct event){__VA_ARGS__}, __FILE__, __LINE__)

static inline void check_event(struct event got, char letter, struct event want, const char *file, int line)
{
    bool passed = got.kind != 0;

    if (!want.xstream)
        want.xstream = ABT_XSTREAM_NULL;
    if (!want.pool)
        want.pool = ABT_POOL_NULL;
    want.caller_type = want.caller ? ABT_EXEC_ENTITY_TYPE_THREAD : ABT_EXEC_ENTITY_TYPE_EXT;
    passed = passed && got.xstream == want.xstream && got.pool == want.pool && got.depth == want.depth &&
             got.caller_type == want.caller_type && got.caller == want.caller && got.reason == want.reason &&
             got.object == want.object && got.arg == events;
    tap_ok(passed, file, line, "event %c", letter);
    if (passed)
        return;
    diag("  got      xstream %p pool %p depth %d caller %d %p sync %d %p (kind %d)", (void *)got.xstream,
         (void *)got.pool, got.depth, (int)got.caller_type, (void *)got.caller, (int)got.reason, got.object,
         (int)got.kind);
    diag("  expected xstream %p pool %p depth %d caller %d %p sync %d %p", (void *)want.xstream, (void *)want.pool,
         want.depth, (int)want.caller_type, (void *)want.caller, (int)want.reason, want.object);
}

/* --- The primary stream --- */

static ABT_xstream primary_es;
static ABT_thread primary_ult, main_ult; /* the program's, and its main scheduler's */

static inline void tell_self(ABT_sched sched)
{
    main_ult = self();
    run_until_stop(sched);
}

/* ABT_init; a scheduler of ours finds out which unit the main scheduler is, and makes way for a default one. */
static inline void tool_init(void)
{
    ABT_sched_def def = {.run = tell_self};
    ABT_sched sched;
    ABT_pool pool;

    must(ABT_init(0, NULL));
    primary_es = own_xstream();
    primary_ult = self();
    pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_set_main_sched(primary_es, sched));
    must(ABT_xstream_set_main_sched(primary_es, ABT_SCHED_NULL));
    must(ABT_sched_free(&sched));
}

static inline bool tool_is_built(void)
{
    bool built;

    want_tool();
    must(ABT_init(0, NULL));
    built = has_tool();
    must(ABT_finalize());
    return built;
}

#endif
