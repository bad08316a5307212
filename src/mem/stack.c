/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/stack.h"

#include "base/assert.h"
#include "base/round.h"
#include "os/annotate.h"
#include "os/vm.h"

enum {
    STACK_CLASS_CHUNK = 8 << 20,
    STACK_HEADER = (sizeof(struct abti_stack) + 63) / 64 * 64,
    STACK_SMALLEST_CLASS = 16 << 10,
};

/* Writes the header of a stack. No unit fits in place until in_place_limit is set. */
static struct abti_stack *stack_place(char *low, char *end, size_t header_offset, size_t size,
                                      enum abti_stack_kind kind)
{
    struct abti_stack *stack = (struct abti_stack *)(((uintptr_t)end - header_offset) & ~(uintptr_t)63);
    *stack = (struct abti_stack){.low = low,
                                 .base = low,
                                 .end = (char *)stack,
                                 .size = size,
                                 .in_place_limit = (char *)stack,
                                 .high = (char *)stack,
                                 .kind = (uint8_t)kind};
    return stack;
}

/* Whether there is no room for a guard page at the begin, wherever that is, and for a little stack above it. */
static bool has_few_pages(size_t size)
{
    enum { LITTLE = 4096 };
    return size < 2 * abti_vm_page_size() + LITTLE;
}

/*
 * Returns where the guard page of a stack is: at its low end. A page that is asked for by name is where programs
 * look for it, at the first page boundary of what they learn of, unless that is small. A small stack has it at the low
 * end too, and in the user's memory there is none (NULL).
 */
static char *guard_place(const struct abti_stack *stack)
{
    abti_assert(stack->end > stack->low);
    bool is_users = stack->kind == ABTI_STACK_USER;
    if (!abti_guard_needs_page() || has_few_pages(stack->size))
        return is_users ? NULL : stack->low;
    char *begin = is_users ? stack->low : stack->end - stack->size;
    return (char *)abti_round_up((uintptr_t)begin, abti_vm_page_size());
}

/* Guards a stack by pages, `room` bytes, behind which its usable part begins. `nth` is as in abti_guard_install. */
static bool stack_guard(struct abti_stack *stack, size_t room, size_t nth, enum abti_chunk_origin origin)
{
    enum abti_guard guard;
    bool pages = origin == ABTI_CHUNK_MALLOC || origin == ABTI_CHUNK_NORMAL; /* a huge one cannot be had in part */
    char *at = guard_place(stack);
    if (!abti_guard_install(at, room, pages, nth, &guard))
        return false;
    stack->guard = (uint8_t)guard;
    stack->base = at + room;
    return true;
}

/* One that is asked for by name may be above the low end, and is one page. */
char *abti_stack_guard_begin(const struct abti_stack *stack)
{
    if (stack->guard != ABTI_GUARD_PAGE)
        return stack->base;
    return abti_guard_needs_page() ? stack->base - abti_guard_least_room() : stack->low;
}

static void stack_unguard(struct abti_stack *stack)
{
    char *at = abti_stack_guard_begin(stack);
    abti_guard_remove(at, (size_t)(stack->base - at), stack->kind != ABTI_STACK_DEFAULT, (enum abti_guard)stack->guard);
    stack->guard = ABTI_GUARD_NONE;
    stack->base = stack->low;
}

bool abti_stack_guard_by_name(struct abti_stack *stack)
{
    abti_assert(abti_guard_needs_page() && stack->kind != ABTI_STACK_DEFAULT);
    char *at = guard_place(stack);
    if (!at)
        return true;
    if (stack->guard == ABTI_GUARD_PAGE && abti_stack_guard_begin(stack) == at && abti_guard_renew(at))
        return true;
    stack_unguard(stack);
    return stack_guard(stack, abti_guard_least_room(), ABTI_GUARD_COUNTED, ABTI_CHUNK_NORMAL);
}

void abti_stack_open(struct abti_stack *stack)
{
    if (stack->guard == ABTI_GUARD_PAGE)
        stack_unguard(stack);
}

/*
 * Tells the tools of a stack that is ready. The first stack pointer is above what is written, and valgrind takes it
 * for a part of the stack.
 */
static struct abti_stack *stack_known(struct abti_stack *stack)
{
    if (abti_annotate_on)
        stack->valgrind_id = abti_annotate_stack_register(stack->base, (size_t)((char *)stack + 1 - stack->base));
    return stack;
}

/* Tells the tools that the stack's memory goes. */
static void stack_unknown(void *arg)
{
    struct abti_stack *stack = arg;
    if (!abti_annotate_on)
        return;
    abti_stack_forget(stack);
    abti_annotate_stack_unregister(stack->valgrind_id);
}

/*
 * Makes a stack in a cell of an arena. Consecutive ones begin at different colours. Returns NULL when it cannot be
 * guarded. In a class, the place of a guard that is asked for by name is known only when a stack is taken.
 */
static struct abti_stack *stack_make_in(const struct abti_slab_spec *spec, const struct abti_new_cell *cell,
                                        enum abti_stack_kind kind)
{
    size_t colour = cell->index % ABTI_STACK_COLOURS * ABTI_STACK_COLOUR_STEP;
    struct abti_stack *stack = stack_place(cell->at, cell->at + cell->size, STACK_HEADER + colour, spec->payload, kind);
    bool later = kind == ABTI_STACK_CLASS && abti_guard_needs_page();
    size_t room = cell->size == spec->arena.cell ? spec->guard : abti_guard_least_room();
    size_t nth = kind == ABTI_STACK_DEFAULT ? cell->index : ABTI_GUARD_COUNTED;
    return later || stack_guard(stack, room, nth, cell->origin) ? stack_known(stack) : NULL;
}

static void *stack_make(const struct abti_slab_spec *spec, const struct abti_new_cell *cell)
{
    struct abti_stack *stack = stack_make_in(spec, cell, ABTI_STACK_DEFAULT);
    if (stack)
        abti_stack_set_in_place_limit(stack, spec->payload);
    return stack;
}

/* A guard by name comes and goes, and so does the base; another one is no memory that could be looked at. */
ABTI_NO_SANITIZE void abti_stack_set_root(struct abti_stack *stack, bool root)
{
    const char *begin = abti_guard_needs_page() && stack->low ? stack->low : stack->base;
    if (stack->is_root == root)
        return;
    stack->is_root = root;
    if (root)
        abti_annotate_root_begin(begin, (size_t)(stack->end - begin));
    else
        abti_annotate_root_end(begin, (size_t)(stack->end - begin));
}

ABTI_NO_SANITIZE void abti_stack_alive(struct abti_stack *stack)
{
    abti_annotate_stack_alive(stack->base, (size_t)((char *)stack - stack->base));
    abti_stack_set_root(stack, true);
}

ABTI_NO_SANITIZE void abti_stack_dead(struct abti_stack *stack)
{
    abti_stack_set_root(stack, false);
    abti_annotate_stack_dead(stack->base, (size_t)((char *)stack - stack->base));
}

void abti_stack_forget(struct abti_stack *stack)
{
    abti_annotate_fiber_destroy(stack->tsan_fiber);
    stack->tsan_fiber = NULL;
    abti_stack_alive(stack);
    abti_stack_set_root(stack, false);
}

/* Gives the memory of a free stack back. Guard pages that the kernel has made stay, and may be made again. */
static void stack_retire(void *object)
{
    struct abti_stack *stack = object;
    char *low = stack->low, *header_end = (char *)stack + STACK_HEADER;
    size_t page = abti_vm_page_size();
    stack_unknown(stack);
    stack_unguard(stack);
    abti_vm_release(low, abti_round_up((size_t)(header_end - low), page));
}

/* An odd number of pages, so that the tops fall into all sets of a TLB. One is for the header and the colours. */
static size_t cell_size(size_t bytes)
{
    _Static_assert(STACK_HEADER + ABTI_STACK_COLOURS * ABTI_STACK_COLOUR_STEP <= 4096, "header and colours fit a page");
    size_t page = abti_vm_page_size(), pages = abti_round_up(bytes, page) / page + 1;
    return (pages | 1) * page;
}

/*
 * Describes stacks with `size` usable bytes, and with `room` more that costs no memory. In huge pages guard pages would
 * cost memory, and are none.
 */
static void stack_spec(struct abti_slab_spec *spec, size_t size, size_t room, size_t chunk, bool huge)
{
    bool in_huge_pages = huge && abti_chunk_policy() > ABTI_LP_MMAP_RP;
    *spec = (struct abti_slab_spec){
        .run = 64,
        .spares = 1,
        .batch = 4, /* what is in magazines has been touched, a page at least each */
        .retire = stack_retire,
        .unmake = abti_annotate_on ? stack_unknown : NULL, /* it would touch all of them */
        .payload = size,
        .guard = in_huge_pages ? abti_guard_least_room() : abti_guard_room(),
    };
    size_t cell = cell_size(size + room + spec->guard), cells = chunk / cell;
    /* A block is a cell, so that the excess of a chunk is used, too. */
    spec->arena = (struct abti_arena_spec){
        .cell = cell, .block = cell, .span = cell, .huge = huge, .lean = cell_size(size + abti_guard_least_room())};
    spec->arena.map = abti_chunk_map;
    spec->arena.chunk = (cells < 4 ? 4 : cells) * cell;
}

void abti_stack_slab_spec(struct abti_slab_spec *spec, size_t size, size_t chunk)
{
    /* A guard that is asked for by name is where the nominal size begins. */
    bool by_name = abti_guard_needs_page();
    stack_spec(spec, size, by_name && !has_few_pages(size) ? 0 : ABTI_STACK_ROOM, chunk, !by_name);
    spec->make = stack_make;
}

static size_t class_size(unsigned size_class)
{
    return (size_t)STACK_SMALLEST_CLASS << size_class;
}

unsigned abti_stack_class_of(size_t size)
{
    unsigned size_class = 0;
    while (size_class < ABTI_STACK_CLASSES && class_size(size_class) < size)
        size_class++;
    return size_class;
}

static void *stack_make_of_class(const struct abti_slab_spec *spec, const struct abti_new_cell *cell)
{
    struct abti_stack *stack = stack_make_in(spec, cell, ABTI_STACK_CLASS);
    if (stack)
        stack->size_class = (uint8_t)abti_stack_class_of(spec->payload);
    return stack;
}

void abti_stack_class_spec(struct abti_slab_spec *spec, unsigned size_class, size_t kept)
{
    enum { MAX_BATCH = 4 };
    size_t batch = kept / class_size(size_class) / 2; /* a cache has two magazines */
    stack_spec(spec, class_size(size_class), 0, STACK_CLASS_CHUNK, false);
    spec->make = stack_make_of_class;
    spec->run = 1;
    spec->batch = batch < 1 ? 1 : batch > MAX_BATCH ? MAX_BATCH : (unsigned)batch;
}

struct abti_stack *abti_stack_map(size_t size)
{
    size_t room = abti_guard_room(), bytes = abti_round_up(size + STACK_HEADER, abti_vm_page_size()) + room;
    char *low = bytes > size ? abti_vm_map(bytes) : NULL;
    if (!low)
        return NULL;
    struct abti_stack *stack = stack_place(low, low + bytes, STACK_HEADER, size, ABTI_STACK_MAPPED);
    if (stack_guard(stack, room, ABTI_GUARD_COUNTED, ABTI_CHUNK_NORMAL))
        return stack_known(stack);
    abti_vm_unmap(low, bytes);
    return NULL;
}

struct abti_stack *abti_stack_adopt(void *addr, size_t size)
{
    enum { SMALLEST = STACK_HEADER + 64 + 512, CREDIBLE = 1 << 30 };
    char *end = (char *)((uintptr_t)addr + size);
    if (size < SMALLEST || end < (char *)addr || (size > CREDIBLE && !abti_vm_is_mapped(end - 1)))
        return NULL;
    struct abti_stack *stack = stack_place(addr, end, STACK_HEADER, size, ABTI_STACK_USER);
    if (abti_guard_is_strict() && !guard_place(stack))
        return NULL;
    stack->guard = (uint8_t)abti_guard_install_user(addr);
    return stack_known(stack);
}

void abti_stack_destroy(struct abti_stack *stack)
{
    abti_assert(stack->kind == ABTI_STACK_MAPPED || stack->kind == ABTI_STACK_USER);
    stack_unknown(stack);
    abti_stack_open(stack);
    if (stack->kind == ABTI_STACK_MAPPED)
        abti_vm_unmap(stack->low, (size_t)((char *)stack + STACK_HEADER - stack->low));
}
