/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT changes between a user-defined and a built-in pool while others ask what it is. Whether it has a unit of the
 * user's was a flag among the constant ones; TSan tells.
 */
#include "api/user_pool.h"

enum { CHANGES = 1000 };

static ABT_pool pools[2];
static atomic_bool started, over;

static void wander(void *arg)
{
    atomic_store(&started, true);
    for (int i = 0; i < CHANGES; i++)
        must(ABT_self_set_associated_pool(pools[i % 2]));
    atomic_store(&over, true);
}

int main(void)
{
    struct list list;
    int wrong = 0;

    must(ABT_init(0, NULL));
    pools[0] = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    ABT_xstream xstream = new_xstream();
    pools[1] = pool_of(xstream);
    ABT_thread thread = ult_in(pools[1], wander, NULL);
    wait_for(atomic_load(&started));
    do {
        ABT_bool unnamed = ABT_TRUE;
        ABT_unit unit;
        must(ABT_thread_is_unnamed(thread, &unnamed));
        must(ABT_thread_get_unit(thread, &unit));
        wrong += unnamed || (unit != (ABT_unit)((uintptr_t)thread | 1) && (uintptr_t)unit & 3);
    } while (!atomic_load(&over));
    must(ABT_thread_free(&thread));
    is_int(wrong, 0, "it is what it is all the time");
    is_int(atomic_load(&list.created), CHANGES / 2, "a unit was made for each change to the user's pool");
    is_int(atomic_load(&list.alive), 0, "and freed");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pools[0]));
    must(ABT_finalize());
    return done_testing();
}
