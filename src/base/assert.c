/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void abti_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "libabt: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
