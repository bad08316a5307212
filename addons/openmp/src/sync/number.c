/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers by which tasks own nestable locks. */
#include "omp.h"

#include <stdlib.h>

/* Numbers of members that have ended: spare_lock. A number that is lost serves no more, which takes no harm. */
static _Atomic(uint32_t) spare_lock;
static struct abtomp_numbers spare;

static bool make_room(struct abtomp_numbers *numbers, uint32_t all)
{
    uint32_t *unused = realloc(numbers->unused, all * sizeof(unused[0]));
    if (!unused)
        return false;
    numbers->unused = unused;
    numbers->all = all;
    return true;
}

static uint32_t new_number(void)
{
    static uint32_t last;
    abtomp_mutex_lock(&spare_lock);
    uint32_t number = spare.num > 0 ? spare.unused[--spare.num] : ++last;
    abtomp_mutex_unlock(&spare_lock);
    return number;
}

void abtomp_numbers_free(struct abtomp_member *me)
{
    struct abtomp_numbers *numbers = &me->numbers;
    if (numbers->all == 0)
        return;
    abtomp_number_return(me);
    abtomp_mutex_lock(&spare_lock);
    if (spare.all - spare.num >= numbers->num || make_room(&spare, spare.num + numbers->num))
        while (numbers->num > 0)
            spare.unused[spare.num++] = numbers->unused[--numbers->num];
    abtomp_mutex_unlock(&spare_lock);
    free(numbers->unused);
}

/* A task returns its number, so that there are as many as tasks own locks, or have owned some, at the same time. */
uint32_t abtomp_number(struct abtomp_member *me)
{
    struct abtomp_numbers *numbers = &me->numbers;
    if (ABTOMP_LIKELY(me->running.number != 0))
        return me->running.number;
    if (numbers->num == 0) {
        if (!make_room(numbers, numbers->all + 1))
            abtomp_fail("out of memory");
        numbers->unused[numbers->num++] = new_number();
    }
    return me->running.number = numbers->unused[--numbers->num];
}
