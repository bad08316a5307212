/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/ownstack.h"

#include "base/assert.h"
#include "mem/lazycache.h"
#include "os/annotate.h"
#include "rt/rt.h"

void abti_ownstacks_init(size_t kept, void (*watch)(struct abti_slab_spec *, size_t))
{
    for (unsigned size_class = 0; size_class < ABTI_STACK_CLASSES; size_class++) {
        struct abti_slab_spec spec;
        abti_stack_class_spec(&spec, size_class, kept);
        watch(&spec, kept / spec.payload);
        abti_slab_init(&abti_rt.class_slabs[size_class], &spec);
    }
}

void abti_ownstacks_flush(struct abti_ownstacks *stacks)
{
    for (unsigned size_class = 0; size_class < ABTI_STACK_CLASSES; size_class++)
        abti_lazycache_flush(stacks->caches[size_class]);
}

void abti_ownstacks_fini(struct abti_ownstacks *stacks)
{
    for (unsigned size_class = 0; size_class < ABTI_STACK_CLASSES; size_class++)
        abti_lazycache_fini(&stacks->caches[size_class]);
}

static struct abti_stack *take_from(struct abti_ownstacks *stacks, unsigned size_class)
{
    return abti_lazycache_get(&stacks->caches[size_class], &abti_rt.class_slabs[size_class]);
}

static void give_to(struct abti_ownstacks *stacks, struct abti_stack *stack)
{
    abti_lazycache_put(&stacks->caches[stack->size_class], &abti_rt.class_slabs[stack->size_class], stack);
}

struct abti_stack *abti_ownstack_take(abti_es *es, size_t size)
{
    unsigned size_class = abti_stack_class_of(size);
    struct abti_stack *stack = NULL;
    if (size_class < ABTI_STACK_CLASSES) {
        if (es) {
            stack = take_from(&es->ownstacks, size_class);
        } else {
            abti_spin_lock(&abti_rt.external_lock);
            stack = take_from(&abti_rt.external_stacks, size_class);
            abti_spin_unlock(&abti_rt.external_lock);
        }
    }
    if (!stack)
        return abti_stack_map(size); /* no class is so large, or there is no memory for a chunk of many stacks */
    stack->size = size;
    if (abti_annotate_on)
        abti_stack_alive(stack);
    if (ABTI_UNLIKELY(abti_guard_needs_page()) && !abti_stack_guard_by_name(stack)) {
        abti_ownstack_give(es, stack);
        return NULL;
    }
    return stack;
}

void abti_ownstack_give(abti_es *es, struct abti_stack *stack)
{
    abti_assert(stack && es == abti_es_self);
    if (stack->kind != ABTI_STACK_CLASS) {
        abti_stack_destroy(stack);
        return;
    }
    /* Its unit has ended, and so nobody is on it. */
    if (abti_annotate_on)
        abti_stack_dead(stack);
    if (es) {
        give_to(&es->ownstacks, stack);
    } else {
        abti_spin_lock(&abti_rt.external_lock);
        give_to(&abti_rt.external_stacks, stack);
        abti_spin_unlock(&abti_rt.external_lock);
    }
}
