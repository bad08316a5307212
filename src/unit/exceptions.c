/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/exceptions.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>
#include "base/assert.h"
#include "os/loader.h"
#include "os/module.h"
#include "os/annotate.h"
#include "rt/rt.h"
#include "unit/unit.h"

static void *const no_library_yet;
static void *const always = &abti_rt;
static const unsigned none;

static void find_globals(abti_es *es)
{
    es->cxx.globals = abti_cxx_globals();
    if (es->cxx.globals)
        es->in_hand = (struct abti_in_hand){&es->cxx.globals->caught, &es->cxx.globals->uncaught};
    abti_switch_choose(es);
}

void abti_switch_choose(abti_es *es)
{
    bool observed = abti_load_relaxed(&es->observed); /* relaxed: its own thread stores it */
    bool is_slow = observed || es->hooks || abti_annotate_on || abti_rt.config.watch_waits;
    es->slow = is_slow ? (struct abti_in_hand){&always, &none} : es->in_hand;
}

/* As long as no C++ runtime is known. */
static void await_library(abti_es *es, void *const *next)
{
    es->in_hand = (struct abti_in_hand){next, &none};
}

static void look_for_runtime(abti_es *es, bool later)
{
    abti_cxx_look(later);
    find_globals(es);
    es->cxx.counts_libraries = es->in_hand.caught == &no_library_yet;
}

void abti_exceptions_move(abti_es *es)
{
    find_globals(es);
}

static bool is_forked; /* the next ES is that of the child of a fork */

void abti_exceptions_forget(void)
{
    is_forked = true;
}

/* The loader is not asked, whose lock a thread of the parent may have held: what it knew then is all that is known. */
static void enter_in_child(abti_es *es)
{
    is_forked = false;
    await_library(es, &no_library_yet);
    find_globals(es);
}

void abti_exceptions_enter(abti_es *es)
{
    if (is_forked) {
        enter_in_child(es);
        return;
    }
    void *const *next = abti_loader_next();
    await_library(es, next ? next : &no_library_yet);
    es->cxx.libraries = abti_module_changes();
    /* While the program has loaded nothing, all that there is can be found in the plain way. */
    look_for_runtime(es, !next);
}

void abti_exceptions_look(abti_es *es)
{
    uint64_t libraries = abti_module_changes();
    if (libraries == es->cxx.libraries)
        return;
    es->cxx.libraries = libraries;
    look_for_runtime(es, true);
}

void abti_exceptions_take(abti_es *es, struct abti_cxx_globals *saved)
{
    abti_assert(es == abti_es_self);
    *saved = (struct abti_cxx_globals){NULL, 0};
    if (!es->cxx.globals) {
        await_library(es, &no_library_yet); /* a library has come; from now on they are counted */
        look_for_runtime(es, true);
    }
    if (!es->cxx.globals)
        return;
    *saved = *es->cxx.globals;
    es->cxx.globals->caught = NULL;
    es->cxx.globals->uncaught = 0;
}

void abti_exceptions_give(const struct abti_cxx_globals *saved)
{
    abti_es *es = abti_es_self;
    if (!es->cxx.globals)
        look_for_runtime(es, true); /* it is known to the ES where they came from */
    abti_assert(es->cxx.globals);
    es->cxx.globals->caught = saved->caught;
    es->cxx.globals->uncaught = saved->uncaught;
}

/* --- An exception that nobody catches --- */

static const char *kind_that_throws(const abti_unit *unit)
{
    if (unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED))
        return "scheduler";
    return unit->flags & ABTI_UNIT_TASKLET ? "tasklet" : "ULT";
}

static void tell_exception(abti_unit *unit)
{
    Dl_info info;
    void *function = (void *)(uintptr_t)unit->func;
    fprintf(stderr, "libabt: an exception leaves the function of %s %" PRIu64 ": ", kind_that_throws(unit),
            abti_unit_id(unit));
    if (!function || !dladdr(function, &info)) {
        fprintf(stderr, "%p\n", function);
        return;
    }
    if (info.dli_sname && info.dli_saddr == function) {
        char *name = abti_cxx_demangle(info.dli_sname);
        fprintf(stderr, "%s ", name ? name : info.dli_sname);
        free(name);
    }
    const char *slash = info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    uintptr_t offset = (uintptr_t)function - (uintptr_t)info.dli_fbase;
    fprintf(stderr, "(%s+%#" PRIxPTR ")\n", slash ? slash + 1 : info.dli_fname, offset);
}

/*
 * The "personality" of frames that call units' functions: while it looks for a handler, the unwinder asks it whether
 * there is one. The answer that the search has failed makes the C++ runtime call std::terminate, on top of all frames,
 * for a debugger to see. A native thread that is cancelled passes.
 */
_Unwind_Reason_Code abti_exception_leaves(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                          struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code abti_exception_leaves(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                          struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    (void)version;
    (void)class;
    (void)exception;
    (void)context;
    if (!(actions & _UA_SEARCH_PHASE))
        return _URC_CONTINUE_UNWIND;
    abti_es *es = abti_es_self;
    if (es && es->cur)
        tell_exception(es->cur);
    return _URC_FATAL_PHASE1_ERROR;
}
