/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ULTs begin: abti_rt.ult_entry leads to one of the functions of begin.c. */
#ifndef ABTI_RUN_BEGIN_H
#define ABTI_RUN_BEGIN_H

/* Sets abti_rt.ult_entry, in ABT_init and in the child of a fork. */
void abti_entry_choose(void);

/* Calls the functions of units, the running one's first. It is where ULTs begin, but for programs with TSan. */
void abti_ult_main(void);

#endif
