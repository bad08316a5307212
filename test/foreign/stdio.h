/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#include <stddef.h>

int snprintf(char *text, size_t size, const char *format, ...);
