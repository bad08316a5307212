/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "os/env.h"
#include "tap.h"

static char seen[256]; /* "PREFIX NAME;" for each variable with TEST in its name */

static void note(const char *prefix, const char *name)
{
    size_t len = strlen(seen);
    if (strstr(name, "TEST"))
        snprintf(seen + len, sizeof(seen) - len, "%s %s;", prefix, name);
}

static void test_visit(void)
{
    clearenv();
    abti_env_visit(note);
    is_str(seen, "", "an empty environment has no variables");
    setenv("ABT_TEST_A", "1", 1);
    setenv("ABT_ENV_TEST_B", "1", 1);
    setenv("NOT_ABT_TEST", "1", 1);
    setenv("ABT_", "TEST", 1);
    setenv("ABT_TEST_A_NAME_THAT_IS_TOO_LONG_TO_BE_OURS_OR_ANYBODYS", "1", 1);
    abti_env_visit(note);
    ok(strstr(seen, "ABT_ TEST_A;") && strstr(seen, "ABT_ENV_ TEST_B;"), "variables with either prefix are visited");
    is_int(strlen(seen), strlen("ABT_ TEST_A;ABT_ENV_ TEST_B;"), "no others are");
}

int main(void)
{
    unsetenv("ABT_TEST_NAME");
    unsetenv("ABT_ENV_TEST_NAME");
    is_str(abti_env_get("TEST_NAME"), NULL, "not set");
    setenv("ABT_ENV_TEST_NAME", "second", 1);
    is_str(abti_env_get("TEST_NAME"), "second", "the ABT_ENV_ name serves");
    is_str(abti_env_prefix("TEST_NAME"), "ABT_ENV_", "and is told");
    setenv("ABT_TEST_NAME", "first", 1);
    is_str(abti_env_get("TEST_NAME"), "first", "the ABT_ name comes first");
    is_str(abti_env_prefix("TEST_NAME"), "ABT_", "and is told");
    setenv("ABT_TEST_NAME", "", 1);
    is_str(abti_env_get("TEST_NAME"), "", "an empty value counts as set");
    unsetenv("ABT_ENV_TEST_NAME");
    is_str(abti_env_get("TEST_NAME"), "", "also without the other name");
    test_visit();
    return done_testing();
}
