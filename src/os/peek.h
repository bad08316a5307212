/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading memory that may not be there. */
#ifndef ABTI_OS_PEEK_H
#define ABTI_OS_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/*
 * Copies `size` bytes; false where not all of them can be read. The bytes may be changing: the copy is of any moment
 * for each word. Sanitizers do not learn of it.
 */
bool abti_peek(void *to, const void *from, size_t size) ABTI_MUST_CHECK;

#endif
