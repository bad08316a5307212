/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include "abt.h"
#include "api/check.h"

#define ERROR_NAME(code) [code] = #code

static const char *const error_names[] = {
    ERROR_NAME(ABT_SUCCESS),
    ERROR_NAME(ABT_ERR_UNINITIALIZED),
    ERROR_NAME(ABT_ERR_MEM),
    ERROR_NAME(ABT_ERR_OTHER),
    ERROR_NAME(ABT_ERR_INV_XSTREAM),
    ERROR_NAME(ABT_ERR_INV_XSTREAM_RANK),
    ERROR_NAME(ABT_ERR_INV_XSTREAM_BARRIER),
    ERROR_NAME(ABT_ERR_INV_SCHED),
    ERROR_NAME(ABT_ERR_INV_SCHED_KIND),
    ERROR_NAME(ABT_ERR_INV_SCHED_PREDEF),
    ERROR_NAME(ABT_ERR_INV_SCHED_TYPE),
    ERROR_NAME(ABT_ERR_INV_SCHED_CONFIG),
    ERROR_NAME(ABT_ERR_INV_POOL),
    ERROR_NAME(ABT_ERR_INV_POOL_KIND),
    ERROR_NAME(ABT_ERR_INV_POOL_ACCESS),
    ERROR_NAME(ABT_ERR_INV_UNIT),
    ERROR_NAME(ABT_ERR_INV_THREAD),
    ERROR_NAME(ABT_ERR_INV_THREAD_ATTR),
    ERROR_NAME(ABT_ERR_INV_TASK),
    ERROR_NAME(ABT_ERR_INV_KEY),
    ERROR_NAME(ABT_ERR_INV_MUTEX),
    ERROR_NAME(ABT_ERR_INV_MUTEX_ATTR),
    ERROR_NAME(ABT_ERR_INV_COND),
    ERROR_NAME(ABT_ERR_INV_RWLOCK),
    ERROR_NAME(ABT_ERR_INV_EVENTUAL),
    ERROR_NAME(ABT_ERR_INV_FUTURE),
    ERROR_NAME(ABT_ERR_INV_BARRIER),
    ERROR_NAME(ABT_ERR_INV_TIMER),
    ERROR_NAME(ABT_ERR_INV_QUERY_KIND),
    ERROR_NAME(ABT_ERR_XSTREAM),
    ERROR_NAME(ABT_ERR_XSTREAM_STATE),
    ERROR_NAME(ABT_ERR_XSTREAM_BARRIER),
    ERROR_NAME(ABT_ERR_SCHED),
    ERROR_NAME(ABT_ERR_SCHED_CONFIG),
    ERROR_NAME(ABT_ERR_POOL),
    ERROR_NAME(ABT_ERR_UNIT),
    ERROR_NAME(ABT_ERR_THREAD),
    ERROR_NAME(ABT_ERR_TASK),
    ERROR_NAME(ABT_ERR_KEY),
    ERROR_NAME(ABT_ERR_MUTEX),
    ERROR_NAME(ABT_ERR_MUTEX_LOCKED),
    ERROR_NAME(ABT_ERR_COND),
    ERROR_NAME(ABT_ERR_COND_TIMEDOUT),
    ERROR_NAME(ABT_ERR_RWLOCK),
    ERROR_NAME(ABT_ERR_EVENTUAL),
    ERROR_NAME(ABT_ERR_FUTURE),
    ERROR_NAME(ABT_ERR_BARRIER),
    ERROR_NAME(ABT_ERR_TIMER),
    ERROR_NAME(ABT_ERR_MIGRATION_TARGET),
    ERROR_NAME(ABT_ERR_MIGRATION_NA),
    ERROR_NAME(ABT_ERR_MISSING_JOIN),
    ERROR_NAME(ABT_ERR_FEATURE_NA),
    ERROR_NAME(ABT_ERR_INV_TOOL_CONTEXT),
    ERROR_NAME(ABT_ERR_INV_ARG),
    ERROR_NAME(ABT_ERR_SYS),
    ERROR_NAME(ABT_ERR_CPUID),
    ERROR_NAME(ABT_ERR_INV_POOL_CONFIG),
    ERROR_NAME(ABT_ERR_INV_POOL_USER_DEF),
};

/* Returns NULL for a number that is no code. */
static const char *error_name(int code)
{
    return code >= 0 && (size_t)code < ABTI_ARRAY_LEN(error_names) ? error_names[code] : NULL;
}

int ABT_error_get_str(int err, char *str, size_t *len)
{
    const char *name = error_name(err);

    if (!name) /* also without checks: this is an answer, and strcpy(str, NULL) is none */
        return abti_error(ABTI_BUILD_VER20 ? ABT_ERR_INV_ARG : ABT_ERR_OTHER);
    if (str)
        strcpy(str, name);
    if (len)
        *len = strlen(name);
    return ABT_SUCCESS;
}

void abti_error_report(int code, const char *function)
{
    const char *name = error_name(code);

    if (code != ABT_SUCCESS)
        fprintf(stderr, "libabt: %s: %s (%d)\n", function, name ? name : "code of a callback", code);
}
