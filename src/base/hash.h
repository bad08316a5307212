/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashing of addresses, which says where in a table something belongs. */
#ifndef ABTI_BASE_HASH_H
#define ABTI_BASE_HASH_H

#include <stdint.h>
#include "base/compiler.h"

/* Knuth's multiplicative hash: the upper bits are the good ones. */
ABTI_INLINE uint64_t abti_hash(uint64_t value)
{
    return value * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
