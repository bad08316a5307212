/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Static probes (USDT) at the events of units, for perf, bpftrace and gdb: a note in the library and a nop each, made
 * by sys/sdt.h where the build has it. They are passed while somebody listens to events as ABTI_LISTENER_PROBES, since
 * the quick paths know of none.
 */
#ifndef ABTI_WATCH_PROBES_H
#define ABTI_WATCH_PROBES_H

/* The probes are passed from now on, until ABT_finalize. Without sys/sdt.h a line on stderr says that there are none.
 */
void abti_probes_begin(void);

#endif
