/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose iterations wait for others (doacross). */
#include "kmp/doacross.h"
#include "ompt/tool.h"

#include <stdlib.h>

/* How far a number of the loop's variable is from its first one, in steps. What is before that is very far. */
static uint64_t steps_between(const struct kmp_dimension *of, int64_t from, int64_t to)
{
    uint64_t up = (uint64_t)to - (uint64_t)from;
    return of->step > 0 ? up / (uint64_t)of->step : -up / -(uint64_t)of->step;
}

static uint64_t count_of(const struct abtomp_crossing *crossing, uint32_t which)
{
    const struct kmp_dimension *of = &crossing->dimensions[which];
    return steps_between(of, of->lower, of->upper) + crossing->extra;
}

/* Whether the first loops have as many iterations as members divide: then those are their numbers. */
static bool find_outer(struct abtomp_crossing *crossing, uint64_t num)
{
    uint64_t product = 1;
    for (crossing->num_outer = 1; crossing->num_outer <= crossing->num; crossing->num_outer++) {
        product *= count_of(crossing, crossing->num_outer - 1);
        if (product == num)
            return true;
    }
    return false;
}

/* Compilers do not agree on whether the upper end of a dimension is in it: the number of iterations tells. */
void abtomp_crossing_begin(struct abtomp_crossing *crossing, struct abtomp_loop *loop)
{
    crossing->has_begun = true;
    crossing->extra = 0;
    if (!find_outer(crossing, loop->num)) {
        crossing->extra = 1;
        if (!find_outer(crossing, loop->num))
            crossing->num_outer = 1;
    }
    crossing->counts[0] = loop->num;
    crossing->counts[1] = 1;
    for (uint32_t i = crossing->num_outer; i < crossing->num; i++)
        crossing->counts[1] *= count_of(crossing, i);
    loop->num_sinks = 2;
    loop->sink_counts = crossing->counts;
}

/* The iteration's numbers: among those that members divide, and inside of that. False: there is no such iteration. */
static bool number_of(const struct abtomp_crossing *crossing, const int64_t *vector, uint64_t *at)
{
    at[0] = at[1] = 0;
    for (uint32_t i = 0; i < crossing->num; i++) {
        const struct kmp_dimension *of = &crossing->dimensions[i];
        uint64_t number = steps_between(of, of->lower, vector[i]), count = count_of(crossing, i);
        if (number >= count)
            return false;
        uint64_t *one = &at[i >= crossing->num_outer];
        *one = *one * count + number;
    }
    return true;
}

ABTOMP_API void __kmpc_doacross_init(KMP_CALLER, int32_t num, const struct kmp_dimension *dimensions)
{
    struct abtomp_member *me = abtomp_self();
    me->crossing = abtomp_must_have(malloc(sizeof(*me->crossing)));
    *me->crossing = (struct abtomp_crossing){.dimensions = dimensions, .num = (uint32_t)num};
}

ABTOMP_API void __kmpc_doacross_post(KMP_CALLER, const int64_t *vector)
{
    struct abtomp_member *me = abtomp_self();
    uint64_t numbers[2];
    if (!me->crossing || !number_of(me->crossing, vector, numbers))
        return;
    if (ABTOMP_NOTED(0))
        abtomp_tool_vector(me, ompt_dependence_type_source, me->crossing->num, vector);
    abtomp_doacross_post(me, numbers);
}

ABTOMP_API void __kmpc_doacross_wait(KMP_CALLER, const int64_t *vector)
{
    struct abtomp_member *me = abtomp_self();
    uint64_t numbers[2];
    if (!me->crossing || me->team->num == 1 || !abtomp_doacross_of(me) || !number_of(me->crossing, vector, numbers))
        return;
    abtomp_doacross_await(me, numbers[0], numbers[0] * me->crossing->counts[1] + numbers[1]);
    if (ABTOMP_NOTED(0))
        abtomp_tool_vector(me, ompt_dependence_type_sink, me->crossing->num, vector);
}

ABTOMP_API void __kmpc_doacross_fini(KMP_CALLER)
{
    struct abtomp_member *me = abtomp_self();
    struct abtomp_crossing *crossing = me->crossing;
    if (crossing && crossing->is_static) {
        abtomp_doacross_leave(me);
        abtomp_share_leave(me);
    }
    free(crossing);
    me->crossing = NULL;
}
