/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructs that clang has compiled, in a process with some of gcc: both have the same teams, and the same locks. */
#include <dlfcn.h>
#include <libgen.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "kmp.h"
#include "tap.h"
#include "watchdog.h"

static const int sizes[] = {1, 2, 3, 7};

static void run(const struct kmp_check *checks)
{
    for (const struct kmp_check *each = checks; each->name; each++)
        for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            is_int(each->run(sizes[i]), 0, "%s by %d members", each->name, sizes[i]);
}

/* The library's constructs are those of members of this region, and its regions are inside. */
static void run_inside(int (*of_team)(int num))
{
    int wrong = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
        wrong += omp_get_num_threads() != 3;
        wrong += of_team(omp_get_num_threads());
    }
    is_int(wrong, 0, "constructs of clang in a region of gcc");
}

int main(int argc, char **argv)
{
    (void)argc;
    char path[4096];
    snprintf(path, sizeof(path), "%s/kmp_library.so", dirname(argv[0]));
    if (access(path, F_OK) != 0)
        skip_all("clang is not installed, or it is not for this machine");
    watchdog_begin(0);
    setenv("OMP_CANCELLATION", "true", 1);
    omp_set_dynamic(0);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "# %s\n", dlerror());
    ok(library != NULL, "the library of clang has all that it asks for");
    if (library) {
        run(dlsym(library, "kmp_checks"));
        run(dlsym(library, "kmp_task_checks"));
        run_inside((int (*)(int))dlsym(library, "kmp_of_team"));
    }
    return done_testing();
}
