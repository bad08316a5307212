#include "os/env.h"

#include <stdio.h>
#include <stdlib.h>

const char *abti_env_get(const char *name)
{
    char full[64];

    snprintf(full, sizeof(full), "ABT_%s", name);
    const char *text = getenv(full);
    if (text)
        return text;
    snprintf(full, sizeof(full), "ABT_ENV_%s", name);
    return getenv(full);
}
