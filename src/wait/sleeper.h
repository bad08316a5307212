/* The place where a native thread sleeps until it is woken. doc/memory-model.md has the argument. */
#ifndef ABTI_WAIT_SLEEPER_H
#define ABTI_WAIT_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/*
 * A native thread's sleeping place (an external thread, a tasklet's or scheduler's ES).
 *
 *   AWAKE -> ASLEEP, IN_LOOP   by its thread, before it looks for the last time at what it waits for
 *   ASLEEP, IN_LOOP -> WOKEN   by one waker, who then makes the one system call: for IN_LOOP, a signal to the file
 *                              descriptor in the upper bits
 *   any -> AWAKE               by its thread
 */
enum { ABTI_AWAKE = 0, ABTI_ASLEEP = 1, ABTI_WOKEN = 2, ABTI_IN_LOOP = 3, ABTI_SLEEPER_BITS = 2 };

struct abti_sleeper {
    _Atomic(uint32_t) word;
} ABTI_ALIGNED(16); /* the join word has tags in the low bits of its address */

/* Announces that the thread is about to sleep; what it waits for must be looked at after this. */
void abti_sleeper_prepare(struct abti_sleeper *s);

/* The same for who is going to sleep in a loop of the user's; it ends with abti_sleeper_cancel. */
void abti_sleeper_prepare_fd(struct abti_sleeper *s, int signal_fd);

/* Sleeps until woken or the deadline. True if woken. Leaves the sleeper AWAKE. */
bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns);

/* Takes the announcement back. True if it was woken meanwhile. */
bool abti_sleeper_cancel(struct abti_sleeper *s);

bool abti_sleeper_is_woken(struct abti_sleeper *s);

/* Wakes it if it is asleep or about to be; true if this call did. */
bool abti_sleeper_wake(struct abti_sleeper *s);

/* Who is to be woken, and how; NULL: nobody. */
typedef struct abti_wakeup *abti_wakeup;

/*
 * The two halves of abti_sleeper_wake: the caller becomes the one that wakes the sleeper (NULL: it is awake, or
 * somebody else does), under whatever lock keeps the sleeper there; then it makes the system call, without that lock.
 */
abti_wakeup abti_sleeper_claim(struct abti_sleeper *s) ABTI_MUST_CHECK;
void abti_wakeup_send(abti_wakeup wakeup);

/* The sleeper comes back by itself: it is not up to a function of the user's in which it waits. */
bool abti_wakeup_is_sure(abti_wakeup wakeup);

#endif
