/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program in C that loads a plugin in C++ when units run already: the exceptions in there belong to the units all the
 * same. Each case in a process of its own, since the C++ runtime comes only once.
 */
#include <abt.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"
#include "tap.h"
#include "watchdog.h"

enum { UNITS = 500, MANY_YIELDS = 2000 };

static const char plugin[] = "test/cxx/.libs/late.so";

static int (*late_catches)(int value, int (*leave)(void));
static _Atomic(int) wrong;

static void load(void)
{
    void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    if (handle)
        *(void **)&late_catches = dlsym(handle, "late_catches");
    if (!late_catches) {
        fprintf(stderr, "# %s\n", dlerror());
        _exit(2);
    }
}

/* Any library in C that a program does not have from the start. */
static void load_some_other(void)
{
    if (!dlopen("libresolv.so.2", RTLD_NOW) && !dlopen("libanl.so.1", RTLD_NOW))
        fprintf(stderr, "# there is no other library\n");
}

static void yields(void *unused)
{
    for (int i = 0; i < MANY_YIELDS; i++)
        ABT_thread_yield();
}

static void catches(void *number)
{
    wrong += late_catches((int)(intptr_t)number, ABT_thread_yield);
}

static void run_units(ABT_pool pool, void (*function)(void *), int num)
{
    static ABT_thread threads[UNITS];
    for (int i = 0; i < num; i++)
        must(ABT_thread_create(pool, function, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &threads[i]));
    for (int i = 0; i < num; i++)
        must(ABT_thread_free(&threads[i]));
}

/* The units run on streams that the primary one is not among: main stays where it is. */
static void in_streams(int streams)
{
    ABT_xstream others[4];
    ABT_pool pool;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    for (int i = 0; i < streams; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &others[i]));
    run_units(pool, yields, 8);
    load();
    run_units(pool, catches, UNITS);
    for (int i = 0; i < streams; i++)
        must(ABT_xstream_free(&others[i]));
    must(ABT_pool_free(&pool));
}

static ABT_pool own_pool(void)
{
    ABT_pool pool = main_pool();
    return pool;
}

static void at_once(void)
{
    load();
    run_units(own_pool(), catches, UNITS);
}

static void on_four(void)
{
    in_streams(4);
}

/* After that it is noticed at the next event check. */
static void after_another(void)
{
    load_some_other();
    run_units(own_pool(), yields, 4);
    load();
    run_units(own_pool(), yields, 4);
    run_units(own_pool(), catches, UNITS);
}

static void before_init(void)
{
    run_units(own_pool(), catches, UNITS);
}

static void test(void (*act)(void), const char *what)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (act == before_init)
            load();
        must(ABT_init(0, NULL));
        act();
        must(ABT_finalize());
        _exit(wrong != 0);
    }
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s (status %#x)", what, (unsigned)status);
}

int main(void)
{
    watchdog_begin(0);
    test(at_once, "a plugin that is loaded, and throws at once");
    test(on_four, "the same on four streams");
    test(after_another, "a plugin that is loaded after one in C");
    test(before_init, "a plugin that is loaded before ABT_init");
    return done_testing();
}
