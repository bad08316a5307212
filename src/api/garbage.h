/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a handle that the ledger does not know is one at all: while misuse is looked for (ABT_CHECK). */
#ifndef ABTI_API_GARBAGE_H
#define ABTI_API_GARBAGE_H

#include "base/compiler.h"
#include "unit/ledger.h"

/* NULL: there is such an object, as far as that can be known. Else why there is none, as words for the user. */
const char *abti_garbage_reason(const void *handle, enum abti_handle_kind kind) ABTI_COLD;

#endif
