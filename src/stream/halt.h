/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halting, for dumps that signal handlers ask for: every running ES stops at its next event check, one of them does
 * something meanwhile, then all go on.
 */
#ifndef ABTI_STREAM_HALT_H
#define ABTI_STREAM_HALT_H

#include <abt.h>
#include <stdbool.h>
#include "rt/types.h"

struct abti_halt_request {
    double timeout; /* seconds, counted from when the first ES halts; negative: for ever */
    /* Is called on one ES when all have halted or the time is up. No pool is destroyed before it returns. */
    void (*act)(const struct abti_halt_request *request, bool timed_out);
    FILE *fp;                                    /* for act */
    void (*done)(ABT_bool timed_out, void *arg); /* is called after act, while the others still wait; NULL: none */
    void *arg;
};

/*
 * Posts a request. It is async-signal-safe. The request is dropped while an earlier one is pending, until its `done`,
 * and when the library is not up.
 */
void abti_halt_post(const struct abti_halt_request *request);

/* Halts the calling ES, which has been asked to, and returns when all may go on. */
void abti_halt_arrive(abti_es *es);

/* Whether the ES runs nothing while act does its work. The caller holds rt.lock. */
bool abti_halt_is_still(abti_es *es);

/* Waits until no abti_halt_post looks at an ES that the caller has taken out of rt.by_index and is about to free. */
void abti_halt_wait_for_posters(void);

/* Forgets, in ABT_init, what was asked for before the last ABT_finalize. */
void abti_halt_reset(void);

/* In the child of a fork: nothing was ever asked for. */
void abti_halt_forget(void);

#endif
