/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE = 256 };

static void line_begin(char line[LINE])
{
    abti_es *es = abti_es_self;
    if (es)
        snprintf(line, LINE, "stream %d", es->rank);
    else
        snprintf(line, LINE, "no stream");
}

void abti_log_line(const char *format, ...)
{
    char begin[LINE], event[LINE];
    va_list args;
    line_begin(begin);
    va_start(args, format);
    vsnprintf(event, sizeof(event), format, args);
    va_end(args);
    if (ABTI_BUILD_LOG == 1) /* at once, so that the lines of several threads do not mix */
        fprintf(stderr, "libabt: %s: %s\n", begin, event);
}
