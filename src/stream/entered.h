/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams around native threads that were there before: the primary one, of ABT_init, and those that threads have
 * entered by ABTX_xstream_enter. What such a thread runs is a ULT of the stream, on the thread's own stack, and the
 * main scheduler has a stack of its own, on which it does not begin before that ULT first waits or yields.
 */
#ifndef ABTI_STREAM_ENTERED_H
#define ABTI_STREAM_ENTERED_H

#include "base/compiler.h"
#include "rt/types.h"

/*
 * Makes a stream around the calling native thread. Its main scheduler has been claimed. With rank 0 it is the primary
 * one, with ABTI_RANK_ENTERED it gets a rank of entered streams. Returns an ABT code.
 */
int abti_es_enter(abti_sched *sched, int rank, abti_es **es) ABTI_MUST_CHECK;

/*
 * Runs what is queued in the pools of the stream to its end, and ends the main scheduler. Called by the ULT that the
 * thread became, as is all below.
 */
void abti_es_finish(abti_es *es);

/* Frees the stream, when the main scheduler has ended or has never begun: the caller is a plain native thread again. */
void abti_es_leave(abti_es *es);

/*
 * Does so after abti_es_finish, with the destructors of keys called before and the tools informed. Returns the main
 * scheduler, which is the caller's to release.
 */
abti_sched *abti_es_end_entered(abti_es *es);

/* The stream, which was entered, becomes the primary one. Returns an ABT code. */
int abti_es_promote(abti_es *es) ABTI_MUST_CHECK;

/* The opposite. */
void abti_es_demote(abti_es *es);

/* Frees the records of streams that were left, which are kept for those that come. */
void abti_es_free_kept(void);

/* In the child of a fork: there are none. */
void abti_es_forget_kept(void);

#endif
