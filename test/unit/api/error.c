/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines that error codes make in builds with --enable-debug=err. */
#include <unistd.h>

#include "abt.h"
#include "api/check.h"
#include "tap.h"

static FILE *file;
static int real_stderr;

static void begin(void)
{
    fflush(stderr);
    rewind(file);
    if (ftruncate(fileno(file), 0) || dup2(fileno(file), STDERR_FILENO) < 0)
        bail_out("stderr");
}

/* What was written since begin, of which is one line at most. */
static const char *end(void)
{
    static char text[256];
    size_t len;

    fflush(stderr);
    if (dup2(real_stderr, STDERR_FILENO) < 0)
        bail_out("stderr");
    rewind(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = 0;
    return text;
}

int main(void)
{
    file = tmpfile();
    real_stderr = dup(STDERR_FILENO);
    if (!file || real_stderr < 0)
        bail_out("temporary file");

    begin();
    abti_error_report(ABT_ERR_INV_POOL, "ABT_pool_free");
    is_str(end(), "libabt: ABT_pool_free: ABT_ERR_INV_POOL (12)\n", "a code is told with the function and its name");
    begin();
    abti_error_report(12345, "ABT_pool_create");
    is_str(end(), "libabt: ABT_pool_create: code of a callback (12345)\n", "any other is a callback's");
    begin();
    abti_error_report(ABT_SUCCESS, "ABT_init");
    is_str(end(), "", "success is not told");

    begin();
    int code = abti_error(ABT_ERR_MEM);
    is_int(strlen(end()) > 0, ABTI_BUILD_PRINT_ERRNO, "told only where the build asks for it");
    is_int(code, ABT_ERR_MEM, "and handed on");
    return done_testing();
}
