/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tools hear of the switches. The test itself plays TSan and ASan: the library finds its functions by their
 * names and tells them everything, which is checked against the rules in os/annotate.h.
 */
#include <abt.h>

#include "os/annotate.h"
#include "tap.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) ||                \
    __has_feature(address_sanitizer)

int main(void)
{
    skip_all("a real sanitizer is here");
}

#else

/* --- The tools --- */

struct fiber {
    atomic_bool alive, current;
};

enum { MOST_FIBERS = 4096 };
static struct fiber fibers[MOST_FIBERS];
static atomic_int num_fibers, num_alive, num_native;

static atomic_int mistakes;
static const char *volatile mistake = "none";

static void check(bool right, const char *what)
{
    if (!right) {
        mistake = what;
        atomic_fetch_add(&mistakes, 1);
    }
}

/* Of a native thread. In a switch: 1 after start, 2 after switch_to. */
static _Thread_local struct {
    struct fiber *fiber;
    int step;
    const char *bottom;
    size_t size;
} tool;

static struct fiber *fiber_new(bool current)
{
    int n = atomic_fetch_add(&num_fibers, 1);

    if (n >= MOST_FIBERS)
        bail_out("too many fibers");
    atomic_store(&fibers[n].alive, true);
    atomic_store(&fibers[n].current, current);
    return &fibers[n];
}

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __sanitizer_start_switch_fiber(void **fake_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake, const void **old_bottom, size_t *old_size);
void __asan_unpoison_memory_region(const volatile void *ptr, size_t size);

__attribute__((noinline)) void *__tsan_get_current_fiber(void)
{
    if (!tool.fiber) {
        tool.fiber = fiber_new(true);
        atomic_fetch_add(&num_native, 1);
    }
    return tool.fiber;
}

void *__tsan_create_fiber(unsigned flags)
{
    check(flags == 0, "flags of a new fiber");
    atomic_fetch_add(&num_alive, 1);
    return fiber_new(false);
}

void __tsan_destroy_fiber(void *arg)
{
    struct fiber *fiber = arg;

    check(!atomic_load(&fiber->current), "who destroys a fiber runs on another one");
    check(atomic_exchange(&fiber->alive, false), "a fiber is destroyed once");
    atomic_fetch_sub(&num_alive, 1);
}

void __tsan_switch_to_fiber(void *arg, unsigned flags)
{
    struct fiber *fiber = arg, *left = __tsan_get_current_fiber();

    check(flags == 0, "flags of a switch");
    check(tool.step == 1, "the fiber comes after the start");
    tool.step = 2;
    check(atomic_load(&fiber->alive), "the fiber is alive");
    atomic_store(&left->current, false);
    /* A stack is left and entered again by the next unit on it. */
    check(!atomic_exchange(&fiber->current, true), "nobody else runs on the fiber");
    tool.fiber = fiber;
}

void __sanitizer_start_switch_fiber(void **fake_save, const void *bottom, size_t size)
{
    check(tool.step == 0, "one switch after the other");
    tool.step = 1;
    if (fake_save)
        *fake_save = (void *)tool.bottom;
    tool.bottom = bottom;
    tool.size = size;
}

void __sanitizer_finish_switch_fiber(void *fake, const void **old_bottom, size_t *old_size)
{
    const char *here = __builtin_frame_address(0);

    (void)old_bottom, (void)old_size;
    check(tool.step == 2, "the finish comes last");
    tool.step = 0;
    check(here >= tool.bottom && here < tool.bottom + tool.size, "it comes on the stack that was announced");
    check(!fake || fake == tool.bottom, "and with what was saved there");
}

/* Where a unit has ended without returning from its frames. */
static const char *_Atomic left_frame;

void __asan_unpoison_memory_region(const volatile void *ptr, size_t size)
{
    const char *frame = atomic_load(&left_frame), *begin = (const char *)ptr;

    if (frame >= begin && frame < begin + size)
        atomic_store(&left_frame, NULL);
}

/* --- Units that look where they are --- */

enum { UNITS = 40 };

static atomic_int strayed, same_fiber;
static void *_Atomic fiber_of[UNITS];

static void look(int self)
{
    void *fiber = __tsan_get_current_fiber();

    if (fiber != atomic_load(&fiber_of[self]))
        atomic_fetch_add(&strayed, 1);
    for (int i = 0; i < UNITS; i++) {
        if (i != self && atomic_load(&fiber_of[i]) == fiber)
            atomic_fetch_add(&same_fiber, 1);
    }
}

static void child(void *arg)
{
    ABT_thread_yield();
}

/* Leaves its stack in every way there is and comes back, perhaps on another stream. */
static void wander(void *arg)
{
    ABT_eventual eventual = arg;
    static atomic_int next_number;
    int self = atomic_fetch_add(&next_number, 1);
    ABT_pool pool;
    ABT_thread thread;

    atomic_store(&fiber_of[self], __tsan_get_current_fiber());
    for (int i = 0; i < 20; i++) {
        ABT_thread_yield();
        look(self);
    }
    ABT_eventual_wait(eventual, NULL);
    look(self);
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, child, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    look(self);
    ABT_thread_create_to(pool, child, NULL, ABT_THREAD_ATTR_NULL, &thread);
    look(self);
    ABT_thread_free(&thread);
    look(self);
    atomic_store(&fiber_of[self], NULL);
}

static void test_identity(void)
{
    ABT_xstream streams[2];
    ABT_thread threads[UNITS];
    ABT_thread_attr attr;
    ABT_eventual eventual;
    ABT_pool pool;

    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    ABT_eventual_create(0, &eventual);
    ABT_thread_attr_create(&attr);
    ABT_thread_attr_set_stacksize(attr, 50000);
    for (int i = 0; i < 2; i++)
        ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, wander, eventual, i % 4 ? ABT_THREAD_ATTR_NULL : attr, &threads[i]);
    ABT_eventual_set(eventual, NULL, 0);
    ABT_thread_free_many(UNITS, threads);
    for (int i = 0; i < 2; i++)
        ABT_xstream_free(&streams[i]);
    is_int(strayed, 0, "a ULT keeps its fiber wherever it runs");
    is_int(same_fiber, 0, "and has it to itself");
    ABT_thread_attr_free(&attr);
    ABT_eventual_free(&eventual);
    ABT_pool_free(&pool);
}

/* --- Units that end where they are --- */

static atomic_int poisoned, ended;

static void leave_frames(void *arg)
{
    const char *frame = __builtin_frame_address(0);

    if (atomic_exchange(&left_frame, frame) == frame)
        atomic_fetch_add(&poisoned, 1);
    atomic_fetch_add(&ended, 1);
    ABT_self_exit();
}

static void test_exits(void)
{
    enum { EXITS = 1000 };
    ABT_xstream stream;
    ABT_pool pool;
    int before;

    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_xstream_join(stream);
    for (int i = 0; i < EXITS; i++)
        ABT_thread_create(pool, leave_frames, NULL, ABT_THREAD_ATTR_NULL, NULL);
    before = num_fibers;
    ABT_xstream_revive(stream);
    ABT_xstream_free(&stream);
    is_int(ended, EXITS, "%d units have ended in the middle", EXITS);
    is_int(poisoned, 0, "none has found the frames of another one");
    ok(num_fibers > before + 1, "their stack got a fresh fiber now and then: %d", num_fibers - before);
    ok(num_fibers < before + EXITS / 10, "but not each time");
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        ABT_init(0, NULL);
        ok(abti_annotate_on, "the tools are found");
        if (round == 0)
            test_identity();
        test_exits();
        ABT_finalize();
        is_int(num_alive, 0, "all fibers are destroyed in the end, of %d", num_fibers - num_native);
        is_int(mistakes, 0, "what the tools hear is right; wrong: %s", mistake);
        atomic_store(&ended, 0);
    }
    return done_testing();
}

#endif
