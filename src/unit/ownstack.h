/*
 * Stacks that units have from creation to free, since they are of another size than the default one: taken from caches
 * of the size's class, so that making and freeing such units asks nothing of the system in the long run.
 */
#ifndef ABTI_UNIT_OWNSTACK_H
#define ABTI_UNIT_OWNSTACK_H

#include "rt/self.h"

/* Before the first stack is taken. `kept`: bytes in free stacks of a class; `watch`: as for abti_ktables_init. */
void abti_ownstacks_init(size_t kept, void (*watch)(struct abti_slab_spec *spec, size_t kept));

/* What is free goes to the depots, for others to take. */
void abti_ownstacks_flush(struct abti_ownstacks *stacks);
void abti_ownstacks_fini(struct abti_ownstacks *stacks);

/* A stack of at least `size` bytes. es: the caller's, NULL for external threads. NULL when there is no memory. */
struct abti_stack *abti_ownstack_take(abti_es *es, size_t size) ABTI_MUST_CHECK;
/* It may be the user's memory, too, which is let go. */
void abti_ownstack_give(abti_es *es, struct abti_stack *stack);

#endif
