/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of the program loads and unloads a library while streams begin. A stream that begins reads the loader's list
 * of libraries. TSan reported that as races, since it does not know the loader's locks.
 */
#include <dlfcn.h>

#include "api/common.h"
#include "watchdog.h"

enum { STREAMS = 60 };

static const char *library;
static atomic_bool is_done;
static atomic_int loads;

/* A small library that the program has not loaded. */
static const char *small_library(void)
{
    static const char *const names[] = {"libthread_db.so.1", "libanl.so.1", "libBrokenLocale.so.1"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *handle = dlopen(names[i], RTLD_NOW);
        if (handle && dlclose(handle) == 0)
            return names[i];
    }
    return NULL;
}

static void *load(void *arg)
{
    while (!atomic_load(&is_done)) {
        void *handle = dlopen(library, RTLD_NOW);
        if (!handle || dlclose(handle) != 0)
            bail_out("%s: %s", library, dlerror());
        atomic_fetch_add(&loads, 1);
    }
    return arg;
}

int main(void)
{
    pthread_t loader;
    atomic_int ran = 0;

    watchdog_begin(0);
    library = small_library();
    if (!library)
        skip_all("there is no library to load");
    must(ABT_init(0, NULL));
    must(pthread_create(&loader, NULL, load, NULL));
    wait_for(atomic_load(&loads) > 0);
    for (int i = 0; i < STREAMS; i++) {
        int before = atomic_load(&loads);
        ABT_xstream xstream = new_xstream();
        ABT_thread thread;
        must(ABT_thread_create(pool_of(xstream), count_up, &ran, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        must(ABT_xstream_free(&xstream));
        wait_for(atomic_load(&loads) > before);
    }
    atomic_store(&is_done, true);
    must(pthread_join(loader, NULL));
    must(ABT_finalize());
    is_int(ran, STREAMS, "streams begin while libraries come and go");
    return done_testing();
}
