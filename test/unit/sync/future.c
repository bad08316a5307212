/* SPDX-License-Identifier: BSD-3-Clause */
/* Futures from the inside: compartments, who calls back and when, and who is refused. */
#include "sync/future.h"
#include "sync_test.h"

enum { FEW = 3, ROUNDS = 1500, SETTERS = 6 };

static ABT_future future;
static atomic_int num_called, was_open, num_refused, errors;
static void *last_values[SETTERS];

/* The future is full by now, and closed. */
static void call_back(void **values)
{
    atomic_fetch_add(&num_called, 1);
    atomic_fetch_add(&was_open, abti_load_relaxed(&future->gate.open) != 0);
    atomic_fetch_add(&num_refused, abti_future_set(future, NULL) == ABT_ERR_FUTURE);
    memcpy(last_values, values, future->num * sizeof(values[0]));
}

static void make(uint32_t num, void (*callback)(void **))
{
    future = abti_future_create(num, callback);
    if (!future)
        bail_out("no future");
    atomic_store(&num_called, 0);
    atomic_store(&was_open, 0);
    atomic_store(&num_refused, 0);
}

static void test_states(void)
{
    int values[FEW];

    make(FEW, call_back);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < FEW; i++) {
            ok(!abti_gate_is_open(&future->gate) && future->filled == (uint32_t)i, "%d are filled: closed", i);
            is_int(abti_future_set(future, &values[i]), ABT_SUCCESS, "the next one");
        }
        ok(abti_gate_is_open(&future->gate), "all: open");
        is_int(atomic_load(&num_called), 1, "it has called back");
        ok(atomic_load(&was_open) == 0 && atomic_load(&num_refused) == 1, "before it was open, and when it was full");
        ok(last_values[0] == &values[0] && last_values[FEW - 1] == &values[FEW - 1], "with all values");
        is_int(abti_future_set(future, NULL), ABT_ERR_FUTURE, "there is no more room");
        abti_future_reset(future);
        atomic_store(&num_called, 0);
        atomic_store(&num_refused, 0);
    }
    abti_future_destroy(future);
    make(0, call_back);
    ok(abti_gate_is_open(&future->gate) && atomic_load(&num_called) == 0, "one without compartments is open");
    is_int(abti_future_set(future, NULL), ABT_ERR_FUTURE, "and has no room");
    abti_future_reset(future);
    ok(abti_gate_is_open(&future->gate), "also after a reset");
    abti_future_destroy(future);
}

/* --- Many set and wait: the values are told once, all of them, before anybody is through --- */

static atomic_int round_begun, num_back;

static void check_round(void)
{
    bool all = true;

    for (int i = 0; i < SETTERS; i++) {
        bool found = false;
        for (int j = 0; j < SETTERS; j++)
            found |= last_values[j] == (void *)(intptr_t)(i + 1);
        all &= found;
    }
    atomic_fetch_add(&errors, !all || atomic_load(&num_called) != 1 || atomic_load(&was_open) != 0);
}

static void take_part(void *arg)
{
    int number = (int)(intptr_t)arg;

    for (int i = 0; i < ROUNDS && atomic_load(&round_begun) == i; i++) {
        must(abti_future_set(future, (void *)(intptr_t)(number + 1)));
        if (number % 2)
            abti_gate_wait(&future->gate, ABT_SYNC_EVENT_TYPE_FUTURE);
        else
            while (!abti_gate_is_open(&future->gate))
                give_way();
        atomic_fetch_add(&errors, atomic_load(&num_called) != 1);
        if (atomic_fetch_add(&num_back, 1) == SETTERS - 1) {
            check_round();
            abti_future_destroy(future);
            make(SETTERS, call_back);
            atomic_store(&num_back, 0);
            atomic_store(&round_begun, race_goes_on() ? i + 1 : -1);
        }
        while (atomic_load(&round_begun) == i)
            give_way();
    }
}

int main(void)
{
    sync_begin();
    test_states();
    make(SETTERS, call_back);
    race(SETTERS, take_part);
    is_int(atomic_load(&errors), 0, "in each round the values are told once, before anybody is through");
    abti_future_destroy(future);
    return sync_end();
}
