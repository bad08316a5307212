/* SPDX-License-Identifier: BSD-3-Clause */
/* The function of UCX that MPI libraries on top of it call while they wait. This one comes before it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef unsigned ucx_progress(void *worker);

ucx_progress ucp_worker_progress;

static ucx_progress *ucx_real; /* written once */
static void (*_Atomic ucx_look)(void);

/* The library may have been opened for those alone that need it. */
static void ucx_resolve(void)
{
    void *address = abtmpi_next("ucp_worker_progress");

    if (!address) {
        void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        address = library ? dlsym(library, "ucp_worker_progress") : NULL;
    }
    memcpy(&ucx_real, &address, sizeof(address));
}

unsigned ucp_worker_progress(void *worker)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* relaxed: those that come later are watched from their next call on. */
    void (*look)(void) = atomic_load_explicit(&ucx_look, memory_order_relaxed);

    if (look)
        look();
    pthread_once(&once, ucx_resolve);
    if (!ucx_real) {
        fprintf(stderr, "libabtmpi: ucp_worker_progress is called, and there is none\n");
        abort();
    }
    return ucx_real(worker);
}

void abtmpi_ucx_watch(void (*look)(void))
{
    atomic_store_explicit(&ucx_look, look, memory_order_relaxed); /* relaxed: as above. */
}
