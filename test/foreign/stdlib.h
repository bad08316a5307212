/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_STDLIB_H
#define FOREIGN_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t num, size_t size);
void free(void *ptr);

#endif
