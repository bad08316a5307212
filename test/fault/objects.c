/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that are a piece of memory: synchronisation, timers, attributes, configurations, keys and their values.
 */
#include "cases.h"

/* --- Creations. Most can be called at any time. --- */

static void *handle;        /* what the last creation has left */
static void *after_failure; /* what one that fails is to leave */

/* Of a `fn`, and of `fn`_undo, which uses what was made and frees it. */
#define MAKES(fn, type, null, create_call, use_and_free)                                                               \
    static int fn(void)                                                                                                \
    {                                                                                                                  \
        type h = UNTOUCHED(type);                                                                                      \
        int code = create_call;                                                                                        \
        handle = h;                                                                                                    \
        after_failure = ver20 ? UNTOUCHED(void *) : (void *)(null);                                                    \
        return code;                                                                                                   \
    }                                                                                                                  \
    static void fn##_undo(void)                                                                                        \
    {                                                                                                                  \
        type h = handle;                                                                                               \
        use_and_free;                                                                                                  \
    }

/* Functions that leave the handle alone when they fail. */
#define MAKES_ALONE(fn, type, create_call, use_and_free) MAKES(fn, type, UNTOUCHED(type), create_call, use_and_free)

static void out_is_right(void)
{
    expect(handle == after_failure, "the handle after a failure");
}

static void lock_and_free(ABT_mutex mutex)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
    must(ABT_mutex_free(&mutex));
}

static void signal_and_free(ABT_cond cond)
{
    must(ABT_cond_broadcast(cond));
    must(ABT_cond_free(&cond));
}

static void rwlock_and_free(ABT_rwlock rwlock)
{
    must(ABT_rwlock_wrlock(rwlock));
    must(ABT_rwlock_unlock(rwlock));
    must(ABT_rwlock_free(&rwlock));
}

static void set_eventual_and_free(ABT_eventual eventual, int size)
{
    static char value[100];
    void *got = UNTOUCHED(void *);

    must(ABT_eventual_set(eventual, value, size));
    must(ABT_eventual_wait(eventual, &got));
    expect(size ? !memcmp(got, value, (size_t)size) : !got, "the eventual's value");
    must(ABT_eventual_free(&eventual));
}

static void set_future_and_free(ABT_future future)
{
    for (int i = 0; i < 20; i++)
        must(ABT_future_set(future, NULL));
    must(ABT_future_wait(future));
    must(ABT_future_free(&future));
}

static void time_and_free(ABT_timer timer)
{
    double secs = -1.0;

    must(ABT_timer_start(timer));
    must(ABT_timer_stop_and_read(timer, &secs));
    expect(secs >= 0.0, "the time");
    must(ABT_timer_free(&timer));
}

static ABT_mutex_attr recursive;
static ABT_mutex mutex;
static ABT_timer timer;
static ABT_thread thread;

static void begin_mutexes(void)
{
    must(ABT_mutex_attr_create(&recursive));
    must(ABT_mutex_attr_set_recursive(recursive, ABT_TRUE));
    must(ABT_mutex_create_with_attr(recursive, &mutex));
}

static void end_mutexes(void)
{
    must(ABT_mutex_attr_free(&recursive));
    must(ABT_mutex_free(&mutex));
}

static void begin_timer(void)
{
    must(ABT_timer_create(&timer));
}

static void end_timer(void)
{
    must(ABT_timer_free(&timer));
}

static void begin_thread(void)
{
    thread = ult_in(own_pool(), do_nothing, NULL);
}

static void end_thread(void)
{
    must(ABT_thread_free(&thread));
}

MAKES(create_mutex, ABT_mutex, ABT_MUTEX_NULL, ABT_mutex_create(&h), lock_and_free(h))
MAKES(create_mutex_with_attr, ABT_mutex, ABT_MUTEX_NULL, ABT_mutex_create_with_attr(recursive, &h), lock_and_free(h))
MAKES(create_cond, ABT_cond, ABT_COND_NULL, ABT_cond_create(&h), signal_and_free(h))
MAKES(create_rwlock, ABT_rwlock, ABT_RWLOCK_NULL, ABT_rwlock_create(&h), rwlock_and_free(h))
MAKES(create_barrier, ABT_barrier, ABT_BARRIER_NULL, ABT_barrier_create(1, &h), must(ABT_barrier_free(&h)))
MAKES(create_xstream_barrier, ABT_xstream_barrier, ABT_XSTREAM_BARRIER_NULL, ABT_xstream_barrier_create(1, &h),
      must(ABT_xstream_barrier_wait(h));
      must(ABT_xstream_barrier_free(&h)))
MAKES(create_timer, ABT_timer, ABT_TIMER_NULL, ABT_timer_create(&h), time_and_free(h))
MAKES(dup_timer, ABT_timer, ABT_TIMER_NULL, ABT_timer_dup(timer, &h), time_and_free(h))
MAKES(create_thread_attr, ABT_thread_attr, ABT_THREAD_ATTR_NULL, ABT_thread_attr_create(&h),
      must(ABT_thread_attr_free(&h)))
MAKES_ALONE(thread_get_attr, ABT_thread_attr, ABT_thread_get_attr(thread, &h), must(ABT_thread_attr_free(&h)))
MAKES_ALONE(mutex_get_attr, ABT_mutex_attr, ABT_mutex_get_attr(mutex, &h), must(ABT_mutex_attr_free(&h)))
MAKES_ALONE(create_mutex_attr, ABT_mutex_attr, ABT_mutex_attr_create(&h), must(ABT_mutex_attr_free(&h)))
MAKES_ALONE(create_eventual, ABT_eventual, ABT_eventual_create(0, &h), set_eventual_and_free(h, 0))
MAKES_ALONE(create_eventual_100, ABT_eventual, ABT_eventual_create(100, &h), set_eventual_and_free(h, 100))
MAKES_ALONE(create_future, ABT_future, ABT_future_create(20, NULL, &h), set_future_and_free(h))
MAKES_ALONE(create_key, ABT_key, ABT_key_create(free, &h), must(ABT_key_free(&h)))
MAKES_ALONE(create_pool_config, ABT_pool_config, ABT_pool_config_create(&h), must(ABT_pool_config_free(&h)))
MAKES_ALONE(create_sched_config, ABT_sched_config, ABT_sched_config_create(&h, ABT_sched_config_var_end),
            must(ABT_sched_config_free(&h)))

/* --- Configurations that grow --- */

enum { NUM_VARS = 9 };

static int create_sched_config_of_many(void)
{
    ABT_sched_config_var vars[NUM_VARS];
    ABT_sched_config config = UNTOUCHED(ABT_sched_config);
    int code;

    for (int i = 0; i < NUM_VARS; i++)
        vars[i] = (ABT_sched_config_var){i, ABT_SCHED_CONFIG_INT};
    code = ABT_sched_config_create(&config, vars[0], 0, vars[1], 1, vars[2], 2, vars[3], 3, vars[4], 4, vars[5], 5,
                                   vars[6], 6, vars[7], 7, vars[8], 8, ABT_sched_config_var_end);
    handle = config;
    after_failure = UNTOUCHED(void *);
    return code;
}

static void read_and_free_sched_config(void)
{
    ABT_sched_config config = handle;

    for (int i = 0; i < NUM_VARS; i++) {
        int value = -1;
        must(ABT_sched_config_get(config, i, NULL, &value));
        expect(value == i, "the value that was given");
    }
    must(ABT_sched_config_free(&config));
}

/* One of the two is made. */
static ABT_sched_config sched_config;
static ABT_pool_config pool_config;
static int num_set;

static void begin_sched_config(void)
{
    must(ABT_sched_config_create(&sched_config, ABT_sched_config_var_end));
}

static void begin_pool_config(void)
{
    must(ABT_pool_config_create(&pool_config));
}

static void end_config(void)
{
    must(sched_config ? ABT_sched_config_free(&sched_config) : ABT_pool_config_free(&pool_config));
    sched_config = NULL;
}

static int set_value(int index, const void *value)
{
    return sched_config ? ABT_sched_config_set(sched_config, index, ABT_SCHED_CONFIG_INT, value)
                        : ABT_pool_config_set(pool_config, index, ABT_POOL_CONFIG_INT, value);
}

static int set_entries(void)
{
    for (num_set = 0; num_set < NUM_VARS; num_set++) {
        int code = set_value(num_set, &num_set);
        if (code != ABT_SUCCESS)
            return code;
    }
    return ABT_SUCCESS;
}

/* What was set is there, and nothing else; then all is removed. */
static void check_entries(void)
{
    for (int i = 0; i < NUM_VARS; i++) {
        int value = -1, code = sched_config ? ABT_sched_config_get(sched_config, i, NULL, &value)
                                            : ABT_pool_config_get(pool_config, i, NULL, &value);
        expect(i < num_set ? code == ABT_SUCCESS && value == i : code == ABT_ERR_INV_ARG, "the entry");
    }
    for (int i = 0; i < num_set; i++)
        must(set_value(i, NULL));
}

/* --- Values of keys: more than come with a table --- */

enum { NUM_KEYS = 12 };

static ABT_key keys[NUM_KEYS];
static atomic_int destroyed;
static int keys_set;

static void begin_keys(void)
{
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_create(count_up, &keys[i]));
}

static void end_keys(void)
{
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_free(&keys[i]));
}

/* Of a unit that is new each time. */
static int set_values(void)
{
    thread = ult_in(own_pool(), do_nothing, NULL);
    for (keys_set = 0; keys_set < NUM_KEYS; keys_set++) {
        int code = ABT_thread_set_specific(thread, keys[keys_set], &destroyed);
        if (code != ABT_SUCCESS)
            return code;
    }
    return ABT_SUCCESS;
}

static void check_values(void)
{
    for (int i = 0; i < NUM_KEYS; i++) {
        void *value = UNTOUCHED(void *);
        must(ABT_thread_get_specific(thread, keys[i], &value));
        expect(value == (i < keys_set ? &destroyed : NULL), "the value of a key");
    }
    destroyed = 0;
    must(ABT_thread_free(&thread));
    expect(destroyed == keys_set, "every value that was set is destroyed");
}

/* The same by a ULT for itself. */
static int own_code;

static void set_own(void *arg)
{
    for (keys_set = 0; keys_set < NUM_KEYS && own_code == ABT_SUCCESS; keys_set += own_code == ABT_SUCCESS)
        own_code = ABT_self_set_specific(keys[keys_set], &destroyed);
    for (int i = 0; i < NUM_KEYS; i++) {
        void *value = UNTOUCHED(void *);
        must(ABT_self_get_specific(keys[i], &value));
        expect(value == (i < keys_set ? &destroyed : NULL), "the value of a key");
    }
}

static int set_own_values(void)
{
    own_code = ABT_SUCCESS;
    destroyed = 0;
    thread = ult_in(own_pool(), set_own, NULL);
    must(ABT_thread_free(&thread));
    return own_code;
}

static void all_destroyed(void)
{
    expect(destroyed == keys_set, "every value that was set is destroyed");
}

/* What the unit itself needs is at hand. */
static void begin_own_keys(void)
{
    begin_keys();
    begin_thread();
    end_thread();
}

enum { ANY_TIME = FAULT_BARE | FAULT_EXTERNAL };

static const struct fault_case cases[] = {
    {"ABT_mutex_create", ANY_TIME, create_mutex, out_is_right, create_mutex_undo, NULL, NULL},
    {"ABT_mutex_create_with_attr", ANY_TIME, create_mutex_with_attr, out_is_right, create_mutex_with_attr_undo,
     begin_mutexes, end_mutexes},
    {"ABT_mutex_get_attr", ANY_TIME, mutex_get_attr, out_is_right, mutex_get_attr_undo, begin_mutexes, end_mutexes},
    {"ABT_mutex_attr_create", ANY_TIME, create_mutex_attr, out_is_right, create_mutex_attr_undo, NULL, NULL},
    {"ABT_cond_create", ANY_TIME, create_cond, out_is_right, create_cond_undo, NULL, NULL},
    {"ABT_rwlock_create", FAULT_EXTERNAL, create_rwlock, out_is_right, create_rwlock_undo, NULL, NULL},
    {"ABT_barrier_create", ANY_TIME, create_barrier, out_is_right, create_barrier_undo, NULL, NULL},
    {"ABT_xstream_barrier_create", ANY_TIME, create_xstream_barrier, out_is_right, create_xstream_barrier_undo, NULL,
     NULL},
    {"ABT_eventual_create", FAULT_EXTERNAL, create_eventual, out_is_right, create_eventual_undo, NULL, NULL},
    {"ABT_eventual_create, 100 bytes", FAULT_EXTERNAL, create_eventual_100, out_is_right, create_eventual_100_undo,
     NULL, NULL},
    {"ABT_future_create", FAULT_EXTERNAL, create_future, out_is_right, create_future_undo, NULL, NULL},
    {"ABT_timer_create", ANY_TIME, create_timer, out_is_right, create_timer_undo, NULL, NULL},
    {"ABT_timer_dup", ANY_TIME, dup_timer, out_is_right, dup_timer_undo, begin_timer, end_timer},
    {"ABT_key_create", ANY_TIME, create_key, out_is_right, create_key_undo, NULL, NULL},
    {"ABT_thread_attr_create", FAULT_EXTERNAL, create_thread_attr, out_is_right, create_thread_attr_undo, NULL, NULL},
    {"ABT_thread_get_attr", FAULT_EXTERNAL, thread_get_attr, out_is_right, thread_get_attr_undo, begin_thread,
     end_thread},
    {"ABT_pool_config_create", FAULT_EXTERNAL, create_pool_config, out_is_right, create_pool_config_undo, NULL, NULL},
    {"ABT_pool_config_set", FAULT_EXTERNAL, set_entries, check_entries, check_entries, begin_pool_config, end_config},
    {"ABT_sched_config_create", FAULT_EXTERNAL, create_sched_config, out_is_right, create_sched_config_undo, NULL,
     NULL},
    {"ABT_sched_config_create, many values", FAULT_EXTERNAL, create_sched_config_of_many, out_is_right,
     read_and_free_sched_config, NULL, NULL},
    {"ABT_sched_config_set", FAULT_EXTERNAL, set_entries, check_entries, check_entries, begin_sched_config, end_config},
    {"ABT_thread_set_specific", 0, set_values, check_values, check_values, begin_keys, end_keys},
    {"ABT_self_set_specific", 0, set_own_values, all_destroyed, all_destroyed, begin_own_keys, end_keys},
};

/* What has nothing to ask for does not. */
static void test_no_requests(void)
{
    double overhead;
    ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;

    must(ABT_init(0, NULL));
    fault_arm(1, FAULT_FROM);
    ok_abt(ABT_timer_get_overhead(&overhead));
    ok_abt(ABT_mutex_lock(ABT_MUTEX_MEMORY_GET_HANDLE(&memory)));
    ok_abt(ABT_mutex_unlock(ABT_MUTEX_MEMORY_GET_HANDLE(&memory)));
    ok(!fault_disarm(), "no memory is asked for");
    must(ABT_finalize());
}

int main(void)
{
    fault_begin();
    fault_run_all(cases);
    test_no_requests();
    return done_testing();
}
