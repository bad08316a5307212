/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a tool is found and started. The program or a library of it may be one, by a function ompt_start_tool; else the
 * libraries of OMP_TOOL_LIBRARIES are asked one after another.
 */
#include "ompt/tool.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OMP_VERSION = 201511, NUM_EVENTS = 38 };

/* Until abtomp_start has found out whether there is a tool, events take the slow path. */
enum { IS_UNKNOWN = 1, LOOKS = 2 };

_Atomic(uint32_t) abtomp_tools = IS_UNKNOWN;
_Thread_local struct abtomp_tool_thread abtomp_tool_thread;
_Thread_local struct abtomp_call abtomp_call;

static _Atomic(ompt_callback_t) callbacks[NUM_EVENTS]; /* relaxed, everywhere: the tool orders its own data */
static ompt_start_tool_result_t *_Atomic tool;         /* that has been started; NULL: it has ended, or there is none */

ompt_callback_t abtomp_tool_callback(int event)
{
    return atomic_load_explicit(&callbacks[event], memory_order_relaxed);
}

/* -- What a tool sets -- */

static bool is_raised(int event)
{
#define CASE(number, name, type, parameters) case number:
    switch (event) {
        OMPT_EVENTS(CASE)
        return true;
    default: return false;
    }
#undef CASE
}

static int set_callback(int event, ompt_callback_t function)
{
    if (event <= 0 || event >= NUM_EVENTS)
        return ompt_set_error;
    if (!is_raised(event)) /* of devices, which there are none of */
        return ompt_set_never;
    atomic_store_explicit(&callbacks[event], function, memory_order_relaxed);
    return ompt_set_always;
}

static int get_callback(int event, ompt_callback_t *function)
{
    if (event <= 0 || event >= NUM_EVENTS || !abtomp_tool_callback(event))
        return 0;
    *function = abtomp_tool_callback(event);
    return 1;
}

void abtomp_tool_finish(void)
{
    /* acq_rel: one of several threads ends the tool, and it sees what abtomp_tool_start has done */
    ompt_start_tool_result_t *ends = atomic_exchange_explicit(&tool, NULL, memory_order_acq_rel);
    if (!ends)
        return;
    ends->finalize(&ends->tool);
    for (int i = 0; i < NUM_EVENTS; i++)
        atomic_store_explicit(&callbacks[i], NULL, memory_order_relaxed);
}

static void (*finish)(void); /* what ends the tool. Constant after abtomp_tool_start */

static ompt_interface_fn_t look_up(const char *name)
{
    if (strcmp(name, "ompt_set_callback") == 0)
        return (ompt_interface_fn_t)set_callback;
    if (strcmp(name, "ompt_get_callback") == 0)
        return (ompt_interface_fn_t)get_callback;
    return strcmp(name, "ompt_finalize_tool") == 0 ? finish : abtomp_tool_inquiry(name);
}

/* -- Start -- */

static FILE *report; /* where OMP_TOOL_VERBOSE_INIT wants to read how a tool is found; NULL: nowhere */

static __attribute__((format(printf, 1, 2))) void tell_user(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (report)
        vfprintf(report, format, args);
    va_end(args);
}

static void open_report(void)
{
    const char *where = getenv("OMP_TOOL_VERBOSE_INIT");
    if (where && strcasecmp(where, "disabled") != 0)
        report = strcasecmp(where, "stdout") == 0   ? stdout
                 : strcasecmp(where, "stderr") == 0 ? stderr
                                                    : fopen(where, "w");
    if (report)
        setvbuf(report, NULL, report == stdout ? _IOLBF : _IONBF, 0);
}

static void close_report(void)
{
    if (report && report != stdout && report != stderr)
        (void)fclose(report);
    report = NULL;
}

/* The tool in a library, if it wants to look. */
static ompt_start_tool_result_t *ask_library(void *library)
{
    ompt_start_tool_result_t *(*start)(unsigned, const char *);
    void *found = dlsym(library, "ompt_start_tool");
    if (!found) {
        tell_user("no function ompt_start_tool\n");
        return NULL;
    }
    memcpy(&start, &found, sizeof(start));
    ompt_start_tool_result_t *result = start(OMP_VERSION, "libabtomp");
    tell_user(result ? "a tool\n" : "a tool that does not want to look\n");
    return result;
}

static ompt_start_tool_result_t *open_library(const char *name)
{
    tell_user("libabtomp: %s: ", name);
    void *library = dlopen(name, RTLD_LAZY);
    if (!library) {
        tell_user("not opened, %s\n", dlerror());
        return NULL;
    }
    ompt_start_tool_result_t *found = ask_library(library);
    if (!found)
        (void)dlclose(library);
    return found;
}

/* The first library of a list that has a tool which wants to look. */
static ompt_start_tool_result_t *ask_libraries(const char *list)
{
    ompt_start_tool_result_t *found = NULL;
    char *names = abtomp_must_have(strdup(list ? list : "")), *rest = NULL;
    for (char *name = strtok_r(names, ":", &rest); name && !found; name = strtok_r(NULL, ":", &rest))
        found = open_library(name);
    free(names);
    return found;
}

static ompt_start_tool_result_t *find_tool(void)
{
    tell_user("libabtomp: the program and its libraries: ");
    ompt_start_tool_result_t *found = ask_library(RTLD_DEFAULT);
    return found ? found : ask_libraries(getenv("OMP_TOOL_LIBRARIES"));
}

void abtomp_tool_start(bool is_allowed, void (*how_to_finish)(void))
{
    finish = how_to_finish;
    open_report();
    ompt_start_tool_result_t *found = is_allowed ? find_tool() : NULL;
    tell_user(found ? "libabtomp: the tool is started\n" : "libabtomp: there is no tool\n");
    close_report();
    bool looks = found && found->initialize(look_up, 0, &found->tool) != 0;
    /* release: pairs with the exchange in abtomp_tool_finish */
    atomic_store_explicit(&tool, looks ? found : NULL, memory_order_release);
    /* relaxed: threads that use OpenMP come here first, or are made later */
    atomic_store_explicit(&abtomp_tools, looks ? LOOKS : 0, memory_order_relaxed);
}
