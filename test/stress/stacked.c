/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacked schedulers, and user-defined schedulers and pools mixed with the predefined ones: schedulers are pushed into
 * pools of other schedulers, run their own pools' units there, and end. Every unit runs once.
 */
#include "stress.h"

static struct team team;
static atomic_long created, run, scheds_freed;

/* --- A user-defined pool: a ring under a mutex, with its own units --- */

struct box {
    ABT_thread thread;
    struct box *next;
};

struct box_pool {
    pthread_mutex_t lock;
    struct box *head, **last;
    atomic_int boxes;
};

static ABT_unit box_create(ABT_pool pool, ABT_thread thread)
{
    struct box_pool *self;
    struct box *box = malloc(sizeof(*box));

    must(ABT_pool_get_data(pool, (void **)&self));
    atomic_fetch_add(&self->boxes, 1);
    box->thread = thread;
    return (ABT_unit)box;
}

static void box_free(ABT_pool pool, ABT_unit unit)
{
    struct box_pool *self;

    must(ABT_pool_get_data(pool, (void **)&self));
    atomic_fetch_sub(&self->boxes, 1);
    free(unit);
}

static ABT_bool box_is_empty(ABT_pool pool)
{
    struct box_pool *self;

    must(ABT_pool_get_data(pool, (void **)&self));
    pthread_mutex_lock(&self->lock);
    ABT_bool empty = self->head ? ABT_FALSE : ABT_TRUE;
    pthread_mutex_unlock(&self->lock);
    return empty;
}

static ABT_thread box_pop(ABT_pool pool, ABT_pool_context context)
{
    struct box_pool *self;

    (void)context;
    must(ABT_pool_get_data(pool, (void **)&self));
    pthread_mutex_lock(&self->lock);
    struct box *box = self->head;
    if (box && !(self->head = box->next))
        self->last = &self->head;
    pthread_mutex_unlock(&self->lock);
    return box ? box->thread : ABT_THREAD_NULL;
}

static void box_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    struct box_pool *self;
    struct box *box = (struct box *)unit;

    (void)context;
    must(ABT_pool_get_data(pool, (void **)&self));
    box->next = NULL;
    pthread_mutex_lock(&self->lock);
    *self->last = box;
    self->last = &box->next;
    pthread_mutex_unlock(&self->lock);
}

static int box_init(ABT_pool pool, ABT_pool_config config)
{
    struct box_pool *self = calloc(1, sizeof(*self));

    (void)config;
    pthread_mutex_init(&self->lock, NULL);
    self->last = &self->head;
    return ABT_pool_set_data(pool, self);
}

static void box_fini(ABT_pool pool)
{
    struct box_pool *self;

    must(ABT_pool_get_data(pool, (void **)&self));
    if (atomic_load(&self->boxes) != 0)
        bail_out("%d units of a user-defined pool were not freed", atomic_load(&self->boxes));
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static ABT_pool make_box_pool(void)
{
    ABT_pool_user_def def;
    ABT_pool_config config;
    ABT_pool pool;
    int automatic = 1;

    must(ABT_pool_user_def_create(box_create, box_free, box_is_empty, box_pop, box_push, &def));
    must(ABT_pool_user_def_set_init(def, box_init));
    must(ABT_pool_user_def_set_free(def, box_fini));
    must(ABT_pool_config_create(&config));
    must(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_POOL_CONFIG_INT, &automatic));
    must(ABT_pool_create(def, config, &pool));
    must(ABT_pool_config_free(&config));
    must(ABT_pool_user_def_free(&def));
    return pool;
}

/* --- A user-defined scheduler: round-robin --- */

static int robin_init(ABT_sched sched, ABT_sched_config config)
{
    (void)sched;
    (void)config;
    return ABT_SUCCESS;
}

static void robin_run(ABT_sched sched)
{
    enum { MOST = 8 };
    ABT_pool pools[MOST];
    int num;
    ABT_bool stop = ABT_FALSE;

    must(ABT_sched_get_num_pools(sched, &num));
    must(ABT_sched_get_pools(sched, num, 0, pools));
    for (unsigned i = 0; !stop; i++) {
        ABT_thread thread;
        must(ABT_pool_pop_thread(pools[i % (unsigned)num], &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        if (i % 16 == 0) {
            must(ABT_xstream_check_events(sched));
            must(ABT_sched_has_to_stop(sched, &stop));
            if (thread == ABT_THREAD_NULL && !stop)
                must(ABT_self_yield()); /* for a stacked one: others run; for a main one nothing */
        }
    }
}

static int robin_free(ABT_sched sched)
{
    (void)sched;
    atomic_fetch_add(&scheds_freed, 1);
    return ABT_SUCCESS;
}

static ABT_sched make_sched(struct rng *rng, int num, ABT_pool *pools, bool *user)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = robin_init, .run = robin_run, .free = robin_free};
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    *user = one_in(rng, 2);
    if (*user)
        must(ABT_sched_create(&def, num, pools, config, &sched));
    else
        must(ABT_sched_create_basic(all_scheds[below(rng, 4)], num, pools, config, &sched));
    must(ABT_sched_config_free(&config));
    return sched;
}

/* --- Work --- */

static void leaf(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    for (unsigned n = below(&rng, 4); n > 0; n--)
        yield_if_ult();
    jitter(&rng);
    atomic_fetch_add(&run, 1);
}

static void fork_leaves(void *arg)
{
    struct rng rng = rng_fresh();
    ABT_thread threads[4];
    ABT_pool pool;

    (void)arg;
    must(ABT_self_get_last_pool(&pool));
    for (int i = 0; i < 4; i++)
        must(ABT_thread_create(pool, leaf, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    atomic_fetch_add(&created, 4);
    if (one_in(&rng, 2))
        must(ABT_self_yield());
    must(ABT_thread_free_many(4, threads));
    atomic_fetch_add(&run, 1);
}

static void fill(struct rng *rng, ABT_pool pool)
{
    for (unsigned n = 1 + below(rng, 12); n > 0; n--) {
        atomic_fetch_add(&created, 1);
        switch (below(rng, 3)) {
        case 0: must(ABT_task_create(pool, leaf, NULL, NULL)); break;
        case 1: must(ABT_thread_create(pool, leaf, NULL, ABT_THREAD_ATTR_NULL, NULL)); break;
        default: must(ABT_thread_create(pool, fork_leaves, NULL, ABT_THREAD_ATTR_NULL, NULL));
        }
    }
}

/* A stacked scheduler over one or two new pools with work, perhaps with another one stacked inside. */
static void stack(struct rng *rng, ABT_pool outer, int depth, long *users)
{
    ABT_pool pools[2];
    int num = 1 + (int)below(rng, 2);
    bool user;

    for (int i = 0; i < num; i++) {
        if (one_in(rng, 3))
            pools[i] = make_box_pool();
        else
            must(ABT_pool_create_basic(all_kinds[below(rng, 3)], ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
        fill(rng, pools[i]);
    }
    ABT_sched sched = make_sched(rng, num, pools, &user);
    *users += user;
    if (depth > 0)
        stack(rng, pools[below(rng, (unsigned)num)], depth - 1, users);
    must(ABT_pool_add_sched(outer, sched));
}

static void play(struct rng *rng, double seconds)
{
    int size = 1 + (int)below(rng, 4);
    long users = 0;
    ABT_pool box = ABT_POOL_NULL;
    ABT_xstream box_es = ABT_XSTREAM_NULL;

    atomic_store(&created, 0);
    atomic_store(&run, 0);
    atomic_store(&scheds_freed, 0);
    team_begin(&team, size, (enum layout)below(rng, PRIV), all_scheds[below(rng, 4)], all_kinds[below(rng, 3)]);
    /* One more ES, whose main scheduler and pool are perhaps the user's. */
    bool user;
    box = make_box_pool();
    ABT_sched main_sched = make_sched(rng, 1, &box, &user);
    users += user;
    must(ABT_xstream_create(main_sched, &box_es));
    for (double end = now() + seconds; now() < end;) {
        ABT_pool outer = one_in(rng, 4) ? box : team_pool(&team, rng);
        fill(rng, outer);
        stack(rng, outer, (int)below(rng, 3), &users);
        if (one_in(rng, 3))
            must(ABT_self_yield());
        while (atomic_load(&created) - atomic_load(&run) > 500)
            must(ABT_self_yield());
    }
    while (atomic_load(&run) < atomic_load(&created))
        must(ABT_self_yield());
    must(ABT_xstream_free(&box_es));
    team_end(&team);
    is_int(atomic_load(&run), atomic_load(&created), "%d ESs: every unit has run once", size + 1);
    is_int(atomic_load(&scheds_freed), users, "every automatic scheduler of the user's was freed");
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(7);
    double seconds = tap_seconds(2.0), end = now() + seconds;

    while (now() < end)
        play(&rng, seconds / 20);
    return done_testing();
}
