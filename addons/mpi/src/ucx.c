/* SPDX-License-Identifier: BSD-3-Clause */
/* The function of UCX that MPI libraries on top of it call while they wait. This one comes before it. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef unsigned ucx_progress(void *worker);

ucx_progress ucp_worker_progress;

static ucx_progress ucx_first, ucx_progress_and_poll;

/* What a call does: later UCX's own function, or ucx_progress_and_poll. */
static _Atomic(ucx_progress *) ucx_now = ucx_first;
static _Atomic(ucx_progress *) ucx_real; /* UCX's own; NULL until it is needed */
static void (*_Atomic ucx_poll)(void);

/* The library may have been opened for those alone that need it. */
static ucx_progress *ucx_resolve(void)
{
    ucx_progress *real;
    void *library, *address = abtmpi_next("ucp_worker_progress");

    if (!address && (library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD)))
        address = dlsym(library, "ucp_worker_progress");
    if (!address) {
        fprintf(stderr, "libabtmpi: ucp_worker_progress is called, and there is none\n");
        abort();
    }
    memcpy(&real, &address, sizeof(address));
    /* relaxed: it is code, which does not change, and each search for it finds the same. */
    atomic_store_explicit(&ucx_real, real, memory_order_relaxed);
    return real;
}

static unsigned ucx_first(void *worker)
{
    ucx_progress *real = ucx_resolve(), *first = ucx_first;

    /* relaxed: as above. Where somebody watches by now, it stays so. */
    atomic_compare_exchange_strong_explicit(&ucx_now, &first, real, memory_order_relaxed, memory_order_relaxed);
    return real(worker);
}

static unsigned ucx_progress_and_poll(void *worker)
{
    /* relaxed, both: as above; a call that does not see yet whom to tell is made before. */
    ucx_progress *real = atomic_load_explicit(&ucx_real, memory_order_relaxed);
    void (*poll)(void) = atomic_load_explicit(&ucx_poll, memory_order_relaxed);

    if (poll)
        poll();
    return (real ? real : ucx_resolve())(worker);
}

/* Programs without ULTs come here, too, some of them in each call: a load and a jump. */
unsigned ucp_worker_progress(void *worker)
{
    return atomic_load_explicit(&ucx_now, memory_order_relaxed)(worker); /* relaxed: as above. */
}

void abtmpi_ucx_watch(void (*poll)(void))
{
    /* relaxed, both: calls that come later are watched from their next one on. */
    atomic_store_explicit(&ucx_poll, poll, memory_order_relaxed);
    atomic_store_explicit(&ucx_now, ucx_progress_and_poll, memory_order_relaxed);
}
