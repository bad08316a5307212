/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that has a shadow stack is told so, and gets an error; one that has none any more may begin. */
#include <unistd.h>

#include "abt.h"
#include "arch/shadow.h"
#include "tap.h"

static bool yes(void)
{
    return true;
}

static char said[512];

/* ABT_init, with what it prints on stderr in `said`. */
static int init_and_listen(void)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);

    if (!file || saved < 0)
        bail_out("no file for stderr");
    dup2(fileno(file), STDERR_FILENO);
    int code = ABT_init(0, NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof(said) - 1, file)] = 0;
    fclose(file);
    return code;
}

int main(void)
{
    bool (*real)(void) = abti_shadow_stack;

    ok(!real(), "this process has no shadow stack");
    abti_shadow_stack = yes;
    is_int(init_and_listen(), ABT_ERR_SYS, "with one the library does not begin");
    ok(strstr(said, "libabt: ABT_init: the process has a shadow stack") == said &&
           strchr(said, '\n') == strrchr(said, '\n'),
       "and says why in one line");
    is_int(ABT_initialized(), ABT_ERR_UNINITIALIZED, "nothing has begun");
    abti_shadow_stack = real;
    is_int(init_and_listen(), ABT_SUCCESS, "without it does");
    is_int((long)strlen(said), 0, "and says nothing");
    is_int(ABT_finalize(), ABT_SUCCESS, "to its end");
    return done_testing();
}
