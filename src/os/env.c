/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"

#define PREFIX "ABT_"
#define OTHER_PREFIX "ABT_ENV_"

static const char *get_prefixed(const char *prefix, const char *name)
{
    char full[64] = "";
    struct abti_text text = {.chars = full, .size = sizeof(full)};
    abti_text_add(&text, prefix);
    abti_text_add(&text, name);
    return getenv(full);
}

const char *abti_env_get(const char *name)
{
    const char *text = get_prefixed(PREFIX, name);
    return text ? text : get_prefixed(OTHER_PREFIX, name);
}

const char *abti_env_prefix(const char *name)
{
    return get_prefixed(PREFIX, name) ? PREFIX : OTHER_PREFIX;
}

void abti_env_visit(void (*visit)(const char *prefix, const char *name))
{
    char name[ABTI_ENV_NAME_ROOM];

    for (char **entry = environ; entry && *entry; entry++) {
        const char *begin = *entry, *end = strchr(begin, '=');
        const char *prefix = PREFIX;
        if (!end || strncmp(begin, PREFIX, strlen(PREFIX)) != 0)
            continue;
        if (strncmp(begin, OTHER_PREFIX, strlen(OTHER_PREFIX)) == 0)
            prefix = OTHER_PREFIX;
        begin += strlen(prefix);
        size_t length = begin < end ? (size_t)(end - begin) : 0;
        if (length == 0 || length >= sizeof(name))
            continue;
        memcpy(name, begin, length);
        name[length] = '\0';
        visit(prefix, name);
    }
}
