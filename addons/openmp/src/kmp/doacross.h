/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of clang whose iterations wait for others. The program first says how many there are of each loop, then begins
 * the outermost ones as a loop like any other, by which their share gets to know which member has which.
 */
#ifndef ABTOMP_DOACROSS_H
#define ABTOMP_DOACROSS_H

#include "loop/share.h"
#include "kmp/kmp.h"

/* One of the loops whose iterations wait for others. */
struct kmp_dimension {
    int64_t lower, upper, step;
};

struct abtomp_crossing {
    const struct kmp_dimension *dimensions; /* of the program, as long as the loop lasts */
    uint32_t num, num_outer;                /* of all loops, and of those whose iterations members divide */
    uint64_t extra;                         /* iterations of a loop less the distance of its ends: 0 or 1 */
    uint64_t counts[2];                     /* iterations that members divide, and in each of them */
    bool is_static;                         /* the member has its iterations from no share */
    bool has_begun;
};

/* The member's next loop is one whose iterations wait for others. */
void abtomp_crossing_begin(struct abtomp_crossing *crossing, struct abtomp_loop *loop);

/* Whether the loop that the member begins is the one that was announced. */
static inline bool abtomp_crossing_comes(const struct abtomp_member *me)
{
    return ABTOMP_UNLIKELY(me->crossing != NULL) && !me->crossing->has_begun;
}

#endif
