/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells on stderr of ULTs that wait for stacks because there is no memory, after a while without any change. */
#ifndef ABTI_POOL_SHORTAGE_H
#define ABTI_POOL_SHORTAGE_H

#include "rt/types.h"

/*
 * Notes that the ES, which runs a scheduler with these pools, has found no stack for a ULT and nothing else to run, at
 * least in this round.
 */
void abti_shortage_note(abti_es *es, abti_pool *const *pools, int num);

/* In the child of a fork: nothing was ever noted. */
void abti_shortage_forget(void);

#endif
