/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_*_slot*: two words per work unit, and who gets them from the unit that creates it. */
#include "common.h"

static int a, b, c, d;

static void *slot_of(ABT_thread thread, int slot)
{
    void *value = UNTOUCHED(void *);

    must(ABTX_thread_get_slot(thread, slot, &value));
    return value;
}

static void *own_slot(int slot)
{
    void *value = UNTOUCHED(void *);

    must(ABTX_self_get_slot(slot, &value));
    return value;
}

/* --- One's own, and another unit's --- */

static void own(enum caller who, void *arg)
{
    void *value = &a;
    (void)arg;

    if (who == EXTERNAL) {
        if (is_left_out(false))
            return;
        ok_err(ABTX_self_set_slot(0, &a), ABT_ERR_INV_XSTREAM);
        ok_err(ABTX_self_get_slot(0, &value), ABT_ERR_INV_XSTREAM);
        ok_err(ABTX_self_get_slot_place(0, &(void *volatile *){NULL}), ABT_ERR_INV_XSTREAM);
        is_ptr(value, &a, "nothing is stored");
        return;
    }
    is_ptr(own_slot(0), NULL, "slot 0 is empty at first");
    is_ptr(own_slot(1), NULL, "slot 1 is empty at first");
    ok_abt(ABTX_self_set_slot(1, &b));
    is_ptr(own_slot(0), NULL, "slot 0 is still empty");
    is_ptr(own_slot(1), &b, "slot 1 has its value");
    ok_abt(ABTX_self_set_slot(0, &a));
    is_ptr(own_slot(0), &a, "slot 0 has its value");
    ok_abt(ABTX_thread_set_slot(self(), 1, &c));
    is_ptr(own_slot(1), &c, "a unit may name itself");
    void *volatile *place = NULL;
    ok_abt(ABTX_self_get_slot_place(1, &place));
    ok(place && *place == &c, "a slot is read in its place");
    if (place)
        *place = &d;
    is_ptr(own_slot(1), &d, "and written there");
    ok_abt(ABTX_self_set_slot(0, NULL));
    ok_abt(ABTX_self_set_slot(1, NULL));
    is_ptr(own_slot(0), NULL, "slot 0 is empty again");
    if (is_left_out(false))
        return;
    ok_err(ABTX_self_set_slot(-1, &a), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_set_slot(ABTX_NUM_SLOTS, &a), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_get_slot(-1, &value), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_get_slot(ABTX_NUM_SLOTS, &value), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_get_slot_place(ABTX_NUM_SLOTS, &place), ABT_ERR_INV_ARG);
    is_ptr(value, &a, "nothing is stored");
}

struct seen {
    void *slots[ABTX_NUM_SLOTS];
};

static void look(void *arg)
{
    struct seen *seen = arg;

    seen->slots[0] = own_slot(0);
    seen->slots[1] = own_slot(1);
}

static void look_and_set(void *arg)
{
    look(arg);
    must(ABTX_self_set_slot(0, &c));
}

static void others(enum caller who, void *arg)
{
    struct seen seen = {{NULL, NULL}};
    ABT_thread thread = *(ABT_thread *)arg;
    void *value = &d;
    (void)who;

    is_ptr(slot_of(thread, 0), NULL, "a unit's slot is empty at first");
    ok_abt(ABTX_thread_set_slot(thread, 0, &a));
    ok_abt(ABTX_thread_set_slot(thread, 1, &b));
    is_ptr(slot_of(thread, 0), &a, "another unit's slot 0");
    is_ptr(slot_of(thread, 1), &b, "another unit's slot 1");
    must(ABTX_thread_set_slot(thread, 0, NULL));
    if (is_left_out(false))
        return;
    ok_err(ABTX_thread_set_slot(thread, 2, &a), ABT_ERR_INV_ARG);
    ok_err(ABTX_thread_get_slot(thread, -1, &value), ABT_ERR_INV_ARG);
    ok_err(ABTX_thread_set_slot(ABT_THREAD_NULL, 0, &a), ABT_ERR_INV_THREAD);
    ok_err(ABTX_thread_get_slot(ABT_THREAD_NULL, 0, &value), ABT_ERR_INV_THREAD);
    is_ptr(value, &d, "nothing is stored");
    is_ptr(seen.slots[0], NULL, "nor set");
}

static void test_life(bool tasklet)
{
    struct seen seen = {{NULL, NULL}};
    ABT_thread unit;
    ABT_pool pool = own_pool();

    if (tasklet)
        must(ABT_task_create(pool, look_and_set, &seen, &unit));
    else
        must(ABT_thread_create(pool, look_and_set, &seen, ABT_THREAD_ATTR_NULL, &unit));
    must(ABTX_thread_set_slot(unit, 0, &a));
    must(ABTX_thread_set_slot(unit, 1, &b));
    must(ABT_thread_join(unit));
    is_ptr(seen.slots[0], &a, "%s finds what was set before it ran", tasklet ? "a tasklet" : "a ULT");
    is_ptr(seen.slots[1], &b, "in both slots");
    is_ptr(slot_of(unit, 0), &c, "what it has set is there when it has ended");
    if (tasklet)
        must(ABT_task_revive(pool, look, &seen, &unit));
    else
        must(ABT_thread_revive(pool, look, &seen, &unit));
    must(ABT_thread_join(unit));
    is_ptr(seen.slots[0], &c, "and when it has been revived");
    must(ABT_thread_free(&unit));
    for (int i = 0; i < 300; i++) { /* the descriptor is used again at some time */
        unit = ult_in(pool, look, &seen);
        must(ABT_thread_free(&unit));
        if (seen.slots[0] || seen.slots[1])
            break;
    }
    ok(!seen.slots[0] && !seen.slots[1], "a new unit has nothing of an old one's");
}

/* --- Inheritance --- */

/* How a unit comes to be. Each is to run look(arg). */
static ABT_pool pool;

static void by_create(struct seen *seen)
{
    ABT_thread thread;
    must(ABT_thread_create(pool, look, seen, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void by_create_with_attr(struct seen *seen)
{
    ABT_thread thread;
    ABT_thread_attr attr;
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 40000));
    must(ABT_thread_create(pool, look, seen, attr, &thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_free(&attr));
}

static void by_create_many(struct seen *seen)
{
    ABT_thread thread;
    void (*func)(void *) = look;
    void *arg = seen;
    must(ABT_thread_create_many(1, &pool, &func, &arg, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void by_create_to(struct seen *seen)
{
    ABT_thread thread;
    must(ABT_thread_create_to(pool, look, seen, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void by_create_on_xstream(struct seen *seen)
{
    ABT_thread thread;
    must(ABT_thread_create_on_xstream(own_xstream(), look, seen, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void by_task_create(struct seen *seen)
{
    ABT_task task;
    must(ABT_task_create(pool, look, seen, &task));
    must(ABT_task_free(&task));
}

static void by_task_create_on_xstream(struct seen *seen)
{
    ABT_task task;
    must(ABT_task_create_on_xstream(own_xstream(), look, seen, &task));
    must(ABT_task_free(&task));
}

static void create_within(void *arg)
{
    by_create(arg);
}

static void by_grandparent(struct seen *seen)
{
    ABT_thread thread = ult_in(pool, create_within, seen);
    must(ABT_thread_free(&thread));
}

static void create_task_within(void *arg)
{
    ABT_task *task = arg;
    must(ABT_task_create(pool, look, *(void **)(task + 1), task));
}

static void by_tasklet(struct seen *seen)
{
    void *arg[2] = {NULL, seen};
    ABT_task task;
    must(ABT_task_create(pool, create_task_within, arg, &task));
    must(ABT_task_free(&task));
    must(ABT_task_free((ABT_task *)&arg[0]));
}

static const struct way {
    const char *name;
    void (*make)(struct seen *);
} ways[] = {
    {"ABT_thread_create", by_create},
    {"ABT_thread_create with an attribute", by_create_with_attr},
    {"ABT_thread_create_many", by_create_many},
    {"ABT_thread_create_to", by_create_to},
    {"ABT_thread_create_on_xstream", by_create_on_xstream},
    {"ABT_task_create", by_task_create},
    {"ABT_task_create_on_xstream", by_task_create_on_xstream},
    {"a ULT's ULT", by_grandparent},
    {"a tasklet's tasklet", by_tasklet},
};

static void make_in_all_ways(void *first, void *second)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct seen seen = {{&d, &d}};
        ways[i].make(&seen);
        ok(seen.slots[0] == first && seen.slots[1] == second, "%s: %s, %s", ways[i].name, first ? "inherited" : "empty",
           second ? "inherited" : "empty");
    }
}

static void make_some(void *arg)
{
    (void)arg;
    pool = own_pool();
    must(ABTX_self_set_slot(0, &a));
    must(ABTX_self_set_slot(1, &b));
    make_in_all_ways(NULL, NULL);
    ok_abt(ABTX_slot_set_inherited(1, ABT_TRUE));
    make_in_all_ways(NULL, &b);
    must(ABTX_slot_set_inherited(0, ABT_TRUE));
    make_in_all_ways(&a, &b);
    must(ABTX_self_set_slot(1, NULL));
    make_in_all_ways(&a, NULL);
    must(ABTX_slot_set_inherited(0, ABT_FALSE));
    must(ABTX_slot_set_inherited(1, ABT_FALSE));
    make_in_all_ways(NULL, NULL);
    must(ABTX_self_set_slot(0, NULL));
}

static void *create_externally(void *arg)
{
    ABT_thread thread = ult_in(pool, look, arg);
    must(ABT_thread_free(&thread));
    return NULL;
}

static void join_native(void *arg)
{
    pthread_t native;
    must(pthread_create(&native, NULL, create_externally, arg));
    must(pthread_join(native, NULL));
}

static void test_inheritance(void)
{
    struct seen seen = {{&d, &d}};
    ABT_pool private;
    ABT_thread thread;

    make_some(NULL);
    /* Where creation has a quicker way: a private pool, made before and while slots are inherited. */
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &private));
    must(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &private));
    make_some(NULL);
    must(ABTX_slot_set_inherited(0, ABT_TRUE));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &private));
    must(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &private));
    pool = private;
    must(ABTX_self_set_slot(0, &a));
    make_in_all_ways(&a, NULL);
    must(ABTX_slot_set_inherited(0, ABT_FALSE));
    make_some(NULL);
    must(ABTX_slot_set_inherited(0, ABT_TRUE));
    must(ABTX_self_set_slot(0, &a));

    /* The other stream's main scheduler runs what a native thread creates. */
    ABT_xstream other = new_xstream();
    pool = pool_of(other);
    join_native(&seen);
    ok(!seen.slots[0] && !seen.slots[1], "a native thread has nothing to pass on");
    thread = ult_in(pool, look, &seen);
    must(ABT_thread_free(&thread));
    is_ptr(seen.slots[0], &a, "a unit of another stream gets what its creator has");
    must(ABT_xstream_free(&other));
    if (!is_left_out(false)) {
        ok_err(ABTX_slot_set_inherited(2, ABT_TRUE), ABT_ERR_INV_ARG);
        ok_err(ABTX_slot_set_inherited(-1, ABT_TRUE), ABT_ERR_INV_ARG);
    }
}

int main(void)
{
    struct seen seen = {{&d, &d}};

    if (!is_left_out(false))
        ok_err(ABTX_slot_set_inherited(0, ABT_TRUE), ABT_ERR_UNINITIALIZED);
    must(ABT_init(0, NULL));
    call_as_each(own, NULL);
    for (int who = 0; who < NUM_CALLERS; who++) {
        ABT_pool apart = new_pool(ABT_POOL_FIFO, ABT_FALSE);
        ABT_thread thread = ult_in(apart, do_nothing, NULL);
        call_as((enum caller)who, others, &thread);
        must(ABT_pool_pop_thread(apart, &thread));
        must(ABT_pool_push_thread(own_pool(), thread));
        must(ABT_thread_free(&thread));
        must(ABT_pool_free(&apart));
    }
    test_life(false);
    test_life(true);
    test_inheritance();
    must(ABT_finalize());

    must(ABT_init(0, NULL));
    pool = own_pool();
    must(ABTX_self_set_slot(0, &a));
    by_create(&seen);
    is_ptr(seen.slots[0], NULL, "inheritance ends with ABT_finalize");
    must(ABT_finalize());
    return done_testing();
}
