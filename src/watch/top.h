/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABT_TOP: a socket by which abt-top (tools/) looks at the program. A native thread sleeps until somebody connects and
 * sends a byte; the answer is a line of JSON (watch/topshot.h). Nothing else of the program takes part.
 *
 * The socket is libabt-top.PID in $XDG_RUNTIME_DIR, or in /tmp. Only its user may connect, by the mode of the file and
 * by what the system says of the other end. It is gone after ABT_finalize, and is not the child's after a fork.
 */
#ifndef ABTI_WATCH_TOP_H
#define ABTI_WATCH_TOP_H

/* At the end of ABT_init, if ABT_TOP says so. A failure is reported on stderr. */
void abti_top_start(void);

/* When no unit runs any more but the primary ULT. On return the thread is gone. */
void abti_top_stop(void);

#endif
