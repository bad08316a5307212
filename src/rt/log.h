/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: one line on stderr for each event in the life of the library, its streams and their schedulers, none of
 * which happens often. Builds with --enable-debug=log have it, and ABT_USE_LOG switches it on and off.
 */
#ifndef ABTI_RT_LOG_H
#define ABTI_RT_LOG_H

#include "base/build.h"
#include "base/compiler.h"
#include "rt/rt.h"

/* The arguments are those of printf, without a newline, and have no side effects. */
#define abti_log(...) (ABTI_BUILD_LOG && abti_rt.config.use_log ? abti_log_line(__VA_ARGS__) : (void)0)

/* The line begins with the rank of the stream on which the caller runs; a line that is too long is cut. */
void abti_log_line(const char *format, ...) ABTI_COLD ABTI_PRINTF(1, 2);

#endif
