/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, which are a loop over their numbers from 1 on, single, and scope. */
#include "loop/share.h"
#include "ompt/tool.h"

#include "gomp/sections.versions.h"

static struct abtomp_loop sections_loop(unsigned count)
{
    return (struct abtomp_loop){
        .num = count, .chunk = 1, .kind = ABTOMP_DYNAMIC | ABTOMP_MONOTONIC, .work = ompt_work_sections};
}

/* The number of the next section; 0: there is none. */
static unsigned next_section(struct abtomp_member *me)
{
    return abtomp_loop_take(me) ? (unsigned)me->first + 1 : 0;
}

static unsigned start_sections(unsigned count, uintptr_t *reductions, void **memory)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_loop loop = sections_loop(count);
    abtomp_loop_enter(me, &loop, reductions, memory);
    return next_section(me);
}

ABTOMP_API unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    (void)ABTOMP_NOTE(0);
    return start_sections(count, reductions, memory);
}

ABTOMP_API unsigned GOMP_sections_start(unsigned count)
{
    (void)ABTOMP_NOTE(0);
    return start_sections(count, NULL, NULL);
}

ABTOMP_API unsigned GOMP_sections_next(void)
{
    return next_section(abtomp_self());
}

ABTOMP_API void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned num, unsigned count, unsigned flags)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    struct abtomp_loop loop = sections_loop(count);
    abtomp_parallel_loop(fn, data, num, flags, &loop);
}

ABTOMP_API void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned num, unsigned count)
{
    (void)ABTOMP_NOTE(ompt_parallel_invoker_program);
    struct abtomp_loop loop = sections_loop(count);
    abtomp_parallel_loop_start(fn, data, num, &loop);
}

/* Only reductions of tasks need a function here. */
ABTOMP_API void GOMP_scope_start(uintptr_t *reductions)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    struct abtomp_loop loop = sections_loop(0);
    loop.work = ompt_work_scope;
    abtomp_loop_enter(me, &loop, reductions, NULL);
    abtomp_share_leave(me);
}

/* -- Single -- */

ABTOMP_API bool GOMP_single_start(void)
{
    return abtomp_single(ABTOMP_CALLER(0));
}

/* With copyprivate the others wait for what the first one hands out. Another barrier follows. */
ABTOMP_API void *GOMP_single_copy_start(void)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    if (abtomp_single(me))
        return NULL;
    abtomp_barrier(me);
    return me->team->copied;
}

ABTOMP_API void GOMP_single_copy_end(void *data)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    me->team->copied = data;
    abtomp_barrier(me);
}
