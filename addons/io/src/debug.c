/* SPDX-License-Identifier: BSD-3-Clause */
#include "debug.h"

#include <stdio.h>
#include <stdlib.h>

void abtioi_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "libabtio: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
