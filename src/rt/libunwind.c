/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/libunwind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct abti_libunwind unw;
static bool unw_is_there;

/* Copies the address of a function to a pointer of its type, which a cast may not do. */
static bool find_unw(void *library, const char *name, void *pointer)
{
    void *function = dlsym(library, name);
    memcpy(pointer, &function, sizeof(function));
    return function != NULL;
}

/*
 * The first cursor makes libunwind prepare itself. It does so under a lock, but a thread that finds it done later looks
 * at a word only, of which TSan does not know: all that call it come behind this one.
 */
static void prepare_unw(void)
{
    ucontext_t context;
    struct abti_unw_cursor cursor;
    abti_ucontext_at((uintptr_t)prepare_unw, 0, &context);
    (void)!unw.init_local2(&cursor, &context, ABTI_UNW_INIT_SIGNAL_FRAME);
}

/* It stays until the process ends. RTLD_LOCAL: it has functions of the same names as the C++ runtime. */
static void load_unw(void)
{
    void *library = *ABTI_UNW_PREFIX ? dlopen(ABTI_LIBUNWIND_FILE, RTLD_LAZY | RTLD_LOCAL) : NULL;
    unw_is_there = library && find_unw(library, ABTI_UNW_PREFIX "init_local2", &unw.init_local2) &&
                   find_unw(library, ABTI_UNW_PREFIX "step", &unw.step) &&
                   find_unw(library, ABTI_UNW_PREFIX "get_reg", &unw.get_reg) &&
                   find_unw(library, ABTI_UNW_PREFIX "is_signal_frame", &unw.is_signal_frame) &&
                   find_unw(library, ABTI_UNW_PREFIX "get_proc_info", &unw.get_proc_info) &&
                   find_unw(library, ABTI_UNW_PREFIX "get_proc_name", &unw.get_proc_name);
    if (unw_is_there)
        prepare_unw();
}

const struct abti_libunwind *abti_libunwind(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_unw);
    return unw_is_there ? &unw : NULL;
}
