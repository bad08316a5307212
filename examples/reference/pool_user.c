/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I make several pools of my own kind, each with its data? By an init function, which reads a configuration that
 * the maker of the pool gives, and a free function. These are stacks, and each has the room that is asked for.
 *
 *   cc pool_user.c $(pkg-config --cflags --libs argobots) -o pool_user
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM_KEY = 0, UNITS = 3 };

/* One stream pushes and pops here, so that no lock is needed. start/lifo.c has one. */
struct stack {
    size_t room, size;
    ABT_unit units[];
};
static int stacks, ran;

static struct stack *stack_of(ABT_pool pool)
{
    return ABTX_pool_data(pool); /* as a value, and without asking whether there is such a pool */
}

static int init(ABT_pool pool, ABT_pool_config config)
{
    ABT_pool_config_type type;
    struct stack *stack = NULL;
    int room;
    if (ABT_pool_config_get(config, ROOM_KEY, &type, &room) == ABT_SUCCESS && type == ABT_POOL_CONFIG_INT)
        stack = malloc(sizeof(*stack) + (size_t)room * sizeof(ABT_unit));
    if (!stack)
        return ABT_ERR_INV_POOL_CONFIG; /* that is what ABT_pool_create returns then */
    stack->room = (size_t)room;
    stack->size = 0;
    stacks++;
    return ABT_pool_set_data(pool, stack);
}

static void free_stack(ABT_pool pool)
{
    void *stack;
    if (ABT_pool_get_data(pool, &stack) == ABT_SUCCESS)
        free(stack);
    stacks--;
}

/* No room, no unit: then ABT_thread_create fails with ABT_ERR_OTHER. */
static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    return stack_of(pool)->size < stack_of(pool)->room ? (ABT_unit)thread : ABT_UNIT_NULL;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool, (void)unit;
}

static size_t get_size(ABT_pool pool)
{
    return stack_of(pool)->size;
}

static ABT_bool is_empty(ABT_pool pool)
{
    return stack_of(pool)->size == 0;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    (void)context;
    stack_of(pool)->units[stack_of(pool)->size++] = unit;
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    (void)context; /* why it is taken */
    return is_empty(pool) ? ABT_THREAD_NULL : (ABT_thread)stack_of(pool)->units[--stack_of(pool)->size];
}

static void runs(void *arg)
{
    printf("%d ", *(int *)arg);
    ran++;
}

int main(int argc, char **argv)
{
    int room = UNITS, ids[UNITS + 1], code, without;
    ABT_pool_user_def def;
    ABT_pool_config config;
    ABT_pool pool;
    ABT_thread units[UNITS + 1], unit;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def);
    ABT_pool_user_def_set_init(def, init);
    ABT_pool_user_def_set_free(def, free_stack);
    ABT_pool_user_def_set_get_size(def, get_size);
    ABT_pool_config_create(&config);
    without = ABT_pool_create(def, config, &pool); /* no room has been configured */
    ABT_pool_config_set(config, ROOM_KEY, ABT_POOL_CONFIG_INT, &room);
    ABT_pool_create(def, config, &pool);
    ABT_pool_config_free(&config);
    ABT_pool_user_def_free(&def);
    for (int i = 0; i <= UNITS; i++) {
        ids[i] = i;
        code = ABT_thread_create(pool, runs, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    while (ABT_pool_pop_thread(pool, &unit) == ABT_SUCCESS && unit != ABT_THREAD_NULL)
        ABT_self_schedule(unit, ABT_POOL_NULL);
    printf("have run; there was no room for the next one: %s\n", code == ABT_ERR_OTHER ? "yes" : "no");
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_pool_free(&pool);
    ABT_finalize();
    return without == ABT_SUCCESS || ran != UNITS || code != ABT_ERR_OTHER || stacks != 0;
}
