/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/cxx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include "base/atomic.h"
#include "base/compiler.h"
#include "os/module.h"

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

static void *do_nothing(void *arg)
{
    return arg;
}

/*
 * Returns when what other threads are loading can be called: it is there as a whole, relocated, and has its
 * thread-local storage. glibc makes no thread before that, since 2.35; the constructors, which may wait for the caller,
 * come later. False: there is no memory for a thread.
 */
static bool await_links(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int err = pthread_create(&thread, NULL, do_nothing, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err == 0 && pthread_join(thread, NULL) == 0;
}

static bool use_library(const struct runtime *runtime)
{
    globals_function *get = (globals_function *)(uintptr_t)abti_module_function(runtime->file, "__cxa_get_globals");
    if (!get || !await_links() || !(runtime->stays || dlopen(runtime->file, RTLD_LAZY | RTLD_NOLOAD)))
        return false;
    use_runtime(get, (demangle_function *)(uintptr_t)abti_module_function(runtime->file, "__cxa_demangle"));
    return true;
}

static bool use_any_library(void)
{
    for (size_t i = 0; i < ABTI_ARRAY_LEN(runtimes); i++)
        if (use_library(&runtimes[i]))
            return true;
    return false;
}

/*
 * A library that brings the runtime comes before it, so what is being loaded is waited for; once, as long as no more
 * come. relaxed: a thread that does not see the number waits, too
 */
static void look_among_libraries(void)
{
    static _Atomic(uint64_t) count_without; /* none of that number of libraries is a runtime */
    uint64_t count = abti_module_changes();
    if (use_any_library() || abti_load_relaxed(&count_without) == count)
        return;
    if (await_links() && !use_any_library())
        abti_store_relaxed(&count_without, count);
}

void abti_cxx_look(bool later)
{
    if (abti_load_relaxed(&get_globals)) /* relaxed: as in abti_cxx_globals */
        return;
    if (__cxa_get_globals)
        use_runtime(__cxa_get_globals, __cxa_demangle);
    else if (later)
        look_among_libraries();
}

char *abti_cxx_demangle(const char *name)
{
    int status = 0;
    demangle_function *function = abti_load_relaxed(&demangle); /* relaxed: as in abti_cxx_globals */
    return function ? function(name, NULL, NULL, &status) : NULL;
}
