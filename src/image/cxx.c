/* SPDX-License-Identifier: BSD-3-Clause */
#include "image/cxx.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/atomic.h"
#include "base/compiler.h"
#include "image/module.h"

/* Where there is a runtime from the start. Also for static ones: the linker exports what a shared library refers to. */
#define RUNTIME_SYMBOL __attribute__((weak, visibility("default")))
extern struct abti_cxx_globals *__cxa_get_globals(void) RUNTIME_SYMBOL;
extern char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status) RUNTIME_SYMBOL;

typedef struct abti_cxx_globals *globals_function(void);
typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

/* Both NULL: no runtime is known. Otherwise it stays loaded. */
static _Atomic(globals_function *) get_globals;
static _Atomic(demangle_function *) demangle;

/*
 * In which library the runtime is, where it is a library, and whether that stays loaded. libstdc++ has symbols that are
 * unique in the process, with which the loader keeps it. The others are kept by dlopen, which waits for a thread that
 * is in it.
 */
static const struct runtime {
    const char *file;
    bool stays;
} runtimes[] = {{"libstdc++.so.6", true}, {"libc++abi.so.1", false}, {"libcxxrt.so.1", false}};

struct abti_cxx_globals *abti_cxx_globals(void)
{
    globals_function *get = abti_load_relaxed(&get_globals); /* relaxed: it is code, which does not change */
    return get ? get() : NULL;
}

static void use_runtime(globals_function *get, demangle_function *name)
{
    /* relaxed: as above; two threads that look at the same time find the same */
    abti_store_relaxed(&demangle, name);
    abti_store_relaxed(&get_globals, get);
}

static bool use_library(const struct runtime *runtime)
{
    globals_function *get = (globals_function *)(uintptr_t)abti_module_function(runtime->file, "__cxa_get_globals");
    if (!get || !(runtime->stays || dlopen(runtime->file, RTLD_LAZY | RTLD_NOLOAD)))
        return false;
    use_runtime(get, (demangle_function *)(uintptr_t)abti_module_function(runtime->file, "__cxa_demangle"));
    return true;
}

void abti_cxx_look(bool later)
{
    if (abti_load_relaxed(&get_globals)) /* relaxed: as in abti_cxx_globals */
        return;
    if (__cxa_get_globals)
        use_runtime(__cxa_get_globals, __cxa_demangle);
    if (__cxa_get_globals || !later)
        return;
    for (size_t i = 0; i < ABTI_ARRAY_LEN(runtimes); i++)
        if (use_library(&runtimes[i]))
            return;
}

char *abti_cxx_demangle(const char *name)
{
    int status = 0;
    demangle_function *function = abti_load_relaxed(&demangle); /* relaxed: as in abti_cxx_globals */
    return function ? function(name, NULL, NULL, &status) : NULL;
}
