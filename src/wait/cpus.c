/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/cpus.h"

_Atomic(uint32_t) abti_num_cpus;
