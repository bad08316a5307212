/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "rt/kvconf.h"
#include "tap.h"

static void test_types(void)
{
    struct abti_kvconf conf;
    int i = -5, got_i = 0;
    double d = 2.5, got_d = 0.0;
    void *p = &conf, *got_p = NULL;

    abti_kvconf_init(&conf);
    ok(!abti_kvconf_find(&conf, 0), "empty at first");
    is_int(abti_kvconf_set(&conf, 0, ABTI_KV_INT, &i), 0, "int");
    is_int(abti_kvconf_set(&conf, -7, ABTI_KV_DOUBLE, &d), 0, "double");
    is_int(abti_kvconf_set(&conf, 1000000, ABTI_KV_PTR, &p), 0, "pointer");
    is_int(abti_kvconf_set(&conf, 4, 3, &i), ABT_ERR_INV_ARG, "no such type");
    is_int(abti_kvconf_set(&conf, 4, -1, &i), ABT_ERR_INV_ARG, "nor this one");
    ok(!abti_kvconf_find(&conf, 4), "nothing was stored");
    abti_kventry_read(abti_kvconf_find(&conf, 0), &got_i);
    abti_kventry_read(abti_kvconf_find(&conf, -7), &got_d);
    abti_kventry_read(abti_kvconf_find(&conf, 1000000), &got_p);
    ok(got_i == -5 && got_d == 2.5 && got_p == &conf, "values come back");
    is_int(abti_kvconf_get_int(&conf, 0, 9), -5, "int by its short way");
    is_int(abti_kvconf_get_int(&conf, -7, 9), 9, "a double is no int");
    is_int(abti_kvconf_get_int(&conf, 1, 9), 9, "a missing key is the default");
    is_int(abti_kvconf_get_int(NULL, 0, 9), 9, "so is everything in no set");
    ok(!abti_kvconf_find(NULL, 0), "no set, no entry");

    int type = -1;
    double again = 0.0;
    is_int(abti_kvconf_get(&conf, -7, &type, &again), ABT_SUCCESS, "type and value in one");
    ok(type == ABTI_KV_DOUBLE && again == 2.5, "they are right");
    is_int(abti_kvconf_get(&conf, -7, NULL, NULL), ABT_SUCCESS, "neither is a question, too");
    is_int(abti_kvconf_get(&conf, 1, &type, &again), ABT_ERR_INV_ARG, "a missing key is none");
    abti_kvconf_fini(&conf);
    ok(!abti_kvconf_find(&conf, 0), "empty at the end");
}

static void test_many(void)
{
    struct abti_kvconf conf = {0};
    bool good = true;

    for (int key = 0; key < 100; key++)
        good &= abti_kvconf_set(&conf, key, ABTI_KV_INT, &key) == 0;
    for (int key = 0; key < 100; key++)
        good &= abti_kvconf_get_int(&conf, key, -1) == key;
    ok(good, "100 keys in a zeroed set");

    int value = 7;
    is_int(abti_kvconf_set(&conf, 50, ABTI_KV_INT, &value), 0, "set again");
    is_int(abti_kvconf_get_int(&conf, 50, -1), 7, "the last value wins");
    is_int(conf.num, 100, "still one entry per key");

    for (int key = 0; key < 100; key += 2)
        good &= abti_kvconf_set(&conf, key, ABTI_KV_INT, NULL) == 0;
    for (int key = 0; key < 100; key++)
        good &= abti_kvconf_get_int(&conf, key, -1) == (key % 2 ? key : -1);
    ok(good, "every other key removed");
    is_int(conf.num, 50, "entries left");
    is_int(abti_kvconf_set(&conf, 0, ABTI_KV_INT, NULL), 0, "a missing key can be removed");
    is_int(abti_kvconf_set(&conf, 1, 42, NULL), 0, "the type does not matter for that");
    is_int(conf.num, 49, "entries left");
    abti_kvconf_fini(&conf);
}

int main(void)
{
    test_types();
    test_many();
    return done_testing();
}
