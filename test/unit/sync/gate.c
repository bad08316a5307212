/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gates from the inside: who queues, who is let through and who comes late, and that nobody touches a gate that has
 * been found open.
 */
#include "sync/gate.h"
#include "sync_test.h"

enum { ROUNDS = 2000, WAITERS = 5, GONE = 0xa5 };

static struct abti_gate gate;
static atomic_int num_through;

static void open_gate(void)
{
    abti_spin_lock(&gate.lock);
    abti_gate_open_locked(&gate);
}

static void wait_once(void *arg)
{
    (void)arg;
    abti_gate_wait(&gate, ABT_SYNC_EVENT_TYPE_EVENTUAL);
    atomic_fetch_add(&num_through, 1);
}

static void begin(void)
{
    memset(&gate, 0, sizeof(gate));
    atomic_store(&num_through, 0);
}

static void test_states(void)
{
    struct abti_waiter w;

    begin();
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_EVENTUAL, &gate);
    ok(!abti_gate_is_open(&gate), "zeroed memory is a closed gate");
    ok(abti_gate_enter(&gate, &w) && gate.waiters.head == &w, "a waiter queues");
    ok(is_held(&gate.lock), "with the lock held");
    abti_spin_unlock(&gate.lock);
    ok(!abti_gate_forget(&gate, &w) && !gate.waiters.head, "it is taken out of a gate that is closed");
    open_gate();
    ok(abti_gate_is_open(&gate) && !is_held(&gate.lock), "open");
    ok(!abti_gate_enter(&gate, &w) && !gate.waiters.head && !is_held(&gate.lock), "nobody queues any more");
    wait_once(NULL);
    is_int(atomic_load(&num_through), 1, "a wait returns");
    abti_gate_reset(&gate, false);
    ok(!abti_gate_is_open(&gate), "closed again");
}

static void test_kind(enum kind kind, int num)
{
    struct actor actors[WAITERS];

    begin();
    for (int i = 0; i < num; i++) {
        start(&actors[i], kind, wait_once, NULL);
        await_queued(&gate.lock, &gate.waiters, i + 1);
    }
    struct abti_waiter *w = gate.waiters.head;
    ok(w->object == &gate && w->reason == ABT_SYNC_EVENT_TYPE_EVENTUAL && (kind == NATIVE) == !w->unit,
       "%s waits for the gate", kind_names[kind]);
    is_int(atomic_load(&num_through), 0, "nobody is through");
    open_gate();
    for (int i = 0; i < num; i++)
        finish(&actors[i]);
    is_int(atomic_load(&num_through), num, "%s of %d: all are through", kind_names[kind], num);
    ok(!gate.waiters.head, "nobody is left");
}

static void wait_until_soon(void *arg)
{
    *(bool *)arg = abti_gate_wait_until(&gate, ABT_SYNC_EVENT_TYPE_EVENTUAL, in_us(1000));
}

static void test_until(enum kind kind)
{
    bool through = true;
    struct actor actor;

    begin();
    start(&actor, kind, wait_until_soon, &through);
    finish(&actor);
    ok(!through && !gate.waiters.head, "the time of %s is up, and nothing of it is left", kind_names[kind]);
    open_gate();
    start(&actor, kind, wait_until_soon, &through);
    finish(&actor);
    ok(through, "%s finds it open", kind_names[kind]);
}

/* The time of a waiter is up, and the gate is opened before it has taken itself out. */
static void test_late(void)
{
    struct abti_waiter w;

    begin();
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_EVENTUAL, &gate);
    abti_gate_enter(&gate, &w);
    abti_waiter_open(&w);
    abti_spin_unlock(&gate.lock);
    ok(abti_waiter_give_up(&w), "it gives up");
    open_gate();
    ok(!gate.waiters.head && abti_load_relaxed(&w.word) == ABTI_AWAKE, "it is not woken");
    ok(abti_gate_forget(&gate, &w), "but sees that the gate is open");
}

/* --- The opener has not let go of the lock --- */

static atomic_bool has_seen;

static void see_open(void *arg)
{
    (void)arg;
    while (!abti_gate_is_open(&gate))
        give_way();
    atomic_store(&has_seen, true);
}

static void test_settle(void)
{
    struct actor actor;

    begin();
    abti_spin_lock(&gate.lock);
    abti_store_release(&gate.open, 1);
    start(&actor, NATIVE, see_open, NULL);
    nap_us(20000);
    ok(!atomic_load(&has_seen), "an open gate is not told before its opener has let go of it");
    abti_spin_unlock(&gate.lock);
    finish(&actor);
    ok(atomic_load(&has_seen), "then it is");
}

/* --- The last of those that have found the gate open destroys it --- */

static atomic_int round_num, num_destroyed;

/* In every second round all of them sleep when the gate is opened. */
static void find_open(int number, int round)
{
    int way = round % 2 == 0 ? 2 : number % 3;

    if (way == 0) {
        while (!abti_gate_is_open(&gate))
            give_way();
    } else if (way == 1) {
        while (!abti_gate_wait_until(&gate, ABT_SYNC_EVENT_TYPE_EVENTUAL, in_us((uint64_t)round % 8 * 10)))
            ;
    } else {
        abti_gate_wait(&gate, ABT_SYNC_EVENT_TYPE_EVENTUAL);
    }
}

static void take_part(void *arg)
{
    int number = (int)(intptr_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&round_num) == i)
            give_way();
        if (atomic_load(&round_num) < 0)
            break;
        find_open(number, i);
        if (atomic_fetch_add(&num_through, 1) == WAITERS - 1)
            memset(&gate, GONE, sizeof(gate));
        atomic_fetch_add(&num_destroyed, 1);
    }
}

static bool is_as_destroyed(void)
{
    unsigned char expected[sizeof(gate)];

    memset(expected, GONE, sizeof(expected));
    return memcmp(expected, &gate, sizeof(gate)) == 0;
}

static void open_each(void)
{
    int touched = 0, i;

    for (i = 0; i < ROUNDS && race_goes_on(); i++) {
        begin();
        atomic_store(&round_num, i + 1);
        if (i % 2 == 0)
            await_queued(&gate.lock, &gate.waiters, WAITERS);
        for (int n = i % 7 * 3; n > 0; n--)
            give_way();
        open_gate();
        while (atomic_load(&num_destroyed) < (i + 1) * WAITERS)
            give_way();
        touched += !is_as_destroyed();
    }
    if (i < ROUNDS)
        atomic_store(&round_num, -1);
    is_int(touched, 0, "in %d rounds nobody touches a gate that is gone", i);
}

static void open_or_wait(void *arg)
{
    if ((intptr_t)arg < WAITERS)
        take_part(arg);
    else
        open_each();
}

int main(void)
{
    sync_begin();
    test_states();
    for (enum kind kind = HOME; kind < NUM_KINDS; kind++) {
        test_kind(kind, 1);
        test_kind(kind, 3);
        test_until(kind);
    }
    test_late();
    test_settle();
    race(WAITERS + 1, open_or_wait); /* an external thread opens */
    return sync_end();
}
