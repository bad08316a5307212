/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of all streams, under rt.lock, and their indices in rt.by_index, by which others find a stream without a
 * lock. An index is the stream's own as long as it is in the list, a rank may change.
 */
#ifndef ABTI_STREAM_LIST_H
#define ABTI_STREAM_LIST_H

#include <stdbool.h>
#include "base/compiler.h"
#include "rt/types.h"

/*
 * Streams that native threads have entered have ranks of their own, from ABTI_ENTERED_RANKS on, so that those of the
 * program have the small ones. Their ranks come from their indices, of which none is 0: default CPUs go by ranks, and
 * that of a thread which enters is not to be that of the primary stream. They are the end of the list, in no order:
 * thousands of members of a team come and go without a walk.
 */
enum { ABTI_ENTERED_RANKS = 1 << 16 };

/* In place of a rank: the smallest free one of the program's streams, or one of entered streams. */
enum { ABTI_RANK_ANY = -1, ABTI_RANK_ENTERED = -2 };

/*
 * Takes the ES, which is not running yet, into the list, with an index and a rank, or a free one of the kind that
 * `rank` says. Returns an ABT code.
 */
int abti_es_list_enter(abti_es *es, int rank) ABTI_MUST_CHECK;

/* Takes the ES out. It runs no more, and on return no thread looks at it by its index. */
void abti_es_list_leave(abti_es *es);

/* Gives the ES another rank, which is free, or one of the kind that `rank` says. */
void abti_es_list_move(abti_es *es, int rank);

/* Whether no ES has the rank at this moment. 0 is never free: it is the primary one's. */
bool abti_es_rank_is_free(int rank);

/* Gives the ES another rank, and binds its native thread to the CPUs that the rank stands for. Returns an ABT code. */
int abti_es_set_rank(abti_es *es, int rank) ABTI_MUST_CHECK;

/*
 * In the child of a fork, before abti_rt_forget: what is kept by the indices of the ESs is as new. The ESs themselves
 * are no more, their memory is lost.
 */
void abti_es_list_forget(void);

#endif
