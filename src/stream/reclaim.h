/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives memory back that free objects hold, when there is much of it and it has not been needed for some time. */
#ifndef ABTI_STREAM_RECLAIM_H
#define ABTI_STREAM_RECLAIM_H

#include "mem/slab.h"

/*
 * Prepares, in ABT_init, before the first slab is made. A fork may come at any time from now on; its child goes on with
 * one stream, and gives memory back, too.
 */
void abti_reclaim_init(void);

/*
 * Says that in the depot of the slab that is to be made, more than `kept` free objects, and more than one, are too
 * many.
 */
void abti_reclaim_watch(struct abti_slab_spec *spec, size_t kept);

/* Ends the giving back. The slabs are not used any more. */
void abti_reclaim_fini(void);

#endif
