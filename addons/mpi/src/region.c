/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <abt.h>
#include <mpi.h>

#include "call.h"
#include "region.h"

enum {
    REGION_PAUSE_NS = 100000,
    REGION_PAUSES = 10000, /* MPI_Finalize waits for ULTs in regions for a second */
};

static pthread_mutex_t region_lock = PTHREAD_MUTEX_INITIALIZER;
static abtmpi_region *region_all; /* guarded by region_lock */

/* The caller, which is in no call of MPI for libabt, gets a native thread of its own. */
static void region_leave_stream(abtmpi_region *region)
{
    ABT_self_get_thread_id(&region->ult);
    ABTX_blocking_begin();
    pthread_mutex_lock(&region_lock);
    region->prev = &region_all;
    region->next = region_all;
    if (region->next)
        region->next->prev = &region->next;
    region_all = region;
    pthread_mutex_unlock(&region_lock);
}

bool abtmpi_region_begin(abtmpi_region *region, const char *call)
{
    if (!abtmpi_enter())
        return false;
    abtmpi_leave(MPI_SUCCESS);
    region->call = call;
    region_leave_stream(region);
    return true;
}

void abtmpi_region_end(abtmpi_region *region)
{
    pthread_mutex_lock(&region_lock);
    *region->prev = region->next;
    if (region->next)
        region->next->prev = region->prev;
    pthread_mutex_unlock(&region_lock);
    ABTX_blocking_end();
}

void abtmpi_region_end_all(void)
{
    bool any = true;

    for (int i = 0; any && i < REGION_PAUSES; i++) {
        pthread_mutex_lock(&region_lock);
        any = region_all != NULL;
        pthread_mutex_unlock(&region_lock);
        if (any)
            ABTX_self_sleep(REGION_PAUSE_NS);
    }
    pthread_mutex_lock(&region_lock);
    for (const abtmpi_region *region = region_all; region; region = region->next)
        fprintf(stderr, "libabtmpi: MPI_Finalize: ULT %" PRIu64 " is still in %s\n", (uint64_t)region->ult,
                region->call);
    pthread_mutex_unlock(&region_lock);
}
