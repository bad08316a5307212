/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-defined pools of both definitions, whose units are the work units themselves or are not, with private and shared
 * pools, under more streams than there are CPUs, whose schedulers are the user's or predefined. Units yield, make and
 * free others, join them across streams, exit, are cancelled, revived, and move from pool to pool, while a tool comes
 * and goes. Each runs once in each of its lives, and each create_unit has its free_unit; see handle_pool.h.
 */
#include "stress.h"

#include "handle_pool.h"

enum {
    STREAMS = 6,
    USERS = 4, /* a pool of each definition and each kind of unit */
    ROOTS = SCALED(24, 12, 12),
    STEPS = SCALED(40, 20, 16),
    DEPTH = 2,
    ROW = 8,
    MOST_UNNAMED = 2000
};

static struct handle_pool users[USERS];
static ABT_pool shared, privs[STREAMS];
static ABT_key key;
static struct work unnamed[MOST_UNNAMED];
static atomic_int num_unnamed, keys_set, keys_destroyed, made;
static atomic_bool stop;

/* --- Pools, and the bodies of leaves --- */

/* One that every stream serves. */
static ABT_pool some_pool(struct rng *rng)
{
    unsigned i = below(rng, USERS + 1);

    return i < USERS ? users[i].pool : shared;
}

/* Or the private one of the caller's stream. */
static ABT_pool near_pool(struct rng *rng)
{
    int rank = 0;

    if (!one_in(rng, 5))
        return some_pool(rng);
    must(ABT_self_get_xstream_rank(&rank));
    return rank > 0 && rank <= STREAMS ? privs[rank - 1] : shared;
}

/* It is cancelled before. */
static void work_too_long(void *arg)
{
    struct work *work = arg;

    atomic_fetch_add(&work->begun, 1);
    for (int i = 0; i < 1000; i++)
        must(ABT_self_yield());
    atomic_fetch_add(&work->ended, 1);
}

static void (*some_body(struct rng *rng))(void *)
{
    static void (*const bodies[])(void *) = {work_quickly, work_quickly, work_and_yield, work_and_exit};

    return bodies[below(rng, 4)];
}

static void has_run(const struct work *work, int lives)
{
    if (work->begun != lives || work->ended != lives)
        bail_out("%d begun, %d ended, not %d", work->begun, work->ended, lives);
    atomic_fetch_add(&made, 1);
}

/* --- What a unit does --- */

static ABT_thread leaf_in(ABT_pool pool, void (*body)(void *), struct work *work, ABT_thread_attr attr)
{
    ABT_thread thread = ABT_THREAD_NULL;

    must(ABT_thread_create(pool, body, work, attr, &thread));
    return thread;
}

static void free_leaf(struct rng *rng, ABT_thread thread, const struct work *work, int lives)
{
    if (one_in(rng, 3)) {
        must(ABT_thread_join(thread));
        if (one_in(rng, 2))
            yield_if_ult();
    }
    must(ABT_thread_free(&thread));
    has_run(work, lives);
}

static void make_leaf(struct rng *rng, ABT_pool pool)
{
    struct work work = {0};
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ABT_thread thread = ABT_THREAD_NULL;

    if (one_in(rng, 4)) {
        must(ABT_task_create(pool, work_quickly, &work, &thread));
    } else {
        if (one_in(rng, 4)) {
            must(ABT_thread_attr_create(&attr));
            must(ABT_thread_attr_set_stacksize(attr, 64 * 1024));
        }
        thread = leaf_in(pool, some_body(rng), &work, attr);
        if (attr != ABT_THREAD_ATTR_NULL)
            must(ABT_thread_attr_free(&attr));
    }
    if (one_in(rng, 4))
        yield_if_ult();
    free_leaf(rng, thread, &work, 1);
}

static void make_unnamed(struct rng *rng)
{
    int i = atomic_fetch_add(&num_unnamed, 1);

    if (i < MOST_UNNAMED)
        must(ABT_thread_create(near_pool(rng), some_body(rng), &unnamed[i], ABT_THREAD_ATTR_NULL, NULL));
}

static void make_row(struct rng *rng)
{
    struct work works[ROW] = {0};
    ABT_thread threads[ROW];

    for (int i = 0; i < ROW; i++)
        threads[i] = leaf_in(near_pool(rng), some_body(rng), &works[i], ABT_THREAD_ATTR_NULL);
    if (one_in(rng, 2))
        must(ABT_thread_join_many(ROW / 2, threads));
    must(ABT_thread_free_many(ROW, threads));
    for (int i = 0; i < ROW; i++)
        has_run(&works[i], 1);
}

static void revive_leaf(struct rng *rng)
{
    struct work work = {0};
    ABT_thread thread = leaf_in(near_pool(rng), some_body(rng), &work, ABT_THREAD_ATTR_NULL);
    int lives = 1 + (int)below(rng, 3);

    for (int i = 1; i < lives; i++) {
        must(ABT_thread_join(thread));
        must(ABT_thread_revive(near_pool(rng), some_body(rng), &work, &thread));
    }
    free_leaf(rng, thread, &work, lives);
}

static void cancel_leaf(struct rng *rng)
{
    struct work work = {.is_cut = true};
    ABT_thread thread = leaf_in(near_pool(rng), work_too_long, &work, ABT_THREAD_ATTR_NULL);

    for (unsigned i = below(rng, 3); i > 0; i--)
        must(ABT_self_yield());
    must(ABT_thread_cancel(thread));
    must(ABT_thread_free(&thread));
    atomic_fetch_add(&made, 1);
}

static void destroy_value(void *value)
{
    if (value)
        atomic_fetch_add(&keys_destroyed, 1);
}

/* A unit that needs more than its descriptor, which comes to it early or late. */
static void make_rich(struct rng *rng)
{
    struct work work = {0};
    ABT_unit_id id;
    ABT_thread thread = leaf_in(near_pool(rng), work_and_yield, &work, ABT_THREAD_ATTR_NULL);

    if (one_in(rng, 2))
        must(ABT_self_yield());
    if (one_in(rng, 2))
        must(ABT_thread_get_id(thread, &id));
    if (one_in(rng, 2))
        must(ABT_thread_set_migratable(thread, one_in(rng, 2)));
    if (one_in(rng, 2)) {
        must(ABT_thread_set_specific(thread, key, &work));
        atomic_fetch_add(&keys_set, 1);
    }
    free_leaf(rng, thread, &work, 1);
}

static void move(struct rng *rng)
{
    ABT_thread self;

    if (one_in(rng, 2)) {
        must(ABT_self_set_associated_pool(near_pool(rng)));
    } else {
        must(ABT_self_get_thread(&self));
        int code = ABT_thread_migrate_to_pool(self, some_pool(rng));
        if (code != ABT_SUCCESS && code != ABT_ERR_MIGRATION_TARGET)
            bail_out("migration gives %d", code);
    }
    must(ABT_self_yield());
}

/* --- Units that make others --- */

struct parent {
    struct work work;
    int depth;
};

static void be_parent(void *arg);

static void make_parent(struct rng *rng, int depth)
{
    struct parent parent = {.work = {.may_leave = true}, .depth = depth};
    ABT_thread thread = leaf_in(near_pool(rng), be_parent, &parent.work, ABT_THREAD_ATTR_NULL);

    free_leaf(rng, thread, &parent.work, 1);
}

static void step(struct rng *rng, int depth)
{
    switch (below(rng, 12)) {
    case 0:
    case 1: must(ABT_self_yield()); break;
    case 2:
    case 3: make_leaf(rng, near_pool(rng)); break;
    case 4: make_unnamed(rng); break;
    case 5: make_row(rng); break;
    case 6: revive_leaf(rng); break;
    case 7: cancel_leaf(rng); break;
    case 8: make_rich(rng); break;
    case 9: move(rng); break;
    case 10:
        if (depth < DEPTH && one_in(rng, 3))
            make_parent(rng, depth + 1);
        break;
    default: jitter(rng);
    }
}

static void be_parent(void *arg)
{
    struct parent *parent = arg;
    struct rng rng = rng_fresh();

    atomic_fetch_add(&parent->work.begun, 1);
    for (int i = 0; i < STEPS >> parent->depth; i++)
        step(&rng, parent->depth);
    atomic_fetch_add(&parent->work.ended, 1);
    if (one_in(&rng, 2))
        ABT_self_exit();
}

/* --- From outside --- */

static void on_event(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)thread, (void)xstream, (void)event, (void)context, (void)arg;
}

static void *be_outside(void *arg)
{
    struct rng rng = rng_fresh();
    bool tool = has_tool() && one_in(&rng, 2);

    (void)arg;
    while (!atomic_load(&stop)) {
        make_leaf(&rng, some_pool(&rng));
        if (tool && one_in(&rng, 16))
            must(ABT_tool_register_thread_callback(
                on_event, one_in(&rng, 2) ? ABT_TOOL_EVENT_THREAD_ALL : ABT_TOOL_EVENT_THREAD_NONE, NULL));
        jitter(&rng);
    }
    if (tool)
        must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
    return NULL;
}

/* A stream with its private pool in front, and all others in any order. */
static ABT_xstream make_stream(struct rng *rng, ABT_pool priv, bool by_user)
{
    ABT_pool pools[USERS + 2] = {priv, shared};
    ABT_xstream xstream = ABT_XSTREAM_NULL;

    for (int i = 0; i < USERS; i++)
        pools[2 + i] = users[i].pool;
    for (unsigned i = USERS + 1; i > 1; i--) {
        unsigned j = 1 + below(rng, i);
        ABT_pool pool = pools[i];
        pools[i] = pools[j];
        pools[j] = pool;
    }
    if (by_user)
        return handle_xstream(USERS + 2, pools);
    must(ABT_xstream_create_basic(all_scheds[below(rng, 4)], USERS + 2, pools, ABT_SCHED_CONFIG_NULL, &xstream));
    return xstream;
}

static void count_all(void)
{
    int ran = 0, num = num_unnamed < MOST_UNNAMED ? num_unnamed : MOST_UNNAMED;

    for (int i = 0; i < num; i++)
        ran += unnamed[i].begun == 1 && unnamed[i].ended == 1;
    is_int(ran, num, "all that have no name have run once, and %d others", made);
    is_int(keys_destroyed, keys_set, "each value is destroyed");
    for (int i = 0; i < USERS; i++)
        is_int(users[i].freed, users[i].created, "pool %d: a free_unit for each create_unit", i);
}

static void play(struct rng *rng)
{
    static struct parent roots[ROOTS];
    ABT_xstream streams[STREAMS];
    ABT_thread threads[ROOTS];
    pthread_t outside;

    num_unnamed = keys_set = keys_destroyed = made = 0;
    memset(unnamed, 0, sizeof(unnamed));
    atomic_store(&stop, false);
    must(ABT_init(0, NULL));
    must(ABT_key_create(destroy_value, &key));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &shared));
    for (int i = 0; i < USERS; i++)
        handle_pool_begin(&users[i], i % 2, i / 2);
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &privs[i]));
        streams[i] = make_stream(rng, privs[i], i == 0 || one_in(rng, 2));
        must(ABT_xstream_set_rank(streams[i], i + 1));
    }
    for (int i = 0; i < ROOTS; i++) {
        roots[i] = (struct parent){.work = {.may_leave = true}};
        threads[i] = leaf_in(some_pool(rng), be_parent, &roots[i].work, ABT_THREAD_ATTR_NULL);
    }
    must(pthread_create(&outside, NULL, be_outside, NULL));
    must(ABT_thread_join_many(ROOTS / 2, threads));
    must(ABT_thread_free_many(ROOTS, threads));
    for (int i = 0; i < ROOTS; i++)
        has_run(&roots[i].work, 1);
    atomic_store(&stop, true);
    pthread_join(outside, NULL);
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i])); /* all that have no name end before */
    count_all();
    for (int i = 0; i < USERS; i++)
        handle_pool_end(&users[i]);
    must(ABT_pool_free(&shared));
    must(ABT_key_free(&key));
    must(ABT_finalize());
}

int main(void)
{
    want_tool();
    stress_begin();
    need_cancel_and_migrate();
    struct rng rng = rng_make(6);

    stress_play(play, &rng, 2);
    return done_testing();
}
