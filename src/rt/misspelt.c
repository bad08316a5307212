/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/misspelt.h"

#include <string.h>
#include "os/env.h"
#include "rt/rt.h"
#include "rt/variables.h"

static void look_at(const char *prefix, const char *name)
{
    for (size_t i = 0; i < abti_num_variables; i++) {
        const struct abti_variable *variable = &abti_variables[i];
        if (strcmp(name, variable->name) != 0)
            continue;
        if (variable->type == ABTI_VARIABLE_NONE)
            fprintf(stderr, "libabt: %s%s has no effect\n", prefix, name);
        return;
    }
    if (abti_rt.config.print_config)
        fprintf(stderr, "libabt: %s%s is no variable of the library\n", prefix, name);
}

void abti_misspelt_tell(void)
{
    static bool has_reported; /* under the lock of ABT_init */
    if (!has_reported)
        abti_env_visit(look_at);
    has_reported = true;
}
