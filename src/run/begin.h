/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ULTs begin: abti_rt.ult_entry leads to one of the functions of begin.c. */
#ifndef ABTI_RUN_BEGIN_H
#define ABTI_RUN_BEGIN_H

/*
 * Sets abti_rt.ult_entry anew, after abti_stackuse_is_on has changed, and lets no more units run in place on the
 * calling stream while it is on.
 */
void abti_entry_watch(void);

/* Calls the functions of units, the running one's first. It is where ULTs begin that are no samples. */
void abti_ult_main(void);

#endif
