/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "tap.h"

static void destructor(void *value)
{
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
    return done_testing();
}
