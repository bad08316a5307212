/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of a native thread that few threads have and no hot path reads. They are not thread-local variables: these take
 * room that the C library has little of for libraries which a program loads at run time (static TLS).
 */
#ifndef ABTI_WAIT_THREADWORD_H
#define ABTI_WAIT_THREADWORD_H

#include <stdbool.h>
#include <stdint.h>

enum abti_thread_word {
    ABTI_THREAD_KNOWN,   /* wait/external.h */
    ABTI_THREAD_REGION,  /* stream/blocking.c */
    ABTI_THREAD_TELLING, /* rt/tool.c */
    ABTI_THREAD_WORDS
};

/* The word of the calling thread, NULL until it is set. Signal handlers may ask. */
void *abti_thread_word(enum abti_thread_word which);

/* False when there is no memory for it, or the process has used up its keys. */
bool abti_thread_set_word(enum abti_thread_word which, void *value);

/* A hash of the calling thread, whose upper bits are the good ones. Others may have the same. Signal handlers may ask.
 */
uint64_t abti_thread_hash(void);

#endif
