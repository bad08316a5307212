/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions and how their members wait for each other; memory and messages. */
#include "ompt/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/routines.h"
#include "gomp/gomp.h"
#include "gomp/region.versions.h"

/* -- Regions -- */

ABTOMP_API void GOMP_parallel(void (*fn)(void *), void *data, unsigned num, unsigned flags)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    (void)abtomp_parallel(fn, data, fn, num, flags, NULL);
}

/* The first word of the data points to the description of the reductions. */
ABTOMP_API unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned num, unsigned flags)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    return (unsigned)abtomp_parallel(fn, data, fn, num, flags, *(uintptr_t **)data);
}

/* As compilers before gcc 4.9 have it. */
ABTOMP_API void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned num)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    abtomp_parallel_start(fn, data, num);
}

ABTOMP_API void GOMP_parallel_end(void)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    abtomp_parallel_end();
}

ABTOMP_API void GOMP_barrier(void)
{
    abtomp_barrier(ABTOMP_CALLER(ompt_sync_region_barrier_explicit));
}

/* -- Cancellation -- */

enum { WHICH_SHARE = 2 | 4, WHICH_GROUP = 8 }; /* loop and sections, taskgroup. 1: parallel */

static enum abtomp_cancellable read_which(int which)
{
    return which & WHICH_SHARE ? ABTOMP_CANCEL_SHARE : which & WHICH_GROUP ? ABTOMP_CANCEL_GROUP : ABTOMP_CANCEL_REGION;
}

ABTOMP_API bool GOMP_cancellation_point(int which)
{
    return abtomp_is_cancelled(ABTOMP_CALLER(which & 4 ? ompt_cancel_sections : ompt_cancel_loop), read_which(which));
}

ABTOMP_API bool GOMP_cancel(int which, bool is_wanted)
{
    struct abtomp_member *me = ABTOMP_CALLER(which & 4 ? ompt_cancel_sections : ompt_cancel_loop);
    return is_wanted ? abtomp_cancel(me, read_which(which)) : abtomp_is_cancelled(me, read_which(which));
}

ABTOMP_API bool GOMP_barrier_cancel(void)
{
    return abtomp_barrier_cancel(ABTOMP_CALLER(ompt_sync_region_barrier_explicit));
}

/* -- Mutual exclusion: critical, and atomic where the processor has no instruction for it -- */

static _Atomic(uint32_t) unnamed, fallback;

ABTOMP_API void GOMP_critical_start(void)
{
    ABTOMP_LOCK(&unnamed, ompt_mutex_critical);
}

ABTOMP_API void GOMP_critical_end(void)
{
    ABTOMP_UNLOCK(&unnamed, ompt_mutex_critical);
}

/* The compiler makes a word of the size of a pointer for each name: its first half is the mutex. */
ABTOMP_API void GOMP_critical_name_start(void **name)
{
    ABTOMP_LOCK(name, ompt_mutex_critical);
}

ABTOMP_API void GOMP_critical_name_end(void **name)
{
    ABTOMP_UNLOCK(name, ompt_mutex_critical);
}

ABTOMP_API void GOMP_atomic_start(void)
{
    ABTOMP_LOCK(&fallback, ompt_mutex_atomic);
}

ABTOMP_API void GOMP_atomic_end(void)
{
    ABTOMP_UNLOCK(&fallback, ompt_mutex_atomic);
}

/* -- What compilers make of the clause and the directive `allocate`, and of the directive `error` -- */

ABTOMP_API void *GOMP_alloc(size_t alignment, size_t size, uintptr_t allocator)
{
    return omp_aligned_alloc(alignment, size, allocator);
}

ABTOMP_API void GOMP_free(void *memory, uintptr_t allocator)
{
    omp_free(memory, allocator);
}

ABTOMP_API void GOMP_warning(const char *message, size_t length)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_error(false, message, length);
    abtomp_error(false, message, length);
}

ABTOMP_API void GOMP_error(const char *message, size_t length)
{
    if (ABTOMP_NOTED(0))
        abtomp_tool_error(true, message, length);
    abtomp_error(true, message, length);
}
