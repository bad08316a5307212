/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "tap.h"

int main(void)
{
    static const struct {
        int code;
        const char *name;
    } some[] = {
        {ABT_SUCCESS, "ABT_SUCCESS"},
        {ABT_ERR_UNINITIALIZED, "ABT_ERR_UNINITIALIZED"},
        {ABT_ERR_MEM, "ABT_ERR_MEM"},
        {ABT_ERR_INV_THREAD, "ABT_ERR_INV_THREAD"},
        {ABT_ERR_MUTEX_LOCKED, "ABT_ERR_MUTEX_LOCKED"},
        {ABT_ERR_MISSING_JOIN, "ABT_ERR_MISSING_JOIN"},
        {ABT_ERR_FEATURE_NA, "ABT_ERR_FEATURE_NA"},
        {ABT_ERR_INV_POOL_USER_DEF, "ABT_ERR_INV_POOL_USER_DEF"},
    };
    char text[64];
    size_t len;

    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        memset(text, 'x', sizeof(text));
        len = 0;
        ok_abt(ABT_error_get_str(some[i].code, text, &len));
        is_str(text, some[i].name, "name of %d", some[i].code);
        is_int(len, strlen(some[i].name), "length without terminator");
    }
    for (int code = 0; code <= 57; code++) {
        int err = ABT_error_get_str(code, text, NULL);
        ok(err == ABT_SUCCESS && (code ? strncmp(text, "ABT_ERR_", 8) == 0 : true), "code %d is %s", code, text);
    }
    ok_abt(ABT_error_get_str(ABT_ERR_SYS, NULL, &len));
    is_int(len, strlen("ABT_ERR_SYS"), "length alone");
    ok_abt(ABT_error_get_str(ABT_ERR_SYS, NULL, NULL));

#ifdef ABT_ENABLE_VER_20_API
    const int bad_code = ABT_ERR_INV_ARG;
#else
    const int bad_code = ABT_ERR_OTHER;
#endif
    is_int(ABT_error_get_str(58, text, &len), bad_code, "58 is no code");
    is_int(ABT_error_get_str(-1, text, &len), bad_code, "nor is -1");
    is_int(ABT_error_get_str(INT32_MAX, NULL, NULL), bad_code, "nor is the largest int");
    is_int(len, strlen("ABT_ERR_SYS"), "errors store nothing");
    return done_testing();
}
