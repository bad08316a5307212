/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of native threads for the deadlock check: whether a stream's thread is asleep, and, while the check is
 * on, which threads that are no stream's have called the library, and might do so again. These are its registered
 * external threads. Any other thread that is not the library's own is unknown: it may call the library at any time.
 */
#ifndef ABTI_WAIT_EXTERNAL_H
#define ABTI_WAIT_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"
#include "base/compiler.h"
#include "wait/threadword.h"

/* Of one native thread. */
struct abti_known {
    /* The word that the thread sleeps on, and its value until the wake. The thread stores both around each of its
     * sleeps. NULL: it is awake, or has a deadline. */
    _Atomic(_Atomic(uint32_t) *) word;
    _Atomic(uint32_t) value;
    _Atomic(const void *) owns_as; /* what mutexes keep that it owns; NULL: it owns none */
    bool only_polls;               /* the thread's own: its deadlines are times to poll whether a wait has ended */
};

extern _Atomic(bool) abti_externals_are_wanted ABTI_HIDDEN;

/* The calling thread's. NULL: it is not known. */
#define abti_known_self ((struct abti_known *)abti_thread_word(ABTI_THREAD_KNOWN))
void abti_known_set_self(struct abti_known *known);

/* From now on, or no longer, threads become known. */
void abti_externals_want(bool wanted);

/* The calling thread is known until it ends. */
void abti_external_enter(void) ABTI_COLD;

/* The calling thread is in a function that makes units, wakes or waits: unless it is a stream's, it is registered. */
ABTI_INLINE void abti_external_note(void)
{
    /* relaxed: a thread that does not see it now does so at its next call */
    if (ABTI_UNLIKELY(abti_load_relaxed(&abti_externals_are_wanted)) && !abti_known_self)
        abti_external_enter();
}

/* The thread sleeps, nobody has woken it, and it has no deadline. */
bool abti_known_is_asleep(struct abti_known *known);

/* The deadlines of the calling thread are, from now on, times to poll. */
ABTI_INLINE void abti_known_only_polls(bool polls)
{
    struct abti_known *known = abti_known_self;
    if (known)
        known->only_polls = polls;
}

/* A native thread in one of two lists: of the library's own ones, or of the registered ones. */
struct abti_listed_thread {
    _Atomic(int) task;                     /* its number, see wait/task.h; ABTI_TASK_UNKNOWN: it has not begun */
    struct abti_listed_thread *next, **at; /* external.c's: at is the link to it */
};

/* The calling thread is the library's own, a stream's or a helper's, until it leaves: by itself it wakes nobody. `own`
 * is static, or the thread's. */
void abti_own_enter(struct abti_listed_thread *own);
void abti_own_leave(struct abti_listed_thread *own);

/* The native threads of the process that are not the library's own. */
struct abti_outsiders {
    unsigned externals,
        asleep; /* how many registered ones there are, and how many of them sleep as abti_known_is_asleep says */
    unsigned unknown;
    bool counted; /* false: the system does not tell which threads there are */
};

/* A registered thread, as it was at some moment. */
struct abti_external_note {
    int task;                /* its number, see wait/task.h */
    const void *owns_as;     /* what mutexes keep that it owns; NULL: it owns none */
    _Atomic(uint32_t) *word; /* that it sleeps on; NULL: it does not sleep so */
};

/* Notes some of them. Returns how many. */
unsigned abti_externals_list(struct abti_external_note *notes, unsigned room);

/* By a thread of the library's own. */
void abti_outsiders_count(struct abti_outsiders *outsiders);

/* In the child of a fork: no thread is known, none is the library's own, and the caller is not registered. */
void abti_externals_forget(void);

/* The same, of the library's own threads alone. */
void abti_own_forget(void);

#endif
