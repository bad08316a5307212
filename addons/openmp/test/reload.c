/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose function may run on one thread for all members is closed, and another one is loaded at its place,
 * whose function may not, since it has a variable of each thread.
 */
#include <dlfcn.h>
#include <libgen.h>

#include "modes.h"
#include "reload.h"

extern void GOMP_parallel(void (*fn)(void *), void *data, unsigned num, unsigned flags);

static char directory[4000];

/* Runs its function in a region in a region. Returns where the function was; NULL: the library could not be opened. */
static void *run_library(const char *name, struct reload_calls *calls)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found = NULL;
    void (*count)(void *) = library ? (void (*)(void *))(found = dlsym(library, "reload_count")) : NULL;
    *calls = (struct reload_calls){.number = omp_get_thread_num};
    if (count) {
#pragma omp parallel num_threads(num_outer)
#pragma omp single
        GOMP_parallel(count, calls, RELOAD_MEMBERS, 0);
    }
    if (library)
        dlclose(library);
    return found;
}

static void reload(void)
{
    struct reload_calls calls;
    void *before = run_library("reload_plain.so", &calls);
    int most = 0, wrong = 0;
    for (int i = 0; i < RELOAD_MEMBERS; i++)
        most = calls.calls[i] > most ? calls.calls[i] : most;
    check(before != NULL && most == RELOAD_MEMBERS, "all members call the function of the first library");
    void *now = run_library("reload_local.so", &calls);
    for (int i = 0; i < RELOAD_MEMBERS; i++)
        wrong += calls.calls[i] != 1;
    check(now != NULL && wrong == 0, "each member has a variable of its own in the second library");
    if (now != before)
        fprintf(stderr, "# the functions were at different places\n");
}

int main(int argc, char **argv)
{
    (void)argc;
    snprintf(directory, sizeof(directory), "%s", dirname(argv[0]));
    run_modes(reload);
    return done_testing();
}
