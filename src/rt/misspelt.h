/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in the environment that nobody reads. */
#ifndef ABTI_RT_MISSPELT_H
#define ABTI_RT_MISSPELT_H

/*
 * Says on stderr which variables have no effect, and, with ABT_PRINT_CONFIG, which names are none of ours: those may be
 * other software's. Once in a process.
 */
void abti_misspelt_tell(void);

#endif
