/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_SYS_CPUSET_H
#define FOREIGN_SYS_CPUSET_H

#define CPU_SETSIZE 1024

typedef struct {
    long bits[CPU_SETSIZE / 64];
} cpuset_t;

/* Macros, there. */
void CPU_ZERO(cpuset_t *set);
void CPU_SET(int cpu, cpuset_t *set);
int CPU_ISSET(int cpu, const cpuset_t *set);
int CPU_COUNT(const cpuset_t *set);

#endif
