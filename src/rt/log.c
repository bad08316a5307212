/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE = 256 };

void abti_log_line(const char *format, ...)
{
    char begin[32] = "no stream", event[LINE];
    abti_es *es = abti_es_self;
    va_list args;
    if (es)
        snprintf(begin, sizeof(begin), "stream %d", es->rank);
    va_start(args, format);
    vsnprintf(event, sizeof(event), format, args);
    va_end(args);
    if (ABTI_BUILD_LOG == 1) /* at once, so that the lines of several threads do not mix */
        fprintf(stderr, "libabt: %s: %s\n", begin, event);
}
