/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame of some pages passed over the guard page below a stack, and wrote into what lies below, without a word. A
 * guard has 16 KiB.
 */
#include <string.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

enum { KIB = 1024 };

/* It writes at the low end of its frame only, as a function does that fills a part of a large buffer. */
static __attribute__((noinline)) void use_large_frame(size_t size)
{
    volatile char *buffer = __builtin_alloca(size);

    buffer[0] = 1;
    __asm__ volatile("" ::"r"(buffer) : "memory");
}

static void overflow(void *arg)
{
    use_large_frame(*(const size_t *)arg);
}

static ABT_thread create(ABT_pool pool, void (*func)(void *), const size_t *frame, size_t stack_size)
{
    ABT_thread thread;
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    if (stack_size > 0)
        must(ABT_thread_attr_set_stacksize(attr, stack_size));
    must(ABT_thread_create(pool, func, (void *)(uintptr_t)frame, attr, &thread));
    must(ABT_thread_attr_free(&attr));
    return thread;
}

/* Default stacks have 64 KiB beyond their size. */
static const struct way {
    const char *chunks;
    size_t stack_size; /* 0: the default */
    size_t frame;
    bool fits;
} ways[] = {{NULL, 0, 88 * KIB, false},
            {NULL, 16 * KIB, 88 * KIB, false},

            {"malloc", 16 * KIB, 88 * KIB, false},
            {"mmap_rp", 0, 88 * KIB, false},
            {NULL, 32 * KIB, 24 * KIB, true},
            {NULL, 17 * 1024 * KIB, 88 * KIB, true}};

/* Below the stack that overflows is another one, as the second of two that are made lies above the first or below it.
 */
static int run_way(void *arg)
{
    const struct way *way = arg;
    size_t size = way->stack_size;
    ABT_thread threads[3];

    setenv("ABT_STACK_OVERFLOW_CHECK", "auto", 1);
    if (way->chunks)
        setenv("ABT_MEM_LP_ALLOC", way->chunks, 1);
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    for (int i = 0; i < 3; i++) {
        threads[i] = create(pool, i == 1 && !way->fits ? overflow : unit_suspends, &way->frame, size);
        must(ABT_self_yield());
    }
    for (int i = 0; i < 3; i += 2) {
        must(ABT_thread_resume(threads[i]));
        must(ABT_thread_free(&threads[i]));
    }
    must(ABT_thread_resume(threads[1])); /* it has a large stack */
    must(ABT_thread_free(&threads[1]));
    must(ABT_finalize());
    return 0;
}

int main(void)
{
    char words[2048];

    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer sees the fault itself");
    if (is_emulated())
        skip_all("an emulator keeps guards of one page at most");
    if (sysconf(_SC_PAGESIZE) > 4096)
        skip_all("the numbers are for small pages");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const struct way *way = &ways[i];
        int end = child_run(run_way, (void *)(uintptr_t)way, words, sizeof(words));
        is_int(end, way->fits ? 0 : 128 + SIGSEGV, "a frame of %zu bytes, stacks of %zu from %s", way->frame,
               way->stack_size, way->chunks ? way->chunks : "the default");
        ok(way->fits == !strstr(words, "stack overflow in ULT"), "is reported unless it fits");
        if (end != (way->fits ? 0 : 128 + SIGSEGV))
            diag("%s", words);
    }
    return done_testing();
}
