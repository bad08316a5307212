/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows in the caller's memory, without stdio: also in a signal handler. What does not fit is cut. */
#ifndef ABTI_BASE_TEXT_H
#define ABTI_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct abti_text {
    char *chars; /* ends with a zero after each call */
    size_t size; /* of the memory, at least 1 */
    size_t len;
};

void abti_text_add(struct abti_text *text, const char *chars);

/* Of the base 10, or 16: "0x1f". */
void abti_text_add_number(struct abti_text *text, uint64_t number, unsigned base);

/* Stores `chars` in `to`, which has `size` bytes. */
void abti_text_copy(char *to, size_t size, const char *chars);

#endif
