/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can I learn of another unit? Its state, number, function and argument, where it ran last and where it waits, its
 * stack and its attributes.
 *
 *   cc unit_facts.c $(pkg-config --cflags --libs argobots) -o unit_facts
 */
#include <abt.h>
#include <stdio.h>

static void waits(void *arg)
{
    ABT_eventual_wait(*(ABT_eventual *)arg, NULL);
}

static const char *name_of(ABT_thread unit)
{
    static const char *const names[] = {"ready", "running", "blocked", "terminated"};
    ABT_thread_state state;
    ABT_thread_get_state(unit, &state);
    return names[state];
}

/* Not 0: something is not as the maker of the unit has said. */
static int look_at(ABT_thread unit, ABT_pool pool, ABT_eventual *eventual)
{
    ABT_unit_id id;
    ABT_pool its_pool;
    ABT_xstream stream;
    ABT_thread_attr attr;
    ABT_unit handle;
    ABT_thread behind;
    void (*function)(void *);
    void *arg, *stack;
    size_t size, stack_size, attr_size;
    ABT_bool is_primary, is_unnamed;
    int pool_id, its_pool_id;

    ABT_thread_get_id(unit, &id);
    ABT_thread_get_last_pool(unit, &its_pool);
    ABT_thread_get_last_pool_id(unit, &its_pool_id);
    ABT_pool_get_id(pool, &pool_id);
    ABT_thread_get_last_xstream(unit, &stream); /* ABT_XSTREAM_NULL before it has run */
    ABT_thread_get_thread_func(unit, &function);
    ABT_thread_get_arg(unit, &arg);
    ABT_thread_is_primary(unit, &is_primary);
    ABT_thread_is_unnamed(unit, &is_unnamed);
    ABT_thread_get_stacksize(unit, &size);
    ABT_thread_get_stack(unit, &stack, &stack_size); /* it has one from its first run on */
    ABT_thread_get_attr(unit, &attr);                /* as those to make another one like it */
    ABT_thread_attr_get_stacksize(attr, &attr_size);
    ABT_thread_attr_free(&attr);
    ABT_thread_get_unit(unit, &handle); /* the pool's name for it, and back */
    ABT_unit_get_thread(handle, &behind);
    printf("unit %d is %s, %s, with a stack of %zu bytes (%s), of pool %d\n", (int)id, name_of(unit),
           stream == ABT_XSTREAM_NULL ? "has not run yet" : "has run", size, stack ? "there" : "not there",
           its_pool_id);
    return its_pool != pool || its_pool_id != pool_id || function != waits || arg != eventual || is_primary ||
           is_unnamed || size != attr_size || behind != unit;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_eventual eventual;
    ABT_thread unit, me;
    ABT_bool is_primary;
    void *arg;
    int wrong;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_eventual_create(0, &eventual);
    ABT_thread_create(pool, waits, &eventual, ABT_THREAD_ATTR_NULL, &unit);
    wrong = look_at(unit, pool, &eventual);
    ABT_self_yield(); /* it runs until it waits */
    wrong += look_at(unit, pool, &eventual);
    ABT_eventual_set(eventual, NULL, 0);
    ABT_thread_join(unit);
    wrong += look_at(unit, pool, &eventual);

    /* What others ask for may be replaced: a runtime may keep a result there. */
    ABT_thread_set_arg(unit, &wrong);
    ABT_thread_get_arg(unit, &arg);
    ABT_self_get_thread(&me);
    ABT_thread_is_primary(me, &is_primary);
    wrong += arg != &wrong || !is_primary;
    ABT_thread_free(&unit);
    ABT_eventual_free(&eventual);
    ABT_finalize();
    printf("all as it was made: %s\n", wrong ? "no" : "yes");
    return wrong;
}
