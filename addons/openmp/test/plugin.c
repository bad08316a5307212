/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without OpenMP opens the library while it runs, as interpreters do for their modules, and closes it again.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native_threads.h"
#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

enum { MEMBERS = 3, OPENINGS = 5 };

static char path[4096];

/*
 * The calls of the system that make a fence of all threads possible. Each takes up to some ten milliseconds in a
 * process of several threads.
 */
static _Atomic(int) own_calls;
static _Thread_local int is_caller; /* whom they would keep */

long syscall(long number, ...)
{
    static _Atomic(void *) address;
    long (*real)(long, ...);
    long args[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        args[i] = va_arg(rest, long);
    va_end(rest);
    void *found = address;
    if (!found)
        address = found = dlsym(RTLD_NEXT, "syscall");
    *(void **)&real = found;
#ifdef SYS_membarrier
    enum { REGISTER_PRIVATE_EXPEDITED = 16 };
    own_calls += number == SYS_membarrier && args[0] == REGISTER_PRIVATE_EXPEDITED && is_caller;
#endif
    return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static void *stay(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

static void count_member(void *arg)
{
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
}

/* Opens the library, runs a region by what it finds there, and closes it. Gives how many members ran. */
static int run_region(void)
{
    int members = 0;
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return -1;
    void (*parallel)(void (*)(void *), void *, unsigned, unsigned) =
        (void (*)(void (*)(void *), void *, unsigned, unsigned))dlsym(library, "GOMP_parallel");
    if (parallel)
        parallel(count_member, &members, MEMBERS, 0);
    dlclose(library);
    return members;
}

static void *thread_main(void *arg)
{
    *(int *)arg = run_region();
    return NULL;
}

int main(int argc, char **argv)
{
    watchdog_begin(0);
    snprintf(path, sizeof(path), "%s/../../../.libs/abtomp/libgomp.so.1", dirname(argv[0]));
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    pthread_mutex_lock(&lock);
    pthread_create(&other, NULL, stay, &lock);
    is_caller = 1;
    int before = count_native_threads();
    void *library = dlopen(path, RTLD_NOW);
    ok(library != NULL, "the library is opened");
    is_int(count_native_threads(), before, "which makes no thread");
    int wrong = 0;
    for (int i = 0; i < OPENINGS; i++)
        wrong += run_region() != MEMBERS;
    is_int(wrong, 0, "a region runs each time that the library is opened");
    is_int(own_calls, 0, "none of them waits for a fence of all threads to be possible");
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
    pthread_t thread;
    int members = 0;
    pthread_create(&thread, NULL, thread_main, &members);
    pthread_join(thread, NULL);
    is_int(members, MEMBERS, "another thread opens it, runs one and ends");
    if (library)
        dlclose(library);
    is_int(run_region(), MEMBERS, "the threads of the first region have stayed");
    return done_testing();
}
