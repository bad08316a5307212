/* The streams there are: their ranks and indices. */
#ifndef ABTI_STREAM_LIST_H
#define ABTI_STREAM_LIST_H

#include <stdbool.h>
#include "base/compiler.h"
#include "rt/types.h"

int abti_es_set_rank(abti_es *es, int rank) ABTI_MUST_CHECK;

/* No ES has the rank now. */
bool abti_es_rank_is_free(int rank);

/* The ES, which is not running yet, gets its index and its rank; -1: the smallest free one. ABT code. */
int abti_es_list_enter(abti_es *es, int rank) ABTI_MUST_CHECK;

/* It runs no more. On return nobody looks at it by its index. */
void abti_es_list_leave(abti_es *es);

#endif
