/* Native threads that are all woken at once sleep on one word, so that one system call wakes them. */
#ifndef ABTI_WAIT_CROWD_H
#define ABTI_WAIT_CROWD_H

#include <stdint.h>

/* What the word of a thread says that sleeps with its crowd, beside the words of wait/sleeper.h. */
enum { ABTI_IN_CROWD = 4 };

/* The crowd of an object. It is none of the object, which may be gone as soon as one of the crowd knows that it is
 * woken. */
struct abti_crowd *abti_crowd_of(const void *object);

/*
 * The thread waits, as abti_native_wait, until its word is WOKEN; while it sleeps that is IN_CROWD. `num` says how many
 * wait for each other, 0 if that is not known: more than there are CPUs do not spin first but give way to others a few
 * times.
 */
void abti_crowd_wait(const void *object, _Atomic(uint32_t) *word, uint32_t num);

/* Every thread of the crowd that was IN_CROWD has been made WOKEN. */
void abti_crowd_wake(struct abti_crowd *crowd);

#endif
