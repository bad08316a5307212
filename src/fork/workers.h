/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers: the streams that take forked tasks, the source that they ask for them, and all deques that there are. */
#ifndef ABTI_FORK_WORKERS_H
#define ABTI_FORK_WORKERS_H

#include "fork/deque.h"
#include "rt/types.h"

/* The stream takes tasks from now on, if it does not already. Returns an ABT code. */
int abti_workers_add(abti_es *es) ABTI_MUST_CHECK;
void abti_workers_remove_all(void);

/* The deque has public tasks, and answers to requests again: streams that wait look for them, beginning with one. */
void abti_workers_offer(struct abti_deque *deque);

/* Takes a free deque, or a new one. NULL: there is no memory, or there are too many. */
struct abti_deque *abti_workers_get_deque(void);
void abti_workers_put_deque(struct abti_deque *deque);

/* Streams may ask the deque for tasks from now on, or no more. */
void abti_workers_list(struct abti_deque *deque);
void abti_workers_unlist(struct abti_deque *deque);

/* The deque, which is listed and has no tasks, has a new owner. It does not owe what its last one was asked for. */
void abti_workers_relist(struct abti_deque *deque);

/* Frees the deques, unless a thread outside of the library still has one: they are kept for the next time then. */
void abti_workers_fini(void);

/*
 * In the child of a fork: nobody has the tasks of others than the caller, which has the deque `mine`, or none if it is
 * NULL. Which of the other deques are his, by nested calls outside of ULTs, is not known: none is used again but those
 * that he gives back.
 */
void abti_workers_forget(struct abti_deque *mine);

/* The deque of the ULT that runs on the stream, if it is in a region. NULL: it has none. */
struct abti_deque *abti_fork_deque(abti_es *es);

/* What a stream calls as a ULT when it has taken a task. */
void abti_fork_run_stolen(void *task);

#endif
