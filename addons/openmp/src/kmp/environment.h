/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ABTOMP_KMP_ENVIRONMENT_H
#define ABTOMP_KMP_ENVIRONMENT_H

#include <stdbool.h>

/* Whether a program has asked for libomp.so.5 or libiomp5.so, and not for gcc's library: abtomp_env.is_llvm. */
bool abtomp_kmp_is_asked_for(void);

/*
 * The value that a variable of OpenMP has by LLVM's variables (KMP_...), or NULL: for programs that have asked for
 * libomp.so.5 or libiomp5.so. The text is valid until the next call.
 */
const char *abtomp_kmp_value_of(const char *name);

/* Names LLVM's variables that are set and have no effect, a line each. */
void abtomp_kmp_name_unused(void);

#endif
