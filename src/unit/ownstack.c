/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/ownstack.h"

#include <stdlib.h>
#include "base/assert.h"
#include "mem/slab.h"
#include "os/annotate.h"
#include "rt/rt.h"

void abti_ownstacks_end(void)
{
    for (unsigned i = 0; i < ABTI_STACK_CLASSES; i++) {
        /* relaxed, both: no other thread is left */
        struct abti_slab *slab = abti_load_relaxed(&abti_rt.class_slabs[i]);
        abti_store_relaxed(&abti_rt.class_slabs[i], NULL);
        if (slab)
            abti_slab_fini(slab);
        free(slab);
    }
}

/* The slab of a class. The first unit that needs it makes it, since most programs need none. NULL: there is no memory.
 */
static struct abti_slab *obtain_slab(unsigned size_class)
{
    /* acquire: pairs with the acq_rel below, in obtain_slab */
    struct abti_slab *slab = abti_load_acquire(&abti_rt.class_slabs[size_class]), *fresh;
    if (ABTI_LIKELY(slab != NULL) || !(fresh = aligned_alloc(ABTI_CACHE_LINE, sizeof(*fresh))))
        return slab;
    struct abti_slab_spec spec;
    abti_stack_class_spec(&spec, size_class, abti_rt.kept);
    abti_slab_spec_watch(&spec, abti_rt.kept / spec.payload, abti_rt.stack_slab.spec.crowded);
    abti_slab_init(fresh, &spec);
    if (abti_cas_acq_rel(&abti_rt.class_slabs[size_class], &slab, fresh)) /* acq_rel: pairs with obtain_slab */
        return fresh;
    abti_slab_fini(fresh);
    free(fresh);
    return slab;
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

static struct abti_cache **cache_of(abti_es *es, unsigned size_class)
{
    return es ? &es->ownstacks.caches[size_class] : &abti_rt.external_stacks.caches[size_class];
}

struct abti_stack *abti_ownstack_take(abti_es *es, size_t size)
{
    unsigned size_class = abti_stack_class_of(size);
    struct abti_slab *slab = size_class < ABTI_STACK_CLASSES ? obtain_slab(size_class) : NULL;
    struct abti_stack *stack = NULL;
    if (slab) {
        abti_rt_begin_shared(es);
        stack = abti_lazycache_get(cache_of(es, size_class), slab);
        abti_rt_end_shared(es);
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
    abti_rt_begin_shared(es);
    /* relaxed: the stack has come from that slab, whose making so is before this */
    abti_lazycache_put(cache_of(es, stack->size_class), abti_load_relaxed(&abti_rt.class_slabs[stack->size_class]),
                       stack);
    abti_rt_end_shared(es);
}
