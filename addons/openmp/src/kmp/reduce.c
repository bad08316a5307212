/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task groups of clang, and reductions of tasks. A member gets its copy of a variable when one of its tasks first asks
 * for it. When the tasks of the group have ended the copies are put together.
 */
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>
#include "kmp/kmp.h"

/* A variable that tasks reduce, and the same as older compilers describe it. Functions may be NULL. */
struct kmp_reduction {
    void *shared, *original;
    size_t size;
    void (*init)(void *copy, void *original);
    void (*fini)(void *copy);
    void (*combine)(void *to, void *copy);
    uint32_t flags;
};

struct kmp_old_reduction {
    void *shared;
    size_t size;
    void (*init)(void *copy, void *unused);
    void (*fini)(void *copy);
    void (*combine)(void *to, void *copy);
    uint32_t flags;
};

struct abtomp_lazy {
    int32_t num;
    int members;
    struct kmp_reduction *of;
    void *_Atomic copies[]; /* of each member, one after another; NULL: it has none. Set by the member */
};

ABTOMP_API void *__kmpc_taskred_init(KMP_GTID, int32_t num, void *data)
{
    struct abtomp_member *me = abtomp_self();
    int members = me->team->num;
    struct abtomp_lazy *lazy =
        abtomp_must_have(calloc(1, sizeof(*lazy) + (size_t)num * (size_t)members * sizeof(lazy->copies[0])));
    size_t size = (size_t)num * sizeof(lazy->of[0]);
    lazy->num = num;
    lazy->members = members;
    lazy->of = memcpy(kmp_alloc(size), data, size);
    if (!me->group)
        abtomp_group_begin(me, NULL);
    me->group->lazy = lazy;
    return me->group;
}

/* The same as older compilers describe it. */
ABTOMP_API void *__kmpc_task_reduction_init(KMP_GTID, int32_t num, void *data)
{
    const struct kmp_old_reduction *old = data;
    struct kmp_reduction *of = abtomp_must_have(calloc((size_t)num + 1, sizeof(*of)));
    for (int32_t i = 0; i < num; i++)
        of[i] = (struct kmp_reduction){.shared = old[i].shared,
                                       .original = old[i].shared,
                                       .size = old[i].size,
                                       .init = old[i].init,
                                       .fini = old[i].fini,
                                       .combine = old[i].combine};
    void *group = __kmpc_taskred_init(gtid, num, of);
    free(of);
    return group;
}

/* relaxed: a caller with the address of a copy has it from the member that has made it, and the address alone is used
 */
static inline char *copy_at(struct abtomp_lazy *lazy, int member, int32_t which)
{
    return atomic_load_explicit(&lazy->copies[member * lazy->num + which], memory_order_relaxed);
}

/* Which variable it is whose address, or that of a copy, is given; -1: none. */
static int32_t find_variable(struct abtomp_lazy *lazy, const char *address)
{
    for (int32_t i = 0; i < lazy->num; i++) {
        if (lazy->of[i].shared == address)
            return i;
        for (int member = 0; member < lazy->members; member++) {
            uintptr_t copy = (uintptr_t)copy_at(lazy, member, i);
            if (copy != 0 && (uintptr_t)address - copy < lazy->of[i].size)
                return i;
        }
    }
    return -1;
}

/* The caller's copy. */
static void *get_copy(struct abtomp_lazy *lazy, int member, int32_t which)
{
    const struct kmp_reduction *of = &lazy->of[which];
    char *copy = copy_at(lazy, member, which);
    if (copy)
        return copy;
    copy = kmp_alloc(of->size);
    memset(copy, 0, of->size);
    if (of->init)
        of->init(copy, of->original);
    /* relaxed: the end of the task publishes it to the end of the group */
    atomic_store_explicit(&lazy->copies[member * lazy->num + which], copy, memory_order_relaxed);
    return copy;
}

ABTOMP_API void *__kmpc_task_reduction_get_th_data(KMP_GTID, void *outermost, void *address)
{
    (void)outermost;
    const struct abtomp_member *me = abtomp_self();
    for (const struct abtomp_group *group = me->group; group; group = group->outer) {
        int32_t which = group->lazy ? find_variable(group->lazy, address) : -1;
        if (which >= 0)
            return get_copy(group->lazy, me->num, which);
    }
    abtomp_fail("a task has in_reduction of a variable that no task group reduces");
}

static void put_together(struct abtomp_lazy *lazy)
{
    for (int32_t i = 0; i < lazy->num; i++)
        for (int member = 0; member < lazy->members; member++) {
            char *copy = copy_at(lazy, member, i);
            if (!copy)
                continue;
            lazy->of[i].combine(lazy->of[i].shared, copy);
            if (lazy->of[i].fini)
                lazy->of[i].fini(copy);
            free(copy);
        }
    free(lazy->of);
    free(lazy);
}

ABTOMP_API void __kmpc_taskgroup(KMP_CALLER)
{
    abtomp_group_begin(ABTOMP_CALLER(0), NULL);
}

ABTOMP_API void __kmpc_end_taskgroup(KMP_CALLER)
{
    struct abtomp_member *me = ABTOMP_CALLER(0);
    struct abtomp_lazy *lazy = me->group ? me->group->lazy : NULL;
    abtomp_group_await(me);
    if (lazy)
        put_together(lazy);
}

/* Of a region or a loop: what the tasks of a member add goes to the member's own variable, with which it goes on. */
ABTOMP_API void *__kmpc_taskred_modifier_init(KMP_CALLER, int32_t is_loop, int32_t num, void *data)
{
    (void)is_loop;
    __kmpc_taskgroup(at, gtid);
    return __kmpc_taskred_init(gtid, num, data);
}

ABTOMP_API void *__kmpc_task_reduction_modifier_init(KMP_CALLER, int32_t is_loop, int32_t num, void *data)
{
    (void)is_loop;
    __kmpc_taskgroup(at, gtid);
    return __kmpc_task_reduction_init(gtid, num, data);
}

ABTOMP_API void __kmpc_task_reduction_modifier_fini(KMP_CALLER, int32_t is_loop)
{
    (void)is_loop;
    __kmpc_end_taskgroup(at, gtid);
}
