#include "run/switch.h"

#include <limits.h>
#include "run/overflow.h"

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    if (abti_stack_is_overrun(self->stack))
        abti_overflow_abort(self);
    if (ABTI_LIKELY(next != NULL)) {
        if (ABTI_LIKELY(abti_is_resumable(next))) {
            abti_set_running(es, next);
            return abti_switch(self, next, after, arg);
        }
        if (abti_is_startable(next) && abti_take_stack(es, next)) {
            abti_set_running(es, next);
            return abti_start(self, next, after, arg);
        }
    }
    es->handoff = next;
    es->cur = es->parent;
    return abti_switch(self, es->parent, after, arg);
}
