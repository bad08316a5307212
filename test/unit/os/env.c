#include <stdlib.h>

#include "os/env.h"
#include "tap.h"

int main(void)
{
    unsetenv("ABT_TEST_NAME");
    unsetenv("ABT_ENV_TEST_NAME");
    is_str(abti_env_get("TEST_NAME"), NULL, "not set");
    setenv("ABT_ENV_TEST_NAME", "second", 1);
    is_str(abti_env_get("TEST_NAME"), "second", "the ABT_ENV_ name serves");
    setenv("ABT_TEST_NAME", "first", 1);
    is_str(abti_env_get("TEST_NAME"), "first", "the ABT_ name comes first");
    setenv("ABT_TEST_NAME", "", 1);
    is_str(abti_env_get("TEST_NAME"), "", "an empty value counts as set");
    unsetenv("ABT_ENV_TEST_NAME");
    is_str(abti_env_get("TEST_NAME"), "", "also without the other name");
    return done_testing();
}
