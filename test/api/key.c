/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "tap.h"

static void destructor(void *value)
{
    (void)value;
}

static void test_null(ABT_key null)
{
    ABT_key key = null;

    ok_err(ABT_key_free(&key), ABT_ERR_INV_KEY);
    ok(key == null, "left alone by an error");
}

int main(void)
{
    ABT_key key = ABT_KEY_NULL, other = ABT_KEY_NULL;

    ok_abt(ABT_key_create(NULL, &key));
    ok_abt(ABT_key_create(destructor, &other));
    ok(key && other && key != ABT_KEY_NULL && other != ABT_KEY_NULL && key != other, "two keys, before ABT_init");
    ok_abt(ABT_key_free(&key));
    ok(key == ABT_KEY_NULL, "null after free");
    ok_abt(ABT_key_free(&other));
    if (!ABT_NULL) {
        test_null(ABT_KEY_NULL);
        test_null(NULL);
    }
    return done_testing();
}
