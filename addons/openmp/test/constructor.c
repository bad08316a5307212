/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions in constructors: of the program, and of a library that is opened by dlopen, which holds the loader's lock
 * meanwhile. So has a constructor that makes streams. No thread that a constructor waits for may wait for that lock.
 *
 * Members of a region in a region run a function of the library, which has a variable of each thread: they have
 * threads.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <omp.h>
#include <stdio.h>

#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

enum { MEMBERS = 3, UNITS = 2 };

extern void GOMP_parallel(void (*fn)(void *), void *data, unsigned num, unsigned flags);

static int own_members;

__attribute__((constructor)) static void run_region(void)
{
#pragma omp parallel num_threads(MEMBERS) reduction(+ : own_members)
    own_members++;
}

static int number_of(void *library, const char *name)
{
    const int *number = library ? (const int *)dlsym(library, name) : NULL;
    return number ? *number : -1;
}

/* How many members have found the variable of their thread as it was at first. */
static int count_variables(void (*count)(void *))
{
    int num = 0, outer = omp_get_num_procs() > 2 ? omp_get_num_procs() : 2;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer)
#pragma omp single
    GOMP_parallel(count, &num, MEMBERS, 0);
    return num;
}

int main(int argc, char **argv)
{
    char path[4096];
    (void)argc;
    watchdog_begin(0);
    is_int(own_members, MEMBERS, "a constructor of the program runs a region");
    snprintf(path, sizeof(path), "%s/constructor_library.so", dirname(argv[0]));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "# %s\n", dlerror());
    is_int(number_of(library, "library_members"), MEMBERS, "so does one of a library that is opened");
    is_int(number_of(library, "library_units"), UNITS, "which runs units on streams, too");
    void (*count)(void *) = library ? (void (*)(void *))dlsym(library, "library_count") : NULL;
    if (!UNDER_ASAN) /* which ends by a fault of its own when it looks for leaks after this */
        is_int(count ? count_variables(count) : 0, MEMBERS, "each member has a variable of the library of its own");
    return done_testing();
}
