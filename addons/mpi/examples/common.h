/* SPDX-License-Identifier: BSD-3-Clause */
/* What the examples of MPI share. A call of MPI that fails ends the program: that is the default of MPI. */
#ifndef MPI_EXAMPLES_COMMON_H
#define MPI_EXAMPLES_COMMON_H

#include "team.h"

#include <mpi.h>
#include <stdio.h>

/* Initialises MPI for calls of several native threads at a time. */
void begin_mpi(int *argc, char ***argv, int *rank, int *num_ranks);

/* Whether libabtmpi is there: a ULT that waits in MPI suspends only itself. */
int can_suspend(void);

/* Starts streams that share one pool: one that has nothing else to do runs the ULT whose message has come. */
void start_team(struct team *team, int num_streams);

/* Ends all processes. */
_Noreturn void give_up(const char *why);

#endif
