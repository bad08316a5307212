/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a tool learns of a native thread that enters a stream: its main scheduler's unit and its ULT are created and
 * run, and end and are freed when it leaves. Between, the ULT's waits are reported as those of any other.
 */
#include "tool_watch.h"

#include "common.h"

static struct {
    ABT_thread units[2]; /* the main scheduler's, and the ULT */
    int num;             /* of those that have been created */
    char story[128];     /* the letter of each event of theirs, and whose it is */
} seen;

/* Only the entered stream has something to report. */
static void note(ABT_thread unit, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    char letter = watch_rule_of(event)->letter;
    size_t length = strlen(seen.story);

    watch_event(unit, xstream, event, context, arg);
    if (letter == 'C' && seen.num < 2)
        seen.units[seen.num++] = unit;
    for (int i = 0; i < seen.num; i++) {
        if (unit == seen.units[i] && length + 3 < sizeof(seen.story)) {
            seen.story[length] = letter;
            seen.story[length + 1] = i == 0 ? 's' : 'u';
            seen.story[length + 2] = '\0';
        }
    }
}

static void do_little(ABT_eventual eventual)
{
}

/* It is set by a unit of another name than the two. */
static void set(void *arg)
{
    must(ABT_eventual_set((ABT_eventual)arg, NULL, 0));
}

static void wait_once(ABT_eventual eventual)
{
    ABT_thread thread = ult_in(own_pool(), set, (void *)eventual);
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_thread_free(&thread));
}

static void leave_a_unit(ABT_eventual eventual)
{
    must(ABT_thread_create(own_pool(), do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL));
}

static void *enter(void *arg)
{
    void (*const *live)(ABT_eventual) = arg;
    ABT_xstream xstream;
    ABT_eventual eventual;

    must(ABT_eventual_create(0, &eventual));
    must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    (*live)(eventual);
    must(ABTX_xstream_leave(&xstream));
    must(ABT_eventual_free(&eventual));
    return NULL;
}

static const struct {
    void (*live)(ABT_eventual);
    const char *story;
} cases[] = {
    {do_little, "CsCuRsRuNuNsJsFuFs"},
    {wait_once, "CsCuRsRuSuWuRuSuWuRuNuNsJsFuFs"},
    {leave_a_unit, "CsCuRsRuSuWuRuNuNsJsFuFs"},
};

int main(void)
{
    want_tool();
    must(ABT_init(0, NULL));
    if (!has_tool())
        skip_all("built without the tool interface");
    watch_init();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pthread_t thread;
        memset(&seen, 0, sizeof(seen));
        watch_all = true;
        must(ABT_tool_register_thread_callback(note, ABT_TOOL_EVENT_THREAD_ALL, NULL));
        must(pthread_create(&thread, NULL, enter, (void *)&cases[i].live));
        must(pthread_join(thread, NULL));
        must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
        is_str(seen.story, cases[i].story, "the events of a stream that is entered, case %zu", i);
        is_int(watch_end(), 0, "all that was made has gone");
    }
    must(ABT_finalize());
    return done_testing();
}
