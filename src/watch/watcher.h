/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watch thread: a native thread that looks at the runtime from time to time, made only when something asks for it
 * (ABT_DEADLOCK_CHECK). It is gone after ABT_finalize, and in the child of a fork.
 */
#ifndef ABTI_WATCH_WATCHER_H
#define ABTI_WATCH_WATCHER_H

/* At the end of ABT_init. When the thread cannot be made that is reported on stderr, and nothing is watched. */
void abti_watcher_start(void);

/* When no unit runs any more but the primary ULT. On return the thread looks at nothing. */
void abti_watcher_stop(void);

#endif
