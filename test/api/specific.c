/* SPDX-License-Identifier: BSD-3-Clause */
/* Work-unit specific data: setting and getting through every function, and when and in which order destructors run. */
#include "common.h"

/* The destructor's calls, in order. Values are strings; the first letter is noted. */
static char destroyed[64];
static atomic_int num_destroyed;

static void destroy(void *value)
{
    int i = atomic_load(&num_destroyed);

    if (i < 63)
        destroyed[i] = *(char *)value;
    atomic_store(&num_destroyed, i + 1);
}

static void start_notes(void)
{
    memset(destroyed, 0, sizeof(destroyed));
    atomic_store(&num_destroyed, 0);
}

/* --- Set and get --- */

struct keys {
    ABT_key a, b;
};

static void use_own(enum caller who, void *arg)
{
    struct keys *keys = arg;
    const int code = code_for_es(who, ABT_SUCCESS);
    void *value = arg;

    if (is_left_out(who != EXTERNAL))
        return;
    is_int(ABT_self_get_specific(keys->a, &value), code, "a value never set");
    is_ptr(value, who == EXTERNAL ? arg : NULL, "is NULL");
    is_int(ABT_self_set_specific(keys->a, "x"), code, "set");
    value = NULL;
    is_int(ABT_self_get_specific(keys->a, &value), code, "get");
    is_str(value, who == EXTERNAL ? NULL : "x", "its value");
    is_int(ABT_key_set(keys->b, "y"), code, "set in the older form");
    is_int(ABT_key_get(keys->b, &value), code, "get in the older form");
    is_str(value, who == EXTERNAL ? NULL : "y", "its value");
    if (who == EXTERNAL)
        return;
    must(ABT_thread_get_specific(self(), keys->a, &value));
    is_str(value, "x", "from outside");
    must(ABT_thread_set_specific(self(), keys->a, NULL));
    must(ABT_key_get(keys->a, &value));
    is_ptr(value, NULL, "set from outside");
    must(ABT_key_set(keys->b, NULL));
}

static void use_other(enum caller who, void *arg)
{
    struct keys *keys = arg;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(pool, do_nothing, NULL), popped;
    void *value = &pool;

    ok_abt(ABT_thread_get_specific(thread, keys->a, &value));
    is_ptr(value, NULL, "%s: never set", caller_names[who]);
    ok_abt(ABT_thread_set_specific(thread, keys->a, "1"));
    ok_abt(ABT_thread_set_specific(thread, keys->b, "2"));
    ok_abt(ABT_thread_set_specific(thread, keys->a, "3"));
    ok_abt(ABT_thread_get_specific(thread, keys->a, &value));
    is_str(value, "3", "the last value");
    ok_abt(ABT_thread_get_specific(thread, keys->b, &value));
    is_str(value, "2", "the other key's");
    start_notes();
    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_thread_cancel(thread));
    if (is_ult(who)) {
        must(ABT_self_schedule(popped, ABT_POOL_NULL));
        must(ABT_thread_free(&thread));
        is_int(num_destroyed, 2, "a cancelled unit's values are destroyed, each once");
    } else {
        ABT_xstream xstream = new_xstream();
        must(ABT_pool_push_thread(pool_of(xstream), popped));
        must(ABT_thread_free(&thread));
        must(ABT_xstream_free(&xstream));
        is_int(num_destroyed, 2, "a cancelled unit's values are destroyed, each once");
    }
    must(ABT_pool_free(&pool));
}

/* --- When destructors run --- */

static ABT_key moment_key;

static void set_moment(void *value)
{
    must(ABT_self_set_specific(moment_key, value));
}

static void get_moment(void *arg)
{
    must(ABT_self_get_specific(moment_key, (void **)arg));
}

static void test_moments(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_pool pool = pool_of(xstream);
    ABT_thread thread;
    void *value = NULL;

    must(ABT_key_create(destroy, &moment_key));
    for (int i = 0; i < 2; i++) {
        start_notes();
        if (i == 0)
            must(ABT_thread_create(pool, set_moment, "t", ABT_THREAD_ATTR_NULL, &thread));
        else
            must(ABT_task_create(pool, set_moment, "t", &thread));
        must(ABT_thread_join(thread));
        is_int(num_destroyed, 0, "not when a unit ends and is joined");
        must(ABT_thread_get_specific(thread, moment_key, &value));
        is_str(value, "t", "the value is still there");
        value = NULL;
        must(ABT_thread_revive(pool, get_moment, &value, &thread));
        must(ABT_thread_join(thread));
        is_str(value, "t", "it survives a revive");
        is_int(num_destroyed, 0, "undestroyed");
        must(ABT_thread_free(&thread));
        is_int(num_destroyed, 1, "but when the unit is freed");
        is_str(destroyed, "t", "with its value");

        start_notes();
        if (i == 0)
            must(ABT_thread_create(pool, set_moment, "u", ABT_THREAD_ATTR_NULL, NULL));
        else
            must(ABT_task_create(pool, set_moment, "u", NULL));
        wait_for(num_destroyed == 1);
        is_str(destroyed, "u", "an unnamed unit is freed when it ends");
    }

    /* Replaced values, and NULL, are not destroyed. */
    start_notes();
    thread = ult_in(pool, set_moment, "1");
    must(ABT_thread_join(thread));
    must(ABT_thread_set_specific(thread, moment_key, "2"));
    is_int(num_destroyed, 0, "a replaced value is the user's");
    must(ABT_thread_free(&thread));
    is_str(destroyed, "2", "the last one is destroyed");
    start_notes();
    thread = ult_in(pool, set_moment, "1");
    must(ABT_thread_join(thread));
    must(ABT_thread_set_specific(thread, moment_key, NULL));
    must(ABT_thread_free(&thread));
    is_int(num_destroyed, 0, "NULL is not");

    /* A freed key's values keep their destructor. */
    thread = ult_in(pool, set_moment, "k");
    must(ABT_thread_join(thread));
    must(ABT_key_free(&moment_key));
    must(ABT_thread_free(&thread));
    is_str(destroyed, "k", "a value outlives its key");
    must(ABT_xstream_free(&xstream));
}

/* They run on the stack of whoever frees, once, in a single pass. */
static ABT_key chained[2];
static ABT_thread destroyed_by;
static atomic_int chain_calls;

static void destroy_and_set(void *value)
{
    count_up(&chain_calls);
    must(ABT_self_get_thread(&destroyed_by));
    if (*(ABT_thread *)value != ABT_THREAD_NULL)
        must(ABT_thread_set_specific(*(ABT_thread *)value, chained[0], value));
}

static void test_who_destroys(void)
{
    ABT_thread thread = ult_in(own_pool(), do_nothing, NULL), copy = ABT_THREAD_NULL;

    must(ABT_key_create(destroy_and_set, &chained[0]));
    must(ABT_key_create(destroy_and_set, &chained[1]));
    must(ABT_thread_set_specific(thread, chained[0], &copy));
    must(ABT_thread_join(thread));
    must(ABT_thread_free(&thread));
    is_ptr(destroyed_by, self(), "the destructor runs on the stack of who frees");
    is_int(chain_calls, 1, "once");

    /* A destructor that sets its own key again is not called again. */
    thread = ult_in(own_pool(), do_nothing, NULL);
    copy = thread;
    must(ABT_thread_set_specific(thread, chained[0], &copy));
    must(ABT_thread_join(thread));
    chain_calls = 0;
    must(ABT_thread_free(&thread));
    is_int(chain_calls, 1, "values set by destructors are not revisited");
    must(ABT_key_free(&chained[0]));
    must(ABT_key_free(&chained[1]));
}

/* --- In which order --- */

static ABT_key five[5];

static void set_five(void *values)
{
    for (int i = 0; i < 5; i++)
        must(ABT_self_set_specific(five[i], (char *)values + i));
}

/* The first user key of a process has number 2: main calls this first, with the default table of four buckets. */
static void test_order(void)
{
    ABT_thread thread = ult_in(own_pool(), set_five, "12345");

    start_notes();
    for (int i = 0; i < 5; i++)
        must(ABT_key_create(destroy, &five[i]));
    must(ABT_thread_free(&thread));
    is_str(destroyed, "34152", "by bucket, then by the first set");
    for (int i = 0; i < 5; i++)
        must(ABT_key_free(&five[i]));
}

static void test_many_keys(void)
{
    enum { N = 300 };
    static ABT_key keys[N];
    static char values[N];
    ABT_thread thread = ult_in(own_pool(), do_nothing, NULL);
    int wrong = 0;

    for (int i = 0; i < N; i++) {
        must(ABT_key_create(destroy, &keys[i]));
        must(ABT_thread_set_specific(thread, keys[i], &values[i]));
    }
    for (int i = 0; i < N; i++) {
        void *value = NULL;
        must(ABT_thread_get_specific(thread, keys[i], &value));
        wrong += value != &values[i];
    }
    is_int(wrong, 0, "%d keys at a time", N);
    start_notes();
    must(ABT_thread_free(&thread));
    is_int(num_destroyed, N, "all destroyed");
    for (int i = 0; i < N; i++)
        must(ABT_key_free(&keys[i]));
}

/* Several set values of one unit at once. */
static struct {
    ABT_key keys[8];
    ABT_thread target;
    atomic_int wrong;
} shared;

static void set_shared(void *arg)
{
    size_t me = (size_t)(uintptr_t)arg;
    static char values[8];

    for (int i = 0; i < 1000; i++) {
        void *value = NULL;
        must(ABT_thread_set_specific(shared.target, shared.keys[me], &values[me]));
        must(ABT_thread_get_specific(shared.target, shared.keys[me], &value));
        if (value != &values[me])
            count_up(&shared.wrong);
    }
}

static void test_concurrent(void)
{
    ABT_xstream xstreams[2] = {new_xstream(), new_xstream()};
    ABT_thread threads[8];

    shared.target = ult_in(own_pool(), do_nothing, NULL);
    for (size_t i = 0; i < 8; i++)
        must(ABT_key_create(NULL, &shared.keys[i]));
    for (size_t i = 0; i < 8; i++)
        threads[i] = ult_in(pool_of(xstreams[i % 2]), set_shared, (void *)(uintptr_t)i);
    must(ABT_thread_free_many(8, threads));
    is_int(shared.wrong, 0, "from two ESs at once");
    must(ABT_thread_free(&shared.target));
    for (int i = 0; i < 8; i++)
        must(ABT_key_free(&shared.keys[i]));
    must(ABT_xstream_free(&xstreams[0]));
    must(ABT_xstream_free(&xstreams[1]));
}

/* The first values that a unit ever gets come from several native threads at the same moment. */
enum { FIRST_THREADS = 4, FIRST_ROUNDS = 300 };

static struct {
    pthread_barrier_t barrier;
    ABT_key keys[FIRST_THREADS];
    ABT_thread units[FIRST_ROUNDS];
} first;

static void *set_first(void *arg)
{
    ABT_key key = *(ABT_key *)arg;

    for (int i = 0; i < FIRST_ROUNDS; i++) {
        if (i % 8 == 0)
            pthread_barrier_wait(&first.barrier);
        must(ABT_thread_set_specific(first.units[i], key, arg));
    }
    return NULL;
}

static void test_first_values(void)
{
    pthread_t native[FIRST_THREADS];
    int wrong = 0;

    must(pthread_barrier_init(&first.barrier, NULL, FIRST_THREADS));
    for (int i = 0; i < FIRST_ROUNDS; i++)
        first.units[i] = ult_in(own_pool(), do_nothing, NULL);
    for (int i = 0; i < FIRST_THREADS; i++)
        must(ABT_key_create(NULL, &first.keys[i]));
    for (int i = 0; i < FIRST_THREADS; i++)
        must(pthread_create(&native[i], NULL, set_first, &first.keys[i]));
    for (int i = 0; i < FIRST_THREADS; i++)
        pthread_join(native[i], NULL);
    for (int i = 0; i < FIRST_ROUNDS * FIRST_THREADS; i++) {
        void *value = NULL;
        must(ABT_thread_get_specific(first.units[i / FIRST_THREADS], first.keys[i % FIRST_THREADS], &value));
        wrong += value != &first.keys[i % FIRST_THREADS];
    }
    is_int(wrong, 0, "the first values of %d units, set by %d threads at once", FIRST_ROUNDS, FIRST_THREADS);
    must(ABT_thread_free_many(FIRST_ROUNDS, first.units));
    for (int i = 0; i < FIRST_THREADS; i++)
        must(ABT_key_free(&first.keys[i]));
    must(pthread_barrier_destroy(&first.barrier));
}

int main(void)
{
    struct keys keys;

    need_cancel_and_migrate();
    unsetenv("ABT_KEY_TABLE_SIZE");
    must(ABT_init(0, NULL));
    test_order();
    must(ABT_key_create(destroy, &keys.a));
    must(ABT_key_create(destroy, &keys.b));
    call_as_each(use_own, &keys);
    call_as_each(use_other, &keys);
    test_moments();
    test_who_destroys();
    test_many_keys();
    test_concurrent();
    test_first_values();
    must(ABT_self_set_specific(keys.a, "p"));
    start_notes();
    ok_abt(ABT_finalize());
    is_str(destroyed, "p", "the primary ULT's values go in finalize");
    must(ABT_key_free(&keys.a));
    must(ABT_key_free(&keys.b));
    return done_testing();
}
