/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_pool_*: the built-in pools. User-defined ones are in pool_user.c, ABT_pool_add_sched in sched_stack.c. */
#include "common.h"

static const ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};
static const ABT_pool_access accesses[] = {ABT_POOL_ACCESS_PRIV, ABT_POOL_ACCESS_SPSC, ABT_POOL_ACCESS_MPSC,
                                           ABT_POOL_ACCESS_SPMC, ABT_POOL_ACCESS_MPMC};

/* Units for tests of order: their functions are never run. */
enum { N = 6 };

static void make_units(ABT_thread *units)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread popped;

    for (int i = 0; i < N; i++) {
        if (i % 2)
            must(ABT_task_create(pool, do_nothing, NULL, &units[i]));
        else
            must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
        must(ABT_pool_pop_thread(pool, &popped));
    }
    must(ABT_pool_free(&pool));
}

/* Runs and frees them, on an ES of its own: any caller may wait for that. */
static void free_units(ABT_thread *units)
{
    ABT_xstream xstream = new_xstream();

    for (int i = 0; i < N; i++)
        must(ABT_pool_push_thread(pool_of(xstream), units[i]));
    must(ABT_thread_free_many(N, units));
    must(ABT_xstream_free(&xstream));
}

/* Which of the units this is, as a letter. */
static char letter_of(ABT_thread *units, ABT_thread thread)
{
    for (int i = 0; i < N; i++) {
        if (units[i] == thread)
            return (char)('a' + i);
    }
    return thread == ABT_THREAD_NULL ? '-' : '?';
}

/* --- Creating --- */

static void test_first(void)
{
    ABT_pool pool = ABT_POOL_NULL;

    ok_abt(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    ok(pool && pool != ABT_POOL_NULL, "a pool");
    must(ABT_pool_free(&pool));
}

static void test_create(enum caller who, void *arg)
{
    ABT_thread units[N];

    (void)who, (void)arg;
    make_units(units);
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 5; a++) {
            ABT_pool pool = ABT_POOL_NULL;
            ABT_pool_access access = (ABT_pool_access)9;
            ABT_bool empty = 9;
            ABT_thread popped = NULL;
            int id = -1, next_id = -1;
            ok_abt(ABT_pool_create_basic(kinds[k], accesses[a], ABT_FALSE, &pool));
            must(ABT_pool_get_access(pool, &access));
            is_int(access, accesses[a], "kind %d, access %d", kinds[k], accesses[a]);
            ok_abt(ABT_pool_is_empty(pool, &empty));
            is_int(empty, ABT_TRUE, "empty");
            ok_abt(ABT_pool_pop_thread(pool, &popped));
            is_ptr(popped, ABT_THREAD_NULL, "nothing to pop");
            for (int i = 0; i < N; i++)
                must(ABT_pool_push_thread(pool, units[i]));
            must(ABT_pool_is_empty(pool, &empty));
            is_int(empty, ABT_FALSE, "not empty");
            ok(size_of(pool) == N && total_size_of(pool) == N, "%d in it", N);
            for (int i = 0; i < N; i++) {
                must(ABT_pool_pop_thread(pool, &popped));
                is_ptr(popped, units[i], "first in, first out");
                is_int(size_of(pool), N - 1 - i, "one less");
            }
            must(ABT_pool_get_id(pool, &id));
            ok_abt(ABT_pool_free(&pool));
            is_ptr(pool, ABT_POOL_NULL, "null after free");
            must(ABT_pool_create_basic(kinds[k], accesses[a], ABT_TRUE, &pool));
            must(ABT_pool_get_id(pool, &next_id));
            is_int(next_id, id + 1, "ids count on");
            must(ABT_pool_free(&pool));
        }
    }
    free_units(units);
}

/* --- Order with contexts --- */

/* Pushes the units with those contexts and pops them with others; what comes out, as letters. */
static const char *through(ABT_pool pool, ABT_thread *units, const ABT_pool_context *pushes, ABT_pool_context pop)
{
    static char out[N + 1];

    for (int i = 0; i < N; i++)
        must(ABT_pool_push_thread_ex(pool, units[i], pushes[i]));
    for (int i = 0; i < N; i++) {
        ABT_thread popped = ABT_THREAD_NULL;
        must(ABT_pool_pop_thread_ex(pool, &popped, pop));
        out[i] = letter_of(units, popped);
    }
    return out;
}

static void test_contexts(void)
{
    const ABT_pool_context none[N] = {0};
    const ABT_pool_context heads[N] = {ABT_POOL_CONTEXT_OP_THREAD_CREATE, ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO,
                                       ABT_POOL_CONTEXT_OP_THREAD_REVIVE, ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO,
                                       ABT_POOL_CONTEXT_OP_THREAD_CREATE, ABT_POOL_CONTEXT_OP_THREAD_REVIVE};
    const ABT_pool_context tails[N] = {
        ABT_POOL_CONTEXT_OP_THREAD_YIELD,           ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO,
        ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO, ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP,
        ABT_POOL_CONTEXT_OP_THREAD_RESUME,          ABT_POOL_CONTEXT_OP_THREAD_MIGRATE,
    };
    const ABT_pool_context mixed[N] = {0, ABT_POOL_CONTEXT_OP_THREAD_CREATE, 0, ABT_POOL_CONTEXT_OP_THREAD_CREATE, 0,
                                       0};
    ABT_thread units[N];

    make_units(units);
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 5; a++) {
            bool randws = kinds[k] == ABT_POOL_RANDWS;
            ABT_pool pool;
            must(ABT_pool_create_basic(kinds[k], accesses[a], ABT_FALSE, &pool));
            diag("kind %d, access %d", kinds[k], accesses[a]);
            is_str(through(pool, units, none, 0), "abcdef", "no contexts");
            is_str(through(pool, units, none, ABT_POOL_CONTEXT_OWNER_PRIMARY), "abcdef", "popped by the owner");
            is_str(through(pool, units, none, ABT_POOL_CONTEXT_OWNER_SECONDARY), randws ? "fedcba" : "abcdef",
                   "popped by a thief");
            is_str(through(pool, units, heads, 0), randws ? "fedcba" : "abcdef", "created and revived");
            is_str(through(pool, units, heads, ABT_POOL_CONTEXT_OWNER_SECONDARY), "abcdef", "those, by a thief");
            is_str(through(pool, units, tails, 0), "abcdef", "yielded, resumed, migrated");
            is_str(through(pool, units, mixed, ABT_POOL_CONTEXT_OWNER_PRIMARY), randws ? "dbacef" : "abcdef", "mixed");
            is_str(through(pool, units, mixed, ABT_POOL_CONTEXT_OWNER_SECONDARY), randws ? "fecabd" : "abcdef",
                   "mixed, by a thief");
            must(ABT_pool_free(&pool));
        }
    }
    free_units(units);
}

/* --- Many at a time, in both forms --- */

static void test_many(enum caller who, void *arg)
{
    ABT_thread units[N], out[N + 2], with_null[3];
    size_t num;

    (void)who, (void)arg;
    make_units(units);
    for (int k = 0; k < 3; k++) {
        ABT_pool pool = new_pool(kinds[k], ABT_FALSE);
        ok_abt(ABT_pool_push_threads(pool, units, 4));
        ok_abt(ABT_pool_push_threads_ex(pool, units + 4, 2, ABT_POOL_CONTEXT_OP_THREAD_YIELD));
        is_int(size_of(pool), 6, "six pushed");
        is_ptr(last_pool_of(units[3]), pool, "and associated");
        num = 77;
        ok_abt(ABT_pool_pop_threads(pool, out, 0, &num));
        is_int(num, 77, "no room: the number is left alone");
        ok_abt(ABT_pool_pop_threads(pool, out, 2, &num));
        ok(num == 2 && out[0] == units[0] && out[1] == units[1], "two of them");
        ok_abt(ABT_pool_pop_threads_ex(pool, out, N + 2, &num, ABT_POOL_CONTEXT_OWNER_PRIMARY));
        ok(num == 4 && out[0] == units[2] && out[3] == units[5], "the rest");
        ok_abt(ABT_pool_pop_threads(pool, out, N, &num));
        is_int(num, 0, "no more");
        with_null[0] = units[0], with_null[1] = ABT_THREAD_NULL, with_null[2] = units[1];
        ok_abt(ABT_pool_push_threads(pool, with_null, 3));
        is_int(size_of(pool), 2, "null entries are skipped");
        ok_abt(ABT_pool_push_threads(pool, NULL, 0));
        ok_abt(ABT_pool_push_thread(pool, ABT_THREAD_NULL));
        ok_abt(ABT_pool_push_thread_ex(pool, ABT_TASK_NULL, ABT_POOL_CONTEXT_OP_THREAD_CREATE));
        is_int(size_of(pool), 2, "a null thread is ignored");
        must(ABT_pool_pop_threads(pool, out, N, &num));
        must(ABT_pool_free(&pool));
    }
    free_units(units);
}

/* The old form, by units. */
static char printed[64];

static void print_thread(void *arg, ABT_thread thread)
{
    size_t len = strlen(printed);

    printed[len] = letter_of(arg, thread);
    printed[len + 1] = 0;
}

static void print_unit(void *arg, ABT_unit unit)
{
    ABT_thread thread = ABT_THREAD_NULL;

    must(ABT_unit_get_thread(unit, &thread));
    print_thread(arg, thread);
}

/* --- Several units at once for several streams that sleep --- */

enum { SLEEPERS = 3 };

static atomic_int num_met;

static void meet_others(void *arg)
{
    double end = now() + patience();

    atomic_fetch_add(&num_met, 1);
    while (atomic_load(&num_met) < SLEEPERS && now() < end)
        nap_ms(0.05); /* without a yield: each keeps its stream */
}

/* Creates them in the pool at once, or pushes those that it pops from another one. */
static void bring_units(ABT_pool pool, bool push, ABT_thread units[SLEEPERS])
{
    void (*funcs[SLEEPERS])(void *);
    ABT_pool aside = new_pool(ABT_POOL_FIFO, ABT_FALSE), pools[SLEEPERS];

    for (int i = 0; i < SLEEPERS; i++) {
        funcs[i] = meet_others;
        pools[i] = push ? aside : pool;
    }
    ok_abt(ABT_thread_create_many(SLEEPERS, pools, funcs, NULL, ABT_THREAD_ATTR_NULL, units));
    if (push) {
        size_t num;
        ABT_thread popped[SLEEPERS];
        must(ABT_pool_pop_threads(aside, popped, SLEEPERS, &num));
        ok_abt(ABT_pool_push_threads(pool, popped, num));
    }
    must(ABT_pool_free(&aside));
}

static void test_sleepers(ABT_pool_kind kind, bool push)
{
    ABT_pool pool;
    ABT_xstream xstreams[SLEEPERS];
    ABT_thread units[SLEEPERS];

    must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    for (int i = 0; i < SLEEPERS; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    nap_ms(20); /* until they sleep, most likely */
    atomic_store(&num_met, 0);
    bring_units(pool, push, units);
    ok(soon(atomic_load(&num_met) == SLEEPERS), "each stream has been woken for one");
    must(ABT_thread_free_many(SLEEPERS, units));
    for (int i = 0; i < SLEEPERS; i++)
        must(ABT_xstream_free(&xstreams[i]));
    must(ABT_pool_free(&pool));
}

static void test_units(enum caller who, void *arg)
{
    ABT_thread units[N];
    ABT_unit handles[N], popped = NULL;
    const int left[] = {1, 3, 4};

    (void)who, (void)arg;
    make_units(units);
    for (int k = 0; k < 3; k++) {
        ABT_pool pool = new_pool(kinds[k], ABT_FALSE);
        for (int i = 0; i < N; i++) {
            must(ABT_thread_get_unit(units[i], &handles[i]));
            ok_abt(ABT_pool_push(pool, handles[i]));
            must(ABT_thread_get_unit(units[i], &handles[i]));
        }
        is_ptr(last_pool_of(units[2]), pool, "pushed, and associated");
        printed[0] = 0;
        ok_abt(ABT_pool_print_all(pool, units, print_unit));
        is_str(printed, "abcdef", "all units are shown");
        printed[0] = 0;
        ok_abt(ABT_pool_print_all_threads(pool, units, print_thread));
        is_str(printed, "abcdef", "all threads are shown");
        ok_abt(ABT_pool_remove(pool, handles[2]));
        ok_abt(ABT_pool_remove(pool, handles[5]));
        ok_abt(ABT_pool_remove(pool, handles[0]));
        is_int(size_of(pool), 3, "three removed");
        if (!ABT_NULL)
            ok_err(ABT_pool_remove(pool, handles[2]), ABT_ERR_POOL);
        printed[0] = 0;
        must(ABT_pool_print_all_threads(pool, units, print_thread));
        is_str(printed, "bde", "the others are still there");
        for (int i = 0; i < 3; i++) {
            ok_abt(ABT_pool_pop(pool, &popped));
            is_ptr(popped, handles[left[i]], "popped in order");
        }
        ok_abt(ABT_pool_pop(pool, &popped));
        is_ptr(popped, ABT_UNIT_NULL, "empty");
        printed[0] = 0;
        must(ABT_pool_print_all_threads(pool, units, print_thread));
        is_str(printed, "", "nothing to show");
        ok_abt(ABT_unit_set_associated_pool(handles[0], pool));
        if (!ABT_NULL)
            is_int(ABT_unit_set_associated_pool(ABT_UNIT_NULL, pool), ABT_ERR_INV_UNIT, "a null unit is no unit");
        must(ABT_pool_free(&pool));
    }
    free_units(units);
}

/* --- Waiting pops --- */

enum wait_form { WAIT_THREAD, WAIT_THREAD_EX, WAIT_UNIT, TIMED_UNIT, NUM_WAIT_FORMS };

static ABT_thread wait_pop(enum wait_form form, ABT_pool pool, double secs)
{
    ABT_thread thread = UNTOUCHED(ABT_thread);
    ABT_unit unit = UNTOUCHED(ABT_unit);

    switch (form) {
    case WAIT_THREAD: ok_abt(ABT_pool_pop_wait_thread(pool, &thread, secs)); return thread;
    case WAIT_THREAD_EX:
        ok_abt(ABT_pool_pop_wait_thread_ex(pool, &thread, secs, ABT_POOL_CONTEXT_OWNER_PRIMARY));
        return thread;
    case WAIT_UNIT: ok_abt(ABT_pool_pop_wait(pool, &unit, secs)); break;
    default:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        ok_abt(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + secs));
#pragma GCC diagnostic pop
    }
    if (unit != ABT_UNIT_NULL)
        must(ABT_unit_get_thread(unit, &thread));
    return unit == ABT_UNIT_NULL ? ABT_THREAD_NULL : thread;
}

struct late_push {
    ABT_pool pool;
    ABT_thread thread;
};

static void *push_late(void *arg)
{
    struct late_push *late = arg;

    nap_ms(5);
    must(ABT_pool_push_thread(late->pool, late->thread));
    return NULL;
}

static void test_wait(enum caller who, void *arg)
{
    ABT_thread units[N];
    pthread_t native;

    make_units(units);
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 5; a++) {
            ABT_pool pool;
            must(ABT_pool_create_basic(kinds[k], accesses[a], ABT_FALSE, &pool));
            for (int form = 0; form < NUM_WAIT_FORMS; form++) {
                double start = now();
                is_ptr(wait_pop((enum wait_form)form, pool, 0.003), ABT_THREAD_NULL, "nothing comes");
                ok(now() - start >= 0.0029, "and the time was waited for");
                is_ptr(wait_pop((enum wait_form)form, pool, 0.0), ABT_THREAD_NULL, "nothing is there");
                is_ptr(wait_pop((enum wait_form)form, pool, -1.0), ABT_THREAD_NULL, "nor was there");
                must(ABT_pool_push_thread(pool, units[1]));
                is_ptr(wait_pop((enum wait_form)form, pool, 1e6), units[1], "what is there is popped at once");
                must(ABT_pool_push_thread(pool, units[1]));
                is_ptr(wait_pop((enum wait_form)form, pool, 0.0), units[1], "also without time");
                if (accesses[a] != ABT_POOL_ACCESS_PRIV && (a == 4 || who == EXTERNAL)) {
                    struct late_push late = {pool, units[2]};
                    must(pthread_create(&native, NULL, push_late, &late));
                    is_ptr(wait_pop((enum wait_form)form, pool, 1e6), units[2], "a push ends the wait");
                    pthread_join(native, NULL);
                }
            }
            must(ABT_pool_free(&pool));
        }
    }
    free_units(units);
}

/* --- Sizes --- */

static void test_sizes(enum caller who, void *arg)
{
    ABT_xstream xstream = new_xstream();
    ABT_pool pool = pool_of(xstream);
    ABT_thread threads[10];
    atomic_int counter = 0;
    ABT_bool empty = ABT_FALSE;

    (void)who, (void)arg;
    for (int i = 0; i < 10; i++)
        threads[i] = ult_in(pool, suspend_once, &counter);
    for (int i = 0; i < 10; i++)
        wait_for(state_of(threads[i]) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_pool_is_empty(pool, &empty));
    ok(empty && size_of(pool) == 0, "blocked ULTs are not in the pool");
    is_int(total_size_of(pool), 10, "but counted");
    must(ABT_xstream_cancel(xstream));
    must(ABT_xstream_join(xstream));
    for (int i = 0; i < 10; i++) {
        must(ABT_thread_resume(threads[i]));
        ok(size_of(pool) == (size_t)i + 1 && total_size_of(pool) == 10, "resumed, %d are in it again", i + 1);
    }
    must(ABT_xstream_revive(xstream));
    must(ABT_thread_free_many(10, threads));
    is_int(counter, 10, "all went on");
    is_int(total_size_of(pool), 0, "all are gone");
    must(ABT_xstream_free(&xstream));
}

/* ULTs of two ESs that share a pool block and are resumed all the time: those that do not run are counted. */
static struct {
    ABT_thread threads[20];
    atomic_bool stop;
    atomic_int running;
} storm;

static void block_often(void *arg)
{
    while (!atomic_load(&storm.stop)) {
        ABT_self_suspend();
        ABT_self_yield();
    }
    atomic_fetch_sub(&storm.running, 1);
}

static void *resume_all(void *arg)
{
    while (atomic_load(&storm.running) > 0) {
        for (int i = 0; i < 20; i++) {
            if (state_of(storm.threads[i]) == ABT_THREAD_STATE_BLOCKED)
                must(ABT_thread_resume(storm.threads[i]));
        }
    }
    return NULL;
}

static void test_exact(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream xstreams[2];
    size_t least = 99, most = 0;
    double end = now() + 0.3;
    long looks = 0;
    pthread_t native;

    storm.running = 20;
    for (int i = 0; i < 20; i++)
        storm.threads[i] = ult_in(pool, block_often, NULL);
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    must(pthread_create(&native, NULL, resume_all, NULL));
    for (; now() < end; looks++) {
        size_t size = total_size_of(pool);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    atomic_store(&storm.stop, true);
    must(ABT_thread_join_many(20, storm.threads));
    pthread_join(native, NULL);
    must(ABT_thread_free_many(20, storm.threads));
    /* Each ES may have one unit that leaves and one that comes. None is ever counted twice. */
    ok(least >= 16 && most <= 20, "20 units were counted as %zu to %zu in %ld looks", least, most, looks);
    is_int(total_size_of(pool), 0, "and none in the end");
    must(ABT_xstream_free(&xstreams[0]));
    must(ABT_xstream_free(&xstreams[1]));
    must(ABT_pool_free(&pool));
}

/* --- Data, automatic pools, errors --- */

static void test_data(enum caller who, void *arg)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    void *data = NULL;

    (void)who, (void)arg;
    ok_abt(ABT_pool_get_data(pool, &data));
    /* What a built-in pool keeps there is not for us: give it the same again. */
    ok_abt(ABT_pool_set_data(pool, data));
    must(ABT_pool_free(&pool));
}

int main(void)
{
    must(ABT_init(0, NULL));
    test_first();
    call_as_each(test_create, NULL);
    test_contexts();
    call_as_each(test_many, NULL);
    for (int push = 0; push < 2; push++) {
        test_sleepers(ABT_POOL_FIFO, push);
        test_sleepers(ABT_POOL_RANDWS, push);
    }
    call_as_each(test_units, NULL);
    call_as_each(test_wait, NULL);
    call_as_each(test_sizes, NULL);
    test_exact();
    call_as_each(test_data, NULL);
    ok_abt(ABT_finalize());
    return done_testing();
}
