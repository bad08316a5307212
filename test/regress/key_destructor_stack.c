/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The destructors of a unit's keys run on the stack of whoever frees the unit, and what they ask about themselves is
 * answered for the freer: not on the stack of some unit that happens to run next, and not in the name of the unit that
 * has ended. A unit that frees itself does it on its own stack.
 */
#include "regress.h"

enum { OWN_SIZE = 96 * 1024, NEAR = 16 * 1024 };

static ABT_key key;

/* What the destructor has seen. */
static struct {
    atomic_int times;
    char *frame;
    int code;
    ABT_thread self;
    void *value;
} seen;

static void destructor(void *value)
{
    seen.frame = __builtin_frame_address(0);
    seen.value = value;
    seen.self = ABT_THREAD_NULL;
    seen.code = ABT_self_get_thread(&seen.self);
    atomic_fetch_add(&seen.times, 1);
}

static void set(void *arg)
{
    must(ABT_self_set_specific(key, arg));
}

/* Others run in between, on stacks of their own. */
static void set_and_yield(void *arg)
{
    set(arg);
    must(ABT_self_yield());
}

static atomic_bool is_set;

static void yield_for_ever(void *arg)
{
    set(arg);
    atomic_store(&is_set, true);
    for (;;)
        must(ABT_self_yield());
}

/* Runs next when a unit ends: the memory below its frames is nobody else's business. */
static void bystander(void *arg)
{
    for (int i = 0; i < 20 && !atomic_load((atomic_bool *)arg); i++)
        must(ABT_self_yield());
}

enum kind { DEFAULT_STACK, OWN_STACK, USER_STACK, TASKLET, NUM_KINDS };
static const char *const kinds[] = {"default stack", "own size", "user's stack", "tasklet"};
static _Alignas(64) char user_stack[OWN_SIZE];

static ABT_thread make(enum kind kind, ABT_pool pool, void (*func)(void *), void *arg)
{
    ABT_thread thread;
    ABT_thread_attr attr;

    if (kind == TASKLET) {
        must(ABT_task_create(pool, func, arg, &thread));
        return thread;
    }
    must(ABT_thread_attr_create(&attr));
    if (kind == OWN_STACK)
        must(ABT_thread_attr_set_stacksize(attr, OWN_SIZE));
    if (kind == USER_STACK)
        must(ABT_thread_attr_set_stack(attr, user_stack, sizeof(user_stack)));
    must(ABT_thread_create(pool, func, arg, attr, &thread));
    must(ABT_thread_attr_free(&attr));
    return thread;
}

static bool is_below(const char *frame, const char *of)
{
    return frame < of && (size_t)(of - frame) < NEAR;
}

/* A unit has just been freed, by a call from that frame. */
static void check(const char *frame, const void *value, const char *what, const char *how)
{
    ABT_thread self = ABT_THREAD_NULL;
    int code = ABT_self_get_thread(&self);

    is_int(atomic_exchange(&seen.times, 0), 1, "%s, %s: the destructor runs once", what, how);
    is_ptr(seen.value, value, "%s, %s: for the value", what, how);
    ok(is_below(seen.frame, frame), "%s, %s: on the stack of the freer (%td bytes below)", what, how,
       frame - seen.frame);
    is_int(seen.code, code, "%s, %s: ABT_self_get_thread as in the freer", what, how);
    is_ptr(seen.self, self, "%s, %s: it is the freer", what, how);
}

struct room {
    ABT_pool pool;   /* where the units go */
    const char *who; /* frees them */
};

static void free_now(ABT_thread thread, void *value, const char *what, const char *who)
{
    char how[64];

    snprintf(how, sizeof(how), "freed by %s", who);
    must(ABT_thread_free(&thread));
    check(__builtin_frame_address(0), value, what, how);
    ok(thread == ABT_THREAD_NULL, "%s, %s: the handle is null", what, how);
}

/* Frees units of each kind: waiting for them, after their end, and cancelled ones. */
static void free_all_kinds(void *arg)
{
    const struct room *room = arg;
    ABT_thread_state state;
    int value;

    for (enum kind kind = 0; kind < NUM_KINDS; kind++) {
        atomic_bool over = false;
        ABT_thread thread = make(kind, room->pool, kind == TASKLET ? set : set_and_yield, &value);
        ABT_thread other = make(DEFAULT_STACK, room->pool, bystander, &over);
        ABT_thread small = make(OWN_STACK, room->pool, bystander, &over);

        free_now(thread, &value, kinds[kind], room->who);
        thread = make(kind, room->pool, set, &value);
        do
            must(ABT_thread_get_state(thread, &state));
        while (state != ABT_THREAD_STATE_TERMINATED && ABT_self_yield() != -1);
        free_now(thread, &value, kinds[kind], room->who);
        if (kind != TASKLET) {
            thread = make(kind, room->pool, yield_for_ever, &value);
            while (!atomic_exchange(&is_set, false))
                must(ABT_self_yield());
            must(ABT_thread_cancel(thread));
            free_now(thread, &value, kinds[kind], room->who);
        }
        atomic_store(&over, true);
        must(ABT_thread_free(&other));
        must(ABT_thread_free(&small));
    }
}

static void test_many(ABT_pool pool)
{
    enum { NUM = 5 };
    ABT_thread threads[NUM];
    int values[NUM];

    for (int i = 0; i < NUM; i++)
        threads[i] = make(i == 3 ? OWN_STACK : DEFAULT_STACK, pool, set, &values[i]);
    must(ABT_thread_free_many(NUM, threads));
    is_int(atomic_exchange(&seen.times, NUM - 4), NUM, "free_many: each destructor runs once");
    check(__builtin_frame_address(0), &values[NUM - 1], "free_many", "the last of them");
}

/* --- Units that free themselves --- */

static struct {
    char *frame;
    ABT_thread self;
} unnamed;

static void note_and_set(void *arg)
{
    unnamed.frame = __builtin_frame_address(0);
    must(ABT_self_get_thread(&unnamed.self));
    set(arg);
}

static void test_unnamed(ABT_pool pool)
{
    int value;
    ABT_thread_attr attr;

    for (int own = 0; own < 2; own++) {
        atomic_bool over = false;
        must(ABT_thread_attr_create(&attr));
        if (own)
            must(ABT_thread_attr_set_stacksize(attr, OWN_SIZE));
        must(ABT_thread_create(pool, note_and_set, &value, attr, NULL));
        must(ABT_thread_attr_free(&attr));
        ABT_thread other = make(OWN_STACK, pool, bystander, &over);
        while (atomic_load(&seen.times) == 0)
            must(ABT_self_yield());
        atomic_store(&over, true);
        must(ABT_thread_free(&other));
        is_int(atomic_exchange(&seen.times, 0), 1, "unnamed: the destructor runs once");
        ptrdiff_t distance = seen.frame - unnamed.frame;
        ok(distance < NEAR && -distance < NEAR, "unnamed, %s: on its own stack (%td)", own ? "own size" : "default",
           distance);
        is_ptr(seen.self, unnamed.self, "unnamed: as itself");
    }
}

/* --- A joiner that is cancelled with the unit that is left to it --- */

static ABT_thread joiner, joined;

static void join_for_good(void *arg)
{
    must(ABT_thread_free(&joined));
    fail("the joiner was cancelled");
}

static void set_and_cancel(void *arg)
{
    set(arg);
    must(ABT_self_yield()); /* the joiner waits now */
    must(ABT_thread_cancel(joiner));
}

static void test_cancelled_joiner(ABT_pool pool)
{
    int value;

    joined = make(OWN_STACK, pool, set_and_cancel, &value);
    joiner = make(DEFAULT_STACK, pool, join_for_good, NULL);
    must(ABT_thread_free(&joiner));
    /* With the tool interface a joiner frees the unit itself, when it runs on: here it does not. */
    if (joined != ABT_THREAD_NULL && has_tool())
        must(ABT_thread_free(&joined));
    is_int(atomic_exchange(&seen.times, 0), 1, "the joiner is cancelled: the destructor runs once");
    ok(joined == ABT_THREAD_NULL, "and the handle is null");
}

/* --- Elsewhere --- */

static void *free_externally(void *arg)
{
    int value;

    for (enum kind kind = 0; kind < NUM_KINDS; kind++)
        free_now(make(kind, arg, set, &value), &value, kinds[kind], "an external thread");
    return NULL;
}

static void test_other_stream(void)
{
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_xstream es = make_es(1, &pool);
    struct room room = {pool, "main, waiting for another stream"};
    pthread_t external;

    free_all_kinds(&room);
    must(pthread_create(&external, NULL, free_externally, pool));
    must(pthread_join(external, NULL));
    must(ABT_xstream_free(&es));
}

static ABT_thread primary;
static int at_finalize;

static void last_destructor(void *value)
{
    ABT_thread self;

    at_finalize = ABT_initialized() == ABT_SUCCESS && ABT_self_get_thread(&self) == ABT_SUCCESS && self == primary;
}

static void on_pool(ABT_pool pool, const char *what)
{
    struct room by_main = {pool, "main"}, by_ult = {pool, "a ULT"};
    diag("%s", what);
    free_all_kinds(&by_main);
    for (enum kind kind = 0; kind < USER_STACK; kind++) {
        ABT_thread thread = make(kind, pool, free_all_kinds, &by_ult);
        must(ABT_thread_free(&thread));
    }
    test_many(pool);
    test_unnamed(pool);
    test_cancelled_joiner(pool);
}

int main(void)
{
    want_tool();
    ABT_pool pool;
    ABT_xstream es;
    ABT_key last;
    int value;

    regress_begin();
    must(setenv("ABT_THREAD_STACKSIZE", "262144", 1));
    must(ABT_init(0, NULL));
    must(ABT_key_create(destructor, &key));
    must(ABT_self_get_xstream(&es));
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    on_pool(pool, "the shared pool");
    test_other_stream();
    ABT_pool alone = make_pool(ABT_POOL_ACCESS_PRIV);
    must(ABT_xstream_set_main_sched_basic(es, ABT_SCHED_DEFAULT, 1, &alone));
    on_pool(alone, "a private pool");

    must(ABT_key_create(last_destructor, &last));
    must(ABT_self_get_thread(&primary));
    must(ABT_self_set_specific(last, &value));
    must(ABT_finalize());
    ok(at_finalize, "at ABT_finalize: in the primary ULT");
    must(ABT_key_free(&last));
    must(ABT_key_free(&key));
    return done_testing();
}
