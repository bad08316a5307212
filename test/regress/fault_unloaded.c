/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler of the user's passes faults on to the library's, which had been unloaded meanwhile. Not linked with the
 * library: that is loaded and unloaded.
 */
#include <dlfcn.h>
#include <signal.h>

#include "child.h"
#include "sanitizers.h"

enum { GOOD = 7 };

static const char library[] = ".libs/libabt.so";

static struct sigaction below;
static int *volatile nowhere = (int *)8;

static void chain(int sig, siginfo_t *info, void *context)
{
    below.sa_sigaction(sig, info, context);
}

static void exit_good(int sig)
{
    _exit(GOOD);
}

static int call(void *handle, const char *name)
{
    int (*init)(int, char **), (*finalize)(void);
    *(void **)&init = dlsym(handle, "ABT_init");
    *(void **)&finalize = dlsym(handle, "ABT_finalize");
    return *name == 'i' ? init(0, NULL) : finalize();
}

static int load_and_unload(void *arg)
{
    struct sigaction action = {.sa_sigaction = chain, .sa_flags = SA_SIGINFO};
    signal(SIGSEGV, exit_good);
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(library, RTLD_NOW);
        if (!handle || call(handle, "init"))
            _exit(1);
        if (i == 0)
            sigaction(SIGSEGV, &action, &below);
        if (call(handle, "finalize") || dlclose(handle))
            _exit(2);
    }
    *nowhere = 1;
    return 0;
}

int main(void)
{
    watchdog_begin(0);
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("sanitizers have handlers of their own");
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        skip_all("%s", dlerror());
    dlclose(handle);
    is_int(child_run(load_and_unload, NULL, NULL, 0), GOOD, "the handler that was there first is called");
    return done_testing();
}
