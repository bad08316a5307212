/* What a stream learns that steals from the pools of others: whether its booty is worth what it costs them both. */
#ifndef ABTI_POOL_THIEF_H
#define ABTI_POOL_THIEF_H

#include <stdbool.h>
#include <stdint.h>
#include "rt/types.h"

/* What a scheduler that steals remembers. Of zeros at first; of its own ES, as are the functions. */
struct abti_thief {
    uint64_t got_ns;  /* when it got the last unit from a busy ES; 0: that has been looked at, or nobody was busy */
    uint64_t rest_ns; /* it rests until then; 0: it does not */
    uint64_t cost_ns; /* what it takes to get a unit that nobody grants; 0: that is not known */
    uint32_t smalls;  /* so many of the last units that it got from a busy ES were too small */
    uint32_t refused; /* so often in a row it went without, since others asked or nothing was left */
};

/*
 * A unit from the far end of a pool; NULL: it is empty, or is to be left alone for now. May take some microseconds.
 */
abti_unit *abti_steal(struct abti_thief *thief, abti_pool *pool);

/* The thief had better not even look at the pool now. */
bool abti_thief_avoids(struct abti_thief *thief, abti_pool *pool);

#endif
