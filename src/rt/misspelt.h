/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in the environment that nobody reads. */
#ifndef ABTI_RT_MISSPELT_H
#define ABTI_RT_MISSPELT_H

/*
 * Says on stderr which variables are almost ours, with the name that may be meant, and which have no effect; once in a
 * process. Names that resemble none of ours are other software's.
 */
void abti_misspelt_tell(void);

#endif
