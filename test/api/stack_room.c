/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_self_get_stack_room: how much stack is left below the caller. */
#include "common.h"

enum { SIZE = 64 * 1024, USED = 20000 };

static size_t room_now(void)
{
    size_t room = 0;

    must(ABTX_self_get_stack_room(&room));
    return room;
}

static __attribute__((noinline)) size_t room_below(void)
{
    volatile char used[USED];

    used[0] = used[USED - 1] = 1;
    size_t room = room_now();
    return used[0] ? room : 0;
}

static void look(void *arg)
{
    size_t room = room_now(), below = room_below();

    ok(room > SIZE / 2, "a ULT sees the room that is left: %zu bytes", room);
    ok(room - below >= USED && room - below < USED + 1000, "a function that uses %d has so much less", USED);
}

static void look_as_tasklet(void *arg)
{
    size_t room = 1;

    ok_err(ABTX_self_get_stack_room(&room), ABT_ERR_INV_THREAD);
    is_int((int)room, 1, "nothing is stored");
}

static void test_ult(ABT_thread_attr attr)
{
    ABT_pool pool;
    ABT_thread thread;

    must(ABT_self_get_last_pool(&pool));
    must(ABT_thread_create(pool, look, NULL, attr, &thread));
    must(ABT_thread_free(&thread));
}

int main(void)
{
    ABT_thread_attr attr;
    ABT_pool pool;
    ABT_thread task;
    size_t room = 1;

    ok_err(ABTX_self_get_stack_room(&room), ABT_ERR_INV_XSTREAM);
    must(ABT_init(0, NULL));
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, SIZE));
    test_ult(attr);
    static _Alignas(64) char mine[SIZE];
    must(ABT_thread_attr_set_stack(attr, mine, SIZE));
    test_ult(attr);
    must(ABT_thread_attr_free(&attr));
    look(NULL); /* the primary ULT */
    must(ABT_self_get_last_pool(&pool));
    must(ABT_task_create(pool, look_as_tasklet, NULL, &task));
    must(ABT_thread_free(&task));
    must(ABT_finalize());
    return done_testing();
}
