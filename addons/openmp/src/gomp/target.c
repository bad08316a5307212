/* SPDX-License-Identifier: BSD-3-Clause */
/* Device constructs, for which the host is the only device, and teams on the host, which run one after another. */
#include "task/tasks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "gomp/gomp.h"
#include "gomp/target.versions.h"

/* In the low byte of a kind: the data are copied. The byte above is the binary logarithm of their alignment. */
enum { KIND_MASK = 0xff, KIND_FIRSTPRIVATE = 12, ALIGN_SHIFT = 8 };

/* A clause of a target: in one word the device (0: all), what it is, and its value, or that the next word has it. */
enum { ARG_DEVICE = 0x7f, ARG_IS_NEXT = 1 << 7, ARG_WHAT = 0xff << 8, ARG_THREAD_LIMIT = 2 << 8, ARG_SHIFT = 16 };

/* Of the flags of a construct. */
enum { FLAG_NOWAIT = 1 };

/* -- Initial tasks of their own -- */

/* Runs fn as an initial task would: at level 0. */
static void run_initial(void (*fn)(void *), void *data, int thread_limit)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_team *team = abtomp_must_have(abtomp_team_new(NULL));
    struct abtomp_member *initial = team->members[0];
    initial->icvs = abtomp_env.icvs;
    team->root.reported = abtomp_root_threads(&abtomp_ancestor(me, 0)->team->root);
    if (thread_limit > 0)
        initial->icvs.thread_limit = thread_limit;
    abtomp_current = initial;
    fn(data);
    abtomp_tasks_drain(initial);
    abtomp_current = me;
    abtomp_teams_end(initial);
    abtomp_team_free(team);
}

/* -- Target -- */

/* The limit that the clauses set, which end with a zero; 0: none, or one for other devices only. */
static int read_thread_limit(void **args)
{
    while (args && *args) {
        intptr_t word = (intptr_t)*args++, value = word >> ARG_SHIFT;
        if (word & ARG_IS_NEXT)
            value = (intptr_t)*args++;
        if ((word & (ARG_WHAT | ARG_DEVICE)) == ARG_THREAD_LIMIT)
            return value < INT_MAX ? (int)value : INT_MAX;
    }
    return 0;
}

/* A construct that only waits for its dependences: with `nowait` a task does. */
static void await_dependences(unsigned flags, void **depend)
{
    if (depend && (flags & FLAG_NOWAIT))
        GOMP_taskwait_depend_nowait(depend);
    else if (depend)
        GOMP_taskwait_depend(depend);
}

/* An optional argument of Fortran that is absent has no address. */
static bool is_copied(const void *address, unsigned short kind)
{
    return address && (kind & KIND_MASK) == KIND_FIRSTPRIVATE;
}

/* Where the data of a variable are placed in the block of copies, which ends at `size`. */
static size_t place_of(size_t *size, size_t bytes, unsigned short kind)
{
    size_t align = (size_t)1 << (kind >> ALIGN_SHIFT), place = (*size + align - 1) & ~(align - 1);
    *size = place + bytes;
    return place;
}

/* Copies what is firstprivate, and lets the addresses be those of the copies. NULL: there is nothing to copy. */
static void *copy_firstprivate(size_t num, void **addresses, const size_t *sizes, const unsigned short *kinds)
{
    enum { MOST_ALIGN = 64 };
    size_t size = 0;
    for (size_t i = 0; i < num; i++)
        if (is_copied(addresses[i], kinds[i]))
            (void)place_of(&size, sizes[i], kinds[i]);
    char *block = size > 0 ? aligned_alloc(MOST_ALIGN, (size + MOST_ALIGN - 1) / MOST_ALIGN * MOST_ALIGN) : NULL;
    if (size > 0 && !block)
        abtomp_fail("out of memory");
    size = 0;
    for (size_t i = 0; i < num; i++)
        if (is_copied(addresses[i], kinds[i])) {
            size_t place = place_of(&size, sizes[i], kinds[i]);
            addresses[i] = memcpy(block + place, addresses[i], sizes[i]);
        }
    return block;
}

/* A target, as it is asked for. */
struct target {
    void (*fn)(void *);
    size_t num;
    void **addresses;
    const size_t *sizes;
    const unsigned short *kinds;
    int thread_limit;
};

static void run_target(const struct target *target)
{
    void *block = copy_firstprivate(target->num, target->addresses, target->sizes, target->kinds);
    run_initial(target->fn, target->addresses, target->thread_limit);
    free(block);
}

/* One with `nowait`: a task, which has its own addresses and copies of what is firstprivate now. */
struct deferred {
    void (*fn)(void *);
    int thread_limit;
    void *copies;
    void *addresses[];
};

static void defer_target(void *to, void *from)
{
    const struct target *target = from;
    size_t size = target->num * sizeof(target->addresses[0]);
    struct deferred *deferred = abtomp_must_have(malloc(sizeof(*deferred) + size));
    deferred->fn = target->fn;
    deferred->thread_limit = target->thread_limit;
    if (size > 0)
        memcpy(deferred->addresses, target->addresses, size);
    deferred->copies = copy_firstprivate(target->num, deferred->addresses, target->sizes, target->kinds);
    *(struct deferred **)to = deferred;
}

static void run_deferred(void *arg)
{
    struct deferred *deferred = *(struct deferred **)arg;
    const struct abtomp_member *me = abtomp_current;
    if (!abtomp_env.cancels || !abtomp_task_is_cancelled(me, me->group))
        run_initial(deferred->fn, deferred->addresses, deferred->thread_limit);
    free(deferred->copies);
    free(deferred);
}

ABTOMP_API void GOMP_target_ext(int device, void (*fn)(void *), size_t num, void **addresses, size_t *sizes,
                                unsigned short *kinds, unsigned flags, void **depend, void **args)
{
    struct target target = {fn, num, addresses, sizes, kinds, read_thread_limit(args)};
    (void)device;
    if (flags & FLAG_NOWAIT) {
        GOMP_task(run_deferred, &target, defer_target, sizeof(struct deferred *), _Alignof(struct deferred *), true,
                  depend ? ABTOMP_TASK_DEPEND : 0, depend, 0, NULL);
        return;
    }
    await_dependences(flags, depend);
    run_target(&target);
}

ABTOMP_API void GOMP_target(int device, void (*fn)(void *), const void *unused, size_t num, void **addresses,
                            size_t *sizes, unsigned char *kinds)
{
    (void)device, (void)unused, (void)num, (void)sizes, (void)kinds;
    run_initial(fn, addresses, 0);
}

/* -- Data: the host has them all -- */

ABTOMP_API void GOMP_target_data(int device, const void *unused, size_t num, void **addresses, size_t *sizes,
                                 unsigned char *kinds)
{
    (void)device, (void)unused, (void)num, (void)addresses, (void)sizes, (void)kinds;
}

ABTOMP_API void GOMP_target_data_ext(int device, size_t num, void **addresses, size_t *sizes, unsigned short *kinds)
{
    (void)device, (void)num, (void)addresses, (void)sizes, (void)kinds;
}

ABTOMP_API void GOMP_target_end_data(void)
{
}

ABTOMP_API void GOMP_target_update(int device, const void *unused, size_t num, void **addresses, size_t *sizes,
                                   unsigned char *kinds)
{
    GOMP_target_data(device, unused, num, addresses, sizes, kinds);
}

ABTOMP_API void GOMP_target_update_ext(int device, size_t num, void **addresses, size_t *sizes, unsigned short *kinds,
                                       unsigned flags, void **depend)
{
    await_dependences(flags, depend);
    GOMP_target_data_ext(device, num, addresses, sizes, kinds);
}

ABTOMP_API void GOMP_target_enter_exit_data(int device, size_t num, void **addresses, size_t *sizes,
                                            unsigned short *kinds, unsigned flags, void **depend)
{
    await_dependences(flags, depend);
    GOMP_target_data_ext(device, num, addresses, sizes, kinds);
}

/* Programs that have code for devices register it; there are no devices. */
ABTOMP_API void GOMP_offload_register(const void *host, int type, const void *data)
{
    (void)host, (void)type, (void)data;
}

ABTOMP_API void GOMP_offload_unregister(const void *host, int type, const void *data)
{
    GOMP_offload_register(host, type, data);
}

ABTOMP_API void GOMP_offload_register_ver(unsigned version, const void *host, int type, const void *data)
{
    (void)version;
    GOMP_offload_register(host, type, data);
}

ABTOMP_API void GOMP_offload_unregister_ver(unsigned version, const void *host, int type, const void *data)
{
    (void)version;
    GOMP_offload_register(host, type, data);
}

/* -- Teams -- */

ABTOMP_API void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned num, unsigned thread_limit, unsigned flags)
{
    (void)flags;
    abtomp_teams(fn, data, num, thread_limit);
}

/* In a target: the program calls the region itself, once for each team, as long as this says so. */
ABTOMP_API bool GOMP_teams4(unsigned least, unsigned most, unsigned thread_limit, bool is_first)
{
    struct abtomp_member *me = abtomp_self();
    (void)least;
    if (thread_limit > 0)
        abtomp_change_icvs(me)->thread_limit = (int)thread_limit;
    if (is_first) {
        me->league = (struct abtomp_league){0, most > 0 ? (int)most : 1};
        return true;
    }
    return ++me->league.own < me->league.num;
}

ABTOMP_API void GOMP_teams(unsigned num, unsigned thread_limit)
{
    (void)num;
    (void)GOMP_teams4(1, 1, thread_limit, true);
}
