/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded before a program (LD_PRELOAD), this follows the events of all its units, from each ABT_init on, by a tool of
 * its own: tool_watch.h says what must hold. What is wrong is added to the file in ABT_TEST_EVENTS, and so is a line
 * with the number of events at each end. A program that registers a tool itself takes the place of this one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define watch_wrong tell

#include "must.h"
#include "tool_watch.h"

static void tell(const char *fmt, ...)
{
    const char *name = getenv("ABT_TEST_EVENTS");
    FILE *file = name ? fopen(name, "a") : NULL;
    char text[512];
    va_list args;

    va_start(args, fmt);
    tap_format(text, fmt, args);
    va_end(args);
    fprintf(file ? file : stderr, "%s\n", text);
    if (file)
        fclose(file);
}

static void *next(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (!symbol)
        bail_out("there is no %s", name);
    return symbol;
}

static atomic_int num_entered; /* native threads that are in a stream */

static void begin(void)
{
    static bool is_init;
    ABT_xstream xstream;
    ABT_thread self;

    if (!is_init)
        watch_init();
    is_init = true;
    watch_end();
    if (ABT_self_get_xstream(&xstream) != ABT_SUCCESS || ABT_self_get_thread(&self) != ABT_SUCCESS)
        bail_out("nobody calls");
    watch_begin(xstream, self, atomic_load(&num_entered) == 0);
    int code = ABT_tool_register_thread_callback(watch_event, ABT_TOOL_EVENT_THREAD_ALL, NULL);
    if (code != ABT_SUCCESS && code != ABT_ERR_FEATURE_NA) /* the program may have switched it off */
        bail_out("the tool is not registered: %d", code);
}

ABT_API_PUBLIC int ABT_init(int argc, char **argv)
{
    int (*real)(int, char **) = (int (*)(int, char **))next("ABT_init");
    bool first = ABT_initialized() != ABT_SUCCESS;
    int code = real(argc, argv);

    if (code == ABT_SUCCESS && first)
        begin();
    return code;
}

ABT_API_PUBLIC int ABTX_xstream_enter(ABT_sched sched, ABT_xstream *xstream)
{
    int (*real)(ABT_sched, ABT_xstream *) = (int (*)(ABT_sched, ABT_xstream *))next("ABTX_xstream_enter");

    atomic_fetch_add(&num_entered, 1); /* before it is there */
    int code = real(sched, xstream);
    if (code != ABT_SUCCESS)
        atomic_fetch_sub(&num_entered, 1);
    return code;
}

ABT_API_PUBLIC int ABTX_xstream_leave(ABT_xstream *xstream)
{
    int (*real)(ABT_xstream *) = (int (*)(ABT_xstream *))next("ABTX_xstream_leave");
    int code = real(xstream);

    if (code == ABT_SUCCESS)
        atomic_fetch_sub(&num_entered, 1);
    return code;
}

__attribute__((constructor)) static void begin_program(void)
{
    want_tool();
}

__attribute__((destructor)) static void end(void)
{
    if (watch_events > 0)
        tell("%ld events", (long)watch_events);
}
