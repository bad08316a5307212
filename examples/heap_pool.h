/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool of one's own that hands out the most urgent work unit first; see heap_pool.c. */
#ifndef EXAMPLES_HEAP_POOL_H
#define EXAMPLES_HEAP_POOL_H

#include <abt.h>

/* Creates such a pool. The argument of each work unit in it must point to a struct that begins with an int: the
 * smaller, the more urgent. A unit without argument, as main() is one, comes last. */
ABT_pool heap_pool_create(void);

#endif
