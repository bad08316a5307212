/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/stack.h"
#include "tap.h"

static bool has_room(struct abti_stack *stack, size_t size)
{
    char *top = abti_stack_top(stack);

    memset(stack->base, 1, 64);
    memset(top - size, 2, size);
    return top - stack->base >= (ptrdiff_t)size && ((uintptr_t)top & 15) == 0;
}

static void test_slab(size_t size)
{
    enum { NUM = 40 };
    struct abti_stack *stacks[NUM];
    struct abti_slab_spec spec;
    struct abti_slab slab;
    struct abti_cache cache;
    bool room = true, nests = true, apart = true;
    int colours = 0;

    abti_stack_slab_spec(&spec, size, 8 << 20);
    abti_slab_init(&slab, &spec);
    ok(!abti_cache_init(&cache, &slab), "stacks of %zu bytes", size);
    for (int i = 0; i < NUM; i++) {
        stacks[i] = abti_cache_get(&cache);
        room = room && has_room(stacks[i], size) && stacks[i]->kind == ABTI_STACK_DEFAULT && stacks[i]->size == size;
        /* Who starts in place at the limit has a whole default stack. */
        nests = nests && stacks[i]->in_place_limit - stacks[i]->base >= (ptrdiff_t)size &&
                stacks[i]->in_place_limit < (char *)abti_stack_top(stacks[i]);
        apart = apart && (i == 0 || labs((long)((char *)stacks[i] - (char *)stacks[i - 1])) >= (long)size);
        colours += i > 0 && ((uintptr_t)stacks[i] & 4095) != ((uintptr_t)stacks[i - 1] & 4095);
    }
    ok(room, "have the size that they claim");
    ok(nests, "have room for units in place");
    ok(apart, "do not overlap");
    ok(colours > NUM / 2, "their headers lie at different offsets in their pages");
    for (int i = 0; i < NUM; i++)
        abti_cache_put(&cache, stacks[i]);
    ok(abti_cache_get(&cache) == stacks[NUM - 1], "the hottest is reused first");
    abti_cache_put(&cache, stacks[NUM - 1]);
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

static void test_mapped(size_t size)
{
    struct abti_stack *stack = abti_stack_map(size);

    if (!ok(stack != NULL, "a mapping of its own of %zu bytes", size))
        return;
    ok(has_room(stack, size), "has the size that it claims");
    is_int(stack->kind, ABTI_STACK_MAPPED, "is mapped");
    ok(stack->in_place_limit >= (char *)abti_stack_top(stack), "no unit runs in place there");
    abti_stack_destroy(stack);
}

static void test_classes(void)
{
    enum { KIB = 1024, MIB = 1024 * KIB };
    struct abti_slab_spec spec;
    struct abti_slab slab;
    struct abti_cache cache;

    is_int(abti_stack_class_of(1), 0, "a small stack is of the first class");
    is_int(abti_stack_class_of(16 * KIB), 0, "so is one of 16 KiB");
    is_int(abti_stack_class_of(16 * KIB + 1), 1, "and one byte more of the next");
    is_int(abti_stack_class_of(16 * MIB), ABTI_STACK_CLASSES - 1, "16 MiB of the last");
    is_int(abti_stack_class_of(16 * MIB + 1), ABTI_STACK_CLASSES, "beyond that there is none");
    is_int(abti_stack_class_of(SIZE_MAX), ABTI_STACK_CLASSES, "nor for all memory");
    for (unsigned size_class = 0; size_class < ABTI_STACK_CLASSES; size_class++) {
        struct abti_stack *stacks[5];
        bool fine = true;
        size_t size = (size_t)16 * KIB << size_class;
        abti_stack_class_spec(&spec, size_class, 16 * MIB);
        abti_slab_init(&slab, &spec);
        if (abti_cache_init(&cache, &slab))
            bail_out("no memory");
        ok(spec.batch >= 1 && (spec.batch == 1 || 2 * spec.batch * size <= 16 * MIB),
           "class %u: two magazines are no more than is to be kept", size_class);
        for (int i = 0; i < 5; i++) {
            stacks[i] = abti_cache_get(&cache);
            fine = fine && stacks[i] && has_room(stacks[i], size) && stacks[i]->kind == ABTI_STACK_CLASS &&
                   stacks[i]->size_class == size_class && stacks[i]->in_place_limit >= (char *)stacks[i];
        }
        ok(fine, "class %u: stacks with room for %zu bytes", size_class, size);
        for (int i = 0; i < 5; i++)
            abti_cache_put(&cache, stacks[i]);
        abti_cache_fini(&cache);
        abti_slab_fini(&slab);
    }
}

static void test_adopted(void)
{
    static char memory[8192 + 8] __attribute__((aligned(64)));

    for (int offset = 0; offset <= 8; offset += 8) {
        memset(memory, 0, sizeof(memory));
        struct abti_stack *stack = abti_stack_adopt(memory + offset, 8192);
        ok(stack != NULL, "the user's memory, at offset %d", offset);
        ok((char *)stack >= memory + offset && (char *)(stack + 1) <= memory + offset + 8192, "the header lies inside");
        ok(((uintptr_t)abti_stack_top(stack) & 15) == 0, "the top is aligned");
        is_ptr(stack->base, memory + offset, "the base is the user's");
        is_int(stack->size, 8192, "and the size");
        abti_stack_destroy(stack);
        ok(offset == 0 || memory[0] == 0, "nothing is written below");
    }
    ok(!abti_stack_adopt(memory, 256), "too small for a header and a frame");
}

/* A chunk has room for some, however large they are. */
static void test_large(void)
{
    enum { MIB = 1 << 20 };
    struct abti_slab_spec spec;

    for (size_t size = MIB; size <= (size_t)256 * MIB; size *= 4) {
        abti_stack_slab_spec(&spec, size, 8 << 20);
        ok(spec.arena.cell > size && spec.arena.chunk >= 4 * spec.arena.cell && spec.arena.chunk % spec.arena.cell == 0,
           "four stacks of %zu MiB", size / MIB);
    }
}

int main(void)
{
    test_slab(16384);
    test_slab(1000000);
    test_slab(4097);
    test_large();
    test_classes();
    test_mapped(100);
    test_mapped(65536);
    test_mapped((size_t)4 << 20);
    ok(!abti_stack_map(SIZE_MAX), "no stack of all memory");
    ok(!abti_stack_map(SIZE_MAX / 2), "nor of half of it");
    test_adopted();
    return done_testing();
}
