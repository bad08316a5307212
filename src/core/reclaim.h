/* Gives memory back that free objects hold, when there is much of it and nobody has needed it for some time. */
#ifndef ABTI_CORE_RECLAIM_H
#define ABTI_CORE_RECLAIM_H

/* A depot is crowded: sees to it that somebody gives memory back. Any thread; takes long the first time only. */
void abti_reclaim_start(void);

/* Ends that. Nobody uses the slabs any more. */
void abti_reclaim_fini(void);

#endif
