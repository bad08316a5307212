/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <string.h>

#include "host.h"

/* Open MPI's function: sets whether polls that find nothing give up the processor, and returns what was set before. */
typedef bool set_yield(bool on);

static struct {
    bool is_known; /* whether the rest is */
    bool was_on;   /* where more processes than cores run, or the user wants it */
    set_yield *set;
} host_yield; /* touched by the thread that polls only */

void abtmpi_host_keep_processor(void)
{
    if (!host_yield.is_known) {
        void *address = dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");
        memcpy(&host_yield.set, &address, sizeof(address));
        host_yield.was_on = host_yield.set && host_yield.set(false);
        host_yield.is_known = true;
    }
    if (host_yield.was_on)
        host_yield.set(false);
}

void abtmpi_host_share_processor(void)
{
    if (host_yield.was_on)
        host_yield.set(true);
}

static void (*host_poll)(void);

static int host_progress(void)
{
    host_poll();
    return 0; /* how many events there were */
}

bool abtmpi_host_watch(void (*poll)(void))
{
    int (*add)(int (*)(void)) = NULL;
    void *address = dlsym(RTLD_DEFAULT, "opal_progress_register");

    memcpy(&add, &address, sizeof(address));
    host_poll = poll;
    abtmpi_ucx_watch(poll); /* its windows wait without Open MPI's own progress */
    return add && add(host_progress) == 0;
}
