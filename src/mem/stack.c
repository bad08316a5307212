#include "mem/stack.h"

#include <sys/mman.h>
#include "os/annotate.h"
#include "os/vm.h"

enum { STACK_CHUNK_MIN = 8 << 20, STACK_HEADER = (sizeof(struct abti_stack) + 63) / 64 * 64 };

static struct abti_stack *stack_place(char *base, char *end, size_t header_offset, size_t size,
                                      enum abti_stack_kind kind)
{
    struct abti_stack *stack = (struct abti_stack *)(((uintptr_t)end - header_offset) & ~(uintptr_t)63);
    /* Until told otherwise no unit fits in place. */
    *stack = (struct abti_stack){
        .base = base, .end = (char *)stack, .size = size, .nest_limit = (char *)stack, .kind = kind};
    return stack;
}

static void *stack_make(const struct abti_slab_spec *spec, char *slot, size_t index)
{
    size_t colour = index % ABTI_STACK_COLOURS * ABTI_STACK_COLOUR_STEP;
    struct abti_stack *stack =
        stack_place(slot, slot + spec->slot, STACK_HEADER + colour, spec->payload, ABTI_STACK_DEFAULT);
    abti_stack_set_nest_limit(stack, spec->payload);
    return stack;
}

static void stack_unmake(void *stack)
{
    abti_stack_forget(stack);
}

void abti_stack_forget(struct abti_stack *stack)
{
    abti_annotate_fiber_destroy(stack->tsan_fiber);
    stack->tsan_fiber = NULL;
    abti_annotate_unpoison(stack->base, (size_t)((char *)stack - stack->base));
}

/* Stacks are touched a page at a time, each by another unit: a huge page would charge its whole size to the first. */
static void *stack_chunk_map(size_t size)
{
    void *chunk = abti_vm_map(size);
    if (chunk)
        madvise(chunk, size, MADV_NOHUGEPAGE);
    return chunk;
}

void abti_stack_slab_spec(struct abti_slab_spec *spec, size_t size)
{
    size_t page = abti_vm_page_size();
    _Static_assert(STACK_HEADER + ABTI_STACK_COLOURS * ABTI_STACK_COLOUR_STEP <= 4096, "header and colours fit a page");
    size_t rounded = (size + page - 1) / page * page;
    *spec = (struct abti_slab_spec){
        .slot = rounded + page + ABTI_STACK_ROOM,
        .run = 8,
        .batch = 32,
        .map = stack_chunk_map,
        .make = stack_make,
        .unmake = abti_annotate_on ? stack_unmake : NULL, /* which would touch all of them */
        .payload = size,
    };
    size_t slots = STACK_CHUNK_MIN / spec->slot;
    if (slots < 4)
        slots = 4;
    spec->chunk = spec->span = slots * spec->slot;
}

struct abti_stack *abti_stack_map(size_t size)
{
    size_t page = abti_vm_page_size();
    size_t bytes = (size + STACK_HEADER + page - 1) / page * page;
    char *base = bytes > size ? abti_vm_map(bytes) : NULL;
    if (!base)
        return NULL;
    return stack_place(base, base + bytes, STACK_HEADER, size, ABTI_STACK_MAPPED);
}

struct abti_stack *abti_stack_adopt(void *addr, size_t size)
{
    enum { SMALLEST = STACK_HEADER + 64 + 512 };
    if (size < SMALLEST)
        return NULL;
    return stack_place(addr, (char *)addr + size, STACK_HEADER, size, ABTI_STACK_USER);
}

void abti_stack_destroy(struct abti_stack *stack)
{
    if (stack->kind == ABTI_STACK_MAPPED)
        abti_vm_unmap(stack->base, (size_t)((char *)stack + STACK_HEADER - stack->base));
}
