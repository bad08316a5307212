#include "core/queue.h"

bool abti_queue_remove(struct abti_queue *q, abti_unit *unit)
{
    _Atomic(abti_unit *) *link = &q->head;
    for (;;) {
        abti_unit *at = abti_load_relaxed(link);
        if (!at)
            return false;
        if (at == unit)
            break;
        link = ABTI_QUEUE_LINK(at);
    }
    abti_store_relaxed(link, unit->next);
    if (!unit->next)
        q->last = link;
    abti_cpu_add(&q->size, -1);
    return true;
}
