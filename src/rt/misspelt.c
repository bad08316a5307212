/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/misspelt.h"

#include <string.h>
#include "base/distance.h"
#include "os/env.h"
#include "rt/variables.h"

/* A name is taken for ours up to a number of mistakes: one in four characters, and three at most. */
static unsigned most_mistakes(const char *name)
{
    size_t most = strlen(name) / 4;
    return most > 3 ? 3 : (unsigned)most;
}

static void look_at(const char *prefix, const char *name)
{
    const struct abti_variable *nearest = NULL;
    unsigned mistakes = most_mistakes(name) + 1;

    for (size_t i = 0; i < abti_num_variables; i++) {
        const struct abti_variable *variable = &abti_variables[i];
        if (strcmp(name, variable->name) == 0) {
            if (variable->type == ABTI_VARIABLE_NONE)
                fprintf(stderr, "libabt: %s%s has no effect\n", prefix, name);
            return;
        }
        unsigned distance = abti_distance(name, variable->name);
        if (distance < mistakes && variable->type != ABTI_VARIABLE_NONE) {
            nearest = variable;
            mistakes = distance;
        }
    }
    if (nearest)
        fprintf(stderr, "libabt: %s%s is no variable, did you mean %s%s?\n", prefix, name, prefix, nearest->name);
}

void abti_misspelt_tell(void)
{
    static bool has_reported; /* under the lock of ABT_init */
    if (!has_reported)
        abti_env_visit(look_at);
    has_reported = true;
}
