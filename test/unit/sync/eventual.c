/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eventuals from the inside: who sets one, with which value, and waiting for any of several: where branches stand,
 * which one is told, and that none is left.
 */
#include "sync/eventual.h"
#include "sync_test.h"

enum { SEVERAL = 4, MANY = 40, ROUNDS = 1500 };

static ABT_eventual eventuals[MANY];

static void make(int num, int size)
{
    for (int i = 0; i < num; i++) {
        eventuals[i] = abti_eventual_create(size);
        if (!eventuals[i])
            bail_out("no eventual");
    }
}

static void destroy(int num)
{
    for (int i = 0; i < num; i++)
        abti_eventual_destroy(eventuals[i]);
}

static int num_at(int i)
{
    return num_queued(&eventuals[i]->gate.lock, &eventuals[i]->gate.waiters);
}

static void test_set(void)
{
    int value = 7;

    make(2, sizeof(int));
    is_int(abti_eventual_set(eventuals[0], &value, sizeof(value)), ABT_SUCCESS, "set");
    value = 8;
    is_int(abti_eventual_set(eventuals[0], &value, sizeof(value)), ABT_ERR_EVENTUAL, "once");
    ok(*(int *)(void *)eventuals[0]->value == 7 && abti_gate_is_open(&eventuals[0]->gate), "the first value stays");
    is_int(abti_eventual_set(eventuals[1], NULL, 0), ABT_SUCCESS, "without a value");
    is_int(*(int *)(void *)eventuals[1]->value, 0, "which is then what it was");
    destroy(2);
}

static void test_find(void)
{
    make(SEVERAL, 0);
    ABT_eventual handles[] = {ABT_EVENTUAL_NULL, eventuals[0], eventuals[1], NULL, eventuals[2]};
    is_int(abti_eventual_find_ready(5, handles), 5, "none is ready");
    must(abti_eventual_set(eventuals[2], NULL, 0));
    is_int(abti_eventual_find_ready(5, handles), 4, "the last one is");
    must(abti_eventual_set(eventuals[0], NULL, 0));
    is_int(abti_eventual_find_ready(5, handles), 1, "the first that is ready is found");
    destroy(SEVERAL);
}

/* --- Any of several --- */

struct any {
    int num, index;
    uint64_t deadline_ns;
};

static void wait_any(void *arg)
{
    struct any *any = arg;

    must(abti_eventual_wait_any(any->num, eventuals, any->deadline_ns, &any->index));
}

static void await_branches(int num)
{
    while (num_at(num - 1) != 1)
        give_way();
}

static int num_left(int num)
{
    int left = 0;

    for (int i = 0; i < num; i++)
        left += num_at(i);
    return left;
}

static void test_any(enum kind kind, int num)
{
    struct any any = {.num = num, .deadline_ns = ABTI_CLOCK_NEVER};
    struct actor actor;

    make(num, 0);
    start(&actor, kind, wait_any, &any);
    await_branches(num);
    is_int(num_left(num), num, "%s waits for each of %d", kind_names[kind], num);
    must(abti_eventual_set(eventuals[num / 2], NULL, 0));
    must(abti_eventual_set(eventuals[0], NULL, 0));
    finish(&actor);
    is_int(any.index, num / 2, "the one that was set first has woken it");
    is_int(num_left(num), 0, "no branch is left");
    start(&actor, kind, wait_any, &any);
    finish(&actor);
    ok(any.index == 0 && num_left(num) == 0, "the next wait finds the first one, and queues nowhere");
    destroy(num);
}

static void test_none(enum kind kind)
{
    struct any any = {.num = SEVERAL, .deadline_ns = in_us(1000)};
    struct actor actor;

    make(SEVERAL, 0);
    start(&actor, kind, wait_any, &any);
    finish(&actor);
    ok(any.index == SEVERAL && num_left(SEVERAL) == 0, "the time of %s is up, and no branch is left", kind_names[kind]);
    must(abti_eventual_set(eventuals[1], NULL, 0));
    any.deadline_ns = 0;
    start(&actor, kind, wait_any, &any);
    finish(&actor);
    is_int(any.index, 1, "one that does not wait is told what is ready");
    destroy(SEVERAL);
}

/* --- Sets race with waits that take branches out, with deadlines and without --- */

static atomic_int round_begun, num_back, errors;
enum { WAITERS = 4, SETTERS = 2 };

static void await_round(int round)
{
    while (atomic_load(&round_begun) == round)
        give_way();
}

/* The last one that is back, setters among them, makes the next round. */
static bool come_back(int round)
{
    if (atomic_fetch_add(&num_back, 1) == WAITERS + SETTERS - 1) {
        atomic_fetch_add(&errors, num_left(SEVERAL));
        destroy(SEVERAL);
        make(SEVERAL, 0);
        atomic_store(&num_back, 0);
        atomic_store(&round_begun, race_goes_on() ? round + 1 : -1);
    }
    await_round(round);
    return atomic_load(&round_begun) > round;
}

static void take_part(void *arg)
{
    int number = (int)(intptr_t)arg;

    for (int i = 0, index; i < ROUNDS; i++) {
        if (number < WAITERS) {
            do
                must(abti_eventual_wait_any(SEVERAL, eventuals, number % 2 ? in_us(i % 8 * 5) : ABTI_CLOCK_NEVER,
                                            &index));
            while (index == SEVERAL);
            atomic_fetch_add(&errors, !abti_gate_is_open(&eventuals[index]->gate));
        } else {
            for (int n = i % 5; n > 0; n--)
                give_way();
            for (int n = 0; n < SEVERAL; n++)
                (void)!abti_eventual_set(eventuals[(n + i + number) % SEVERAL], NULL, 0);
        }
        if (!come_back(i))
            break;
    }
}

int main(void)
{
    sync_begin();
    test_set();
    test_find();
    for (enum kind kind = HOME; kind < NUM_KINDS; kind++) {
        test_any(kind, SEVERAL);
        test_any(kind, MANY);
        test_none(kind);
    }
    make(SEVERAL, 0);
    race(WAITERS + SETTERS, take_part);
    is_int(atomic_load(&errors), 0, "each wait is told of one that is set, and leaves nothing behind");
    destroy(SEVERAL);
    return sync_end();
}
