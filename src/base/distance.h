/* SPDX-License-Identifier: BSD-3-Clause */
/* How far two words are from each other. */
#ifndef ABTI_BASE_DISTANCE_H
#define ABTI_BASE_DISTANCE_H

enum { ABTI_DISTANCE_ROOM = 64 };

/*
 * How many characters must be put in, taken out or replaced, or neighbours swapped, to make one word of the other,
 * letters in any case. Only the first ABTI_DISTANCE_ROOM - 1 characters of the second count.
 */
unsigned abti_distance(const char *a, const char *b);

#endif
