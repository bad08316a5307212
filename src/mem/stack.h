/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of ULTs. A stack's header is at its high end, so that the header, the entry frame and the first frames of a
 * unit share one page: a blocked ULT costs that page and its descriptor.
 *
 *           base                                    limit        top                 end
 *   | guard | room for joinees run in place  ...    | nominal    | header | colour   |
 *
 * A lean stack, which is made where address space is short or locked in memory, has a guard of one page and no room.
 * A guard page that is asked for by name (mprotect) is where programs look for it, at the first page boundary of the
 * nominal size, and there is no room below.
 *
 * Default stacks come from a slab. They are mapped with untouched address space beyond their nominal size, which units
 * that a joiner runs in place on the rest of its own stack may use; it costs no memory. Colours spread the headers over
 * the cache sets, since equal offsets in equal pages would make the stacks of many ULTs compete for the same few.
 *
 * Stacks of other sizes come from slabs, too, one for each power of two: what is not touched costs address space only.
 * Larger ones have a mapping each.
 */
#ifndef ABTI_MEM_STACK_H
#define ABTI_MEM_STACK_H

#include "arch/cpu.h"
#include "mem/guard.h"
#include "mem/slab.h"

enum {
    ABTI_STACK_ROOM = 64 * 1024,
    ABTI_STACK_COLOURS = 16,
    ABTI_STACK_COLOUR_STEP = 192,
    ABTI_STACK_CLASSES = 11, /* 16 KiB, 32 KiB, ... 16 MiB */
};

enum abti_stack_kind {
    ABTI_STACK_DEFAULT, /* from the slab, default size */
    ABTI_STACK_CLASS,   /* from a class's slab */
    ABTI_STACK_MAPPED,  /* a mapping of its own */
    ABTI_STACK_USER,    /* the user's memory */
};

struct abti_stack {
    union {
        struct abti_node node; /* while free and without a magazine */
        uint64_t blocked_ns;   /* when its unit has blocked, see abti_wait_for in run/block.h */
    };
    char *base;           /* lowest usable address */
    char *end;            /* past the highest one the user may learn of: get_stack reports [end - size, end) */
    size_t size;          /* nominal size: at least this much is below `top` */
    char *in_place_limit; /* a unit may start in place while the stack pointer is above this, and below `high` */
    char *high;       /* past its highest address, as far as that is known. The program may run on other stacks, too,
                         where a stack pointer is above all of this one */
    char *low;        /* where its memory begins, guard page included */
    void *tsan_fiber; /* created when first used, NULL without TSan */
    uint32_t valgrind_id; /* as valgrind knows it; 0 without */
    uint8_t fiber_uses;   /* units that have started with it */
    uint8_t kind : 7;     /* enum abti_stack_kind */
    uint8_t is_root : 1;  /* ASan looks for pointers in it */
    uint8_t guard;        /* enum abti_guard */
    uint8_t size_class;   /* of ABTI_STACK_CLASS */
};

/* Sets in_place_limit: a whole default stack must be left, and something for the switch itself. */
ABTI_INLINE void abti_stack_set_in_place_limit(struct abti_stack *stack, size_t default_size)
{
    enum { MARGIN = 2048 };
    stack->in_place_limit = stack->base + default_size + MARGIN;
}

/*
 * Whether a unit may start in place on what is left below the caller's frame. The running ULT's stack is not always the
 * one that the stack pointer is in: programs have coroutines with stacks of their own.
 */
ABTI_INLINE bool abti_stack_has_room_in_place(const struct abti_stack *stack)
{
    char *sp = abti_cpu_sp();
    return sp >= stack->in_place_limit && sp < stack->high;
}

/* Lets no unit run in place: no address of a program is above this limit. */
ABTI_INLINE void abti_stack_forbid_in_place(struct abti_stack *stack)
{
    stack->in_place_limit = (char *)(UINTPTR_MAX >> 1);
}

/* Returns the first stack pointer of a unit on this stack, which is 16-byte aligned. */
ABTI_INLINE void *abti_stack_top(struct abti_stack *stack)
{
    return stack;
}

/* Describes the slab of default stacks of `size` bytes, in chunks of at least `chunk` bytes or four stacks. */
void abti_stack_slab_spec(struct abti_slab_spec *spec, size_t size, size_t chunk);

/* Returns the smallest class of stacks with room for `size` bytes. ABTI_STACK_CLASSES: there is none. */
unsigned abti_stack_class_of(size_t size);
/*
 * Describes the slab of a class. It consists of normal pages, since there are few such stacks. `kept` says how many
 * bytes in free stacks of one class a cache may hold, if it can.
 */
void abti_stack_class_spec(struct abti_slab_spec *spec, unsigned size_class, size_t kept);

/* Maps a stack of any size by itself. Returns NULL when there is no memory. */
struct abti_stack *abti_stack_map(size_t size);

/* Whether the stack's guard is a canary, at which somebody has to look. */
ABTI_INLINE bool abti_stack_has_canary(const struct abti_stack *stack)
{
    return ABTI_UNLIKELY(stack->guard == ABTI_GUARD_CANARY);
}

/* Returns where its guard begins, which ends at the base; the base if it has none of its own. */
char *abti_stack_guard_begin(const struct abti_stack *stack);

/* Whether something has been written over it. */
ABTI_INLINE bool abti_stack_is_overrun(const struct abti_stack *stack)
{
    return abti_stack_has_canary(stack) && abti_guard_is_broken(stack->low);
}

/*
 * Turns the user's memory into a stack. Returns NULL when it is too small to hold the header and a frame, and a guard
 * where none may be missing, or when it is so large that it cannot exist, and does not.
 */
struct abti_stack *abti_stack_adopt(void *addr, size_t size);

/*
 * Sees to it, if abti_guard_needs_page, that the guard page of a stack is where it belongs and is protected, whatever
 * a user-defined handler has done to it. The stack's kind is not DEFAULT, and its size is set. False when a page is a
 * must and cannot be had.
 */
bool abti_stack_guard_by_name(struct abti_stack *stack) ABTI_MUST_CHECK;
/* Opens the guard page of a stack in the user's memory: the unit has ended, and the user may want the page. */
void abti_stack_open(struct abti_stack *stack);
/* Tell the tools that the stack has a unit again, or none; then it is a mistake to look at the stack. */
void abti_stack_alive(struct abti_stack *stack) ABTI_NO_SANITIZE;
void abti_stack_dead(struct abti_stack *stack) ABTI_NO_SANITIZE;
/* Memory that the stack of a unit points to is no leak. alive and dead call it. */
void abti_stack_set_root(struct abti_stack *stack, bool root) ABTI_NO_SANITIZE;
/* Tells the tools that nobody runs on the stack any more. The caller runs on another one. */
void abti_stack_forget(struct abti_stack *stack);
/* Gives back a stack that does not come from a slab. */
void abti_stack_destroy(struct abti_stack *stack);

#endif
