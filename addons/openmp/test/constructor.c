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
#include <pthread.h>
#include <stdio.h>

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

static int num_variables; /* members that have found the variable of their thread as it was at first */

/*
 * Of a root that ends, so that its threads do: LeakSanitizer of gcc 12 faults where one is left at the exit that has
 * variables of an opened library, also in a program that has nothing but pthreads.
 */
static void *count_variables(void *library)
{
    void (*count)(void *) = (void (*)(void *))dlsym(library, "library_count");
    int outer = omp_get_num_procs() > 2 ? omp_get_num_procs() : 2;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer)
#pragma omp single
    GOMP_parallel(count, &num_variables, MEMBERS, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[4096];
    watchdog_begin(0);
    is_int(own_members, MEMBERS, "a constructor of the program runs a region");
    snprintf(path, sizeof(path), "%s/constructor_library.so", dirname(argv[0]));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "# %s\n", dlerror());
    is_int(number_of(library, "library_members"), MEMBERS, "so does one of a library that is opened");
    is_int(number_of(library, "library_units"), UNITS, "which runs units on streams, too");
    pthread_t root;
    if (library && pthread_create(&root, NULL, count_variables, library) == 0)
        pthread_join(root, NULL);
    is_int(num_variables, MEMBERS, "each member has a variable of the library of its own");
    return done_testing();
}
