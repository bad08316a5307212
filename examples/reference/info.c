/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I print what is there? Each object tells of itself, for people: in a log, a debugger or a bug report.
 *
 *   cc info.c $(pkg-config --cflags --libs argobots) -o info
 */
#include <abt.h>
#include <stdio.h>

static void waits(void *arg)
{
    ABT_eventual_wait(*(ABT_eventual *)arg, NULL);
}

static int wrong;

/* Says what has been printed. */
static void tell(const char *what, int code)
{
    printf("^ %s\n\n", what);
    wrong += code != ABT_SUCCESS;
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_sched sched;
    ABT_pool pool;
    ABT_thread unit, stored;
    ABT_thread_attr attr;
    ABT_eventual eventual;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&stream);
    ABT_xstream_get_main_sched(stream, &sched);
    ABT_self_get_last_pool(&pool);
    ABT_eventual_create(0, &eventual);
    ABT_thread_create(pool, waits, &eventual, ABT_THREAD_ATTR_NULL, &unit);
    ABT_self_yield();
    ABT_thread_create(pool, waits, &eventual, ABT_THREAD_ATTR_NULL, &stored);
    ABT_thread_get_attr(unit, &attr);

    tell("a stream", ABT_info_print_xstream(stdout, stream));
    tell("its scheduler, with the pools", ABT_info_print_sched(stdout, sched));
    tell("a pool", ABT_info_print_pool(stdout, pool));
    tell("a unit that waits", ABT_info_print_thread(stdout, unit));
    tell("attributes", ABT_info_print_thread_attr(stdout, attr));
    tell("the stack of the unit: where it waits", ABT_info_print_thread_stack(stdout, unit));
    tell("the stacks of the units in a pool", ABT_info_print_thread_stacks_in_pool(stdout, pool));

    ABT_eventual_set(eventual, NULL, 0);
    ABT_thread_free(&unit);
    ABT_thread_free(&stored);
    ABT_thread_attr_free(&attr);
    ABT_eventual_free(&eventual);
    ABT_finalize();
    return wrong;
}
