/* Gives memory back that free objects hold, when there is much of it and nobody has needed it for some time. */
#ifndef ABTI_STREAM_RECLAIM_H
#define ABTI_STREAM_RECLAIM_H

#include "mem/slab.h"

/*
 * In ABT_init, before the first slab. A fork may come at any time from now on; its child goes on with one stream, and
 * gives memory back, too.
 */
void abti_reclaim_init(void);

/* More than `kept` free objects, at least one, in the depot of a slab to be are too many: memory is given back then. */
void abti_reclaim_watch(struct abti_slab_spec *spec, size_t kept);

/* Ends that. Nobody uses the slabs any more. */
void abti_reclaim_fini(void);

#endif
