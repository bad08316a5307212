/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler of a storage engine in the style of DAOS, see storage.h: the order in which it runs units, how they
 * sleep and wake, what is counted meanwhile, and dumps for the operator.
 */
#include "storage.h"

enum { SLEEPERS = 12 };

static int order[3 * SLEEPERS], order_len; /* of one stream */
static double base_time;

static void note(void *number)
{
    order[order_len++] = *(int *)number;
}

static void note_after_sleep(void *number)
{
    sleep_until(base_time + 0.002 * *(int *)number);
    note(number);
}

static void sleep_long(void *arg)
{
    (void)arg;
    sleep_until(ABT_get_wtime() + 1000);
}

static bool is_in_order(int len)
{
    for (int i = 1; i < order_len; i++) {
        if (order[i] < order[i - 1])
            return false;
    }
    return order_len == len;
}

static void test_order(struct target *target, int *numbers)
{
    make_target(target);
    for (int i = 0; i < SLEEPERS; i++) {
        create_ult(target, GC, note, &numbers[GC]);
        create_ult(target, IO, note, &numbers[IO]);
        must(ABT_task_create(target->pools[NET], note, &numbers[NET], NULL));
    }
    is_int(sched_size(target, false), 3 * SLEEPERS, "the pools are filled");
    start_target(target, 1);
    must(ABT_xstream_join(target->xstream));
    ok(is_in_order(3 * SLEEPERS), "network goes before input and output, these before housekeeping");
}

static void test_sleep(struct target *target, int *numbers)
{
    order_len = 0;
    base_time = ABT_get_wtime() + 0.5; /* by then all sleep */
    for (int i = SLEEPERS - 1; i >= 0; i--)
        create_ult(target, IO, note_after_sleep, &numbers[i]);
    must(ABT_xstream_revive(target->xstream));
    must(ABT_xstream_join(target->xstream));
    ok(is_in_order(SLEEPERS), "sleepers wake in the order of their times");
    is_int(target->resumed_early, 0, "none before");
}

static void test_counts(struct target *target)
{
    must(ABT_xstream_revive(target->xstream));
    for (int i = 0; i < SLEEPERS; i++)
        create_ult(target, GC, sleep_long, NULL);
    ok(soon(sched_size(target, true) == SLEEPERS && sched_size(target, false) == 0), "all sleepers are counted");
}

/* ---- Dumps for the operator ---- */

static atomic_int dumps; /* 1: complete, more: timed out */

static void on_dump(ABT_bool timed_out, void *arg)
{
    (void)arg;
    atomic_store(&dumps, timed_out ? 2 : 1);
}

static void *service_main(void *file)
{
    must(ABT_info_trigger_print_all_thread_stacks(file, 10.0, on_dump, NULL));
    return NULL;
}

static void test_dumps(void)
{
    FILE *file = tmpfile();
    ABT_thread self;
    pthread_t service;

    must(ABT_info_print_config(file));
    must(ABT_info_print_all_xstreams(file));
    must(ABT_info_print_xstream(file, targets[0].xstream));
    must(ABT_info_print_sched(file, targets[0].sched));
    must(ABT_info_print_pool(file, targets[0].pools[NET]));
    must(ABT_thread_self(&self));
    must(ABT_info_print_thread(file, self));
    long before = ftell(file);
    must(pthread_create(&service, NULL, service_main, file));
    ok(soon(atomic_load(&dumps) == 1), "the stacks are dumped");
    pthread_join(service, NULL);
    ok(before > 500 && ftell(file) > before + 100, "there is something to read");
    fclose(file);
}

int main(void)
{
    struct target *target = &targets[0];
    int numbers[SLEEPERS];

    client_begin();
    for (int i = 0; i < SLEEPERS; i++)
        numbers[i] = i;
    must(ABT_init(0, NULL));
    test_order(target, numbers);
    test_sleep(target, numbers);
    test_counts(target);
    test_dumps();
    atomic_store(&target->stops, true);
    stop_target(target);
    is_int(atomic_load(&target->ran[GC]), 3 * SLEEPERS, "a target that stops wakes all sleepers");
    must(ABT_finalize());
    is_int(atomic_load(&scheds_inited), 1, "the scheduler was made once");
    is_int(atomic_load(&scheds_freed), 1, "and freed once");
    return done_testing();
}
