/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that begin and end MPI. */
#ifndef ABTMPI_OWN_H
#define ABTMPI_OWN_H

int abtmpi_own_init(int *argc, char ***argv);
int abtmpi_own_init_thread(int *argc, char ***argv, int required, int *provided);
int abtmpi_own_finalize(void);

#endif
