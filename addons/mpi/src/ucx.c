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

static _Atomic(ucx_progress *) ucx_real; /* NULL until the first call */
static void (*_Atomic ucx_look)(void);

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
    /* relaxed: it is code, which does not change, and whoever looks for it finds the same. */
    atomic_store_explicit(&ucx_real, real, memory_order_relaxed);
    return real;
}

static __attribute__((noinline)) unsigned ucx_progress_watched(void *worker, void (*look)(void), ucx_progress *real)
{
    if (look)
        look();
    return (real ? real : ucx_resolve())(worker);
}

/* Programs without ULTs come here, too, some of them in each call. */
unsigned ucp_worker_progress(void *worker)
{
    /* relaxed, both: as above; those that come later are watched from their next call on. */
    ucx_progress *real = atomic_load_explicit(&ucx_real, memory_order_relaxed);
    void (*look)(void) = atomic_load_explicit(&ucx_look, memory_order_relaxed);

    return look || !real ? ucx_progress_watched(worker, look, real) : real(worker);
}

void abtmpi_ucx_watch(void (*look)(void))
{
    atomic_store_explicit(&ucx_look, look, memory_order_relaxed); /* relaxed: as above. */
}
