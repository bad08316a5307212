/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native threads of the library's own beside those of the streams, and the effect of a fork on them: its child does not
 * have them, and must not find a lock held for ever that one of them held.
 */
#ifndef ABTI_STREAM_HELPER_H
#define ABTI_STREAM_HELPER_H

#include <pthread.h>
#include <stdbool.h>
#include "lock/spin.h"

/* Static; one for each kind of helper. */
struct abti_helper {
    /*
     * Held by the thread while it has other locks, or does what must not be left half done. A fork waits for it, but
     * not for ever.
     */
    struct abti_spin working;
    void (*in_child)(void); /* called in the child of a fork, which has no thread but the caller */
    /* The rest is helper.c's own. */
    struct abti_helper *next;
    _Atomic(void *) forker; /* the forking thread that has got `working`, by a place that no other thread has */
    bool registered;
};

/*
 * A fork may come at any time from now on, for as long as the library is loaded. The calls for one helper do not run at
 * the same time. False: the system has no memory for that, and the thread must not be made.
 */
bool abti_helper_register(struct abti_helper *helper);

/* Makes the thread. The program's signals are not for it. 0, or an errno code. */
int abti_helper_start(pthread_t *thread, void *(*run)(void *)) ABTI_MUST_CHECK;

#endif
