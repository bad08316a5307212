/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The poller: a native thread that serves the rings of streams which do not check events for some time, since a
 * unit computes there, or blocks the stream's thread. It looks at all rings every few milliseconds, as long as a stream
 * that has something in its ring is awake; otherwise it sleeps, and the first such stream to wake wakes it.
 *
 * It is no stream's thread. What a thread has given to a ring is bound to that thread: the kernel does its part there,
 * and not all of it when the thread has ended (Linux 6.18: the operation fails when what it waits for comes, and its
 * deadline is not kept). The poller lasts as long as there are rings.
 *
 * Its sleep. It says that it is going to sleep, looks at all rings once more, each under its lock, and sleeps if none
 * needs it. A stream that has made its ring need it under that lock looks then, still under it, whether the poller
 * sleeps. If it has held the lock after the poller it sees that; else the poller has seen the need.
 */
#ifndef ABTIO_POLLER_H
#define ABTIO_POLLER_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Begins it, if it is not there: it calls `poll` from now on, which says whether it is to be called again soon. False:
 * it cannot be had.
 */
bool abtioi_poller_begin(bool (*poll)(void));

/* Ends it, if it is there: on return it calls nothing any more. */
void abtioi_poller_end(void);

/* In the child of a fork: it is not there. */
void abtioi_poller_forget(void);

/* It sleeps, or is about to. */
extern atomic_bool abtioi_poller_sleeps;

void abtioi_poller_wake(void);

/* Something needs it. */
static inline void poller_need(void)
{
    /* seq_cst: with the store in poller_main, see above; and for callers without a lock, see abtioi_channel_ask */
    if (__builtin_expect(atomic_load(&abtioi_poller_sleeps), 0))
        abtioi_poller_wake();
}

#endif
