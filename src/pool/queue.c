/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/queue.h"

bool abti_queue_remove(struct abti_queue *q, abti_unit *unit)
{
    _Atomic(abti_unit *) *link = &q->head; /* relaxed, here as in pool/queue.h: the guard orders everything */
    while (link != q->last && abti_load_relaxed(link) != unit)
        link = ABTI_QUEUE_LINK(abti_load_relaxed(link));
    if (link == q->last)
        return false;
    abti_unit *next = abti_queue_next(q, unit);
    abti_store_relaxed(link, next);
    if (!next)
        q->last = link;
    abti_cpu_add(&q->size, -1);
    return true;
}
