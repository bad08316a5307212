/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "rt/log.h"

struct abti_rt abti_rt = {
    .external_lock = ABTI_SPIN_INIT(ABTI_RANK_EXTERNAL),
    .lock = ABTI_SPIN_INIT(ABTI_RANK_RT),
};

void abti_rt_forget(void)
{
    struct abti_config config = abti_rt.config;
    memset(&abti_rt, 0, sizeof(abti_rt));
    abti_spin_init(&abti_rt.external_lock, ABTI_RANK_EXTERNAL);
    abti_spin_init(&abti_rt.lock, ABTI_RANK_RT);
    abti_rt.config = config;
}

void abti_log_line(const char *format, ...)
{
    enum { LINE = 256 };
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
