/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of each definition, and units that are popped and pushed by hand. */
#include "world.h"

/* ---- User-defined pools ------------------------------------------------------------------------------------------ */

enum { UNIT_MARK = 0x1234567 };

struct user_unit {
    int mark;
    ABT_thread thread;
    struct user_unit *next, *previous;
    bool is_queued;
};

struct user_pool {
    pthread_mutex_t lock;
    struct user_unit ends; /* of a ring */
    size_t num;
};

static struct user_pool *user_pool_of(ABT_pool pool)
{
    return ABTX_pool_data(pool);
}

static int user_init(ABT_pool pool, ABT_pool_config config)
{
    struct user_pool *user = calloc(1, sizeof(*user));

    if (!user)
        return ABT_ERR_MEM;
    pthread_mutex_init(&user->lock, NULL);
    user->ends.next = user->ends.previous = &user->ends;
    return ABT_pool_set_data(pool, user);
}

static void user_free(ABT_pool pool)
{
    struct user_pool *user = user_pool_of(pool);

    expect(user->num == 0);
    pthread_mutex_destroy(&user->lock);
    free(user);
}

static int user_free_old(ABT_pool pool)
{
    user_free(pool);
    return ABT_SUCCESS;
}

static ABT_unit unit_create_old(ABT_thread thread)
{
    struct user_unit *unit = calloc(1, sizeof(*unit));

    expect(unit);
    unit->thread = thread;
    unit->mark = UNIT_MARK;
    atomic_fetch_add(&world.user_units_made, 1);
    return (ABT_unit)unit;
}

static ABT_unit unit_create(ABT_pool pool, ABT_thread thread)
{
    return unit_create_old(thread);
}

static void unit_free_old(ABT_unit *handle)
{
    struct user_unit *unit = (struct user_unit *)*handle;

    expect(unit->mark == UNIT_MARK && !unit->is_queued);
    unit->mark = 0;
    free(unit);
    *handle = ABT_UNIT_NULL;
    atomic_fetch_add(&world.user_units_gone, 1);
}

static void unit_free(ABT_pool pool, ABT_unit unit)
{
    unit_free_old(&unit);
}

static void user_push_old(ABT_pool pool, ABT_unit handle)
{
    struct user_pool *user = user_pool_of(pool);
    struct user_unit *unit = (struct user_unit *)handle;

    pthread_mutex_lock(&user->lock);
    expect(unit->mark == UNIT_MARK && !unit->is_queued);
    __atomic_store_n(&unit->is_queued, true, __ATOMIC_RELAXED);
    unit->next = &user->ends;
    unit->previous = user->ends.previous;
    unit->previous->next = unit->next->previous = unit;
    user->num++;
    pthread_mutex_unlock(&user->lock);
}

static void user_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    user_push_old(pool, unit);
}

static void unit_unlink(struct user_pool *user, struct user_unit *unit)
{
    unit->next->previous = unit->previous;
    unit->previous->next = unit->next;
    __atomic_store_n(&unit->is_queued, false, __ATOMIC_RELAXED);
    user->num--;
}

static ABT_unit user_pop_old(ABT_pool pool)
{
    struct user_pool *user = user_pool_of(pool);
    struct user_unit *unit = NULL;

    pthread_mutex_lock(&user->lock);
    if (user->num > 0) {
        unit = user->ends.next;
        unit_unlink(user, unit);
    }
    pthread_mutex_unlock(&user->lock);
    return unit ? (ABT_unit)unit : ABT_UNIT_NULL;
}

static ABT_thread user_pop(ABT_pool pool, ABT_pool_context context)
{
    ABT_unit unit = user_pop_old(pool);

    return unit == ABT_UNIT_NULL ? ABT_THREAD_NULL : ((struct user_unit *)unit)->thread;
}

static int user_remove(ABT_pool pool, ABT_unit handle)
{
    struct user_pool *user = user_pool_of(pool);
    struct user_unit *unit = (struct user_unit *)handle;

    pthread_mutex_lock(&user->lock);
    bool was_queued = unit->is_queued;
    if (was_queued)
        unit_unlink(user, unit);
    pthread_mutex_unlock(&user->lock);
    return was_queued ? ABT_SUCCESS : ABT_ERR_POOL;
}

static ABT_bool user_has(ABT_unit handle)
{
    return __atomic_load_n(&((struct user_unit *)handle)->is_queued, __ATOMIC_RELAXED) ? ABT_TRUE : ABT_FALSE;
}

static size_t user_size(ABT_pool pool)
{
    struct user_pool *user = user_pool_of(pool);

    pthread_mutex_lock(&user->lock);
    size_t num = user->num;
    pthread_mutex_unlock(&user->lock);
    return num;
}

static ABT_bool user_is_empty(ABT_pool pool)
{
    return user_size(pool) == 0 ? ABT_TRUE : ABT_FALSE;
}

static void user_pop_many(ABT_pool pool, ABT_thread *threads, size_t max, size_t *num, ABT_pool_context context)
{
    *num = 0;
    while (*num < max && (threads[*num] = user_pop(pool, context)) != ABT_THREAD_NULL)
        ++*num;
}

static void user_push_many(ABT_pool pool, const ABT_unit *units, size_t num, ABT_pool_context context)
{
    for (size_t i = 0; i < num; i++)
        user_push(pool, units[i], context);
}

static void user_print_all(ABT_pool pool, void *arg, void (*print)(void *, ABT_thread))
{
    struct user_pool *user = user_pool_of(pool);

    pthread_mutex_lock(&user->lock);
    for (struct user_unit *unit = user->ends.next; unit != &user->ends; unit = unit->next)
        print(arg, unit->thread);
    pthread_mutex_unlock(&user->lock);
}

static ABT_pool user_make(struct rng *rng)
{
    ABT_pool_user_def def;
    ABT_pool pool;

    must(ABT_pool_user_def_create(unit_create, unit_free, user_is_empty, user_pop, user_push, &def));
    must(ABT_pool_user_def_set_init(def, user_init));
    must(ABT_pool_user_def_set_free(def, user_free));
    must(ABT_pool_user_def_set_get_size(def, user_size));
    must(ABT_pool_user_def_set_print_all(def, user_print_all));
    if (one_in(rng, 2)) {
        must(ABT_pool_user_def_set_pop_many(def, user_pop_many));
        must(ABT_pool_user_def_set_push_many(def, user_push_many));
    }
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
    must(ABT_pool_user_def_free(&def));
    return pool;
}

static ABT_pool user_make_old(void)
{
    ABT_pool_def def = {
        .access = ABT_POOL_ACCESS_MPMC,
        .u_is_in_pool = user_has,
        .u_create_from_thread = unit_create_old,
        .u_free = unit_free_old,
        .p_init = user_init,
        .p_get_size = user_size,
        .p_push = user_push_old,
        .p_pop = user_pop_old,
        .p_remove = user_remove,
        .p_free = user_free_old,
    };
    ABT_pool pool;

    must(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool));
    return pool;
}

ABT_pool pool_make(struct rng *rng, bool is_fair)
{
    static const ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};
    ABT_pool pool;

    if (one_in(rng, 4))
        return one_in(rng, 2) ? user_make(rng) : user_make_old();
    must(ABT_pool_create_basic(kinds[below(rng, is_fair ? 2 : 3)], ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    return pool;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static bool is_child(ABT_thread thread)
{
    void (*func)(void *);

    must(ABT_thread_get_thread_func(thread, &func));
    return func == child_main;
}

static bool is_ult(ABT_thread thread)
{
    size_t size;

    must(ABT_thread_get_stacksize(thread, &size));
    return size > 0;
}

/* What is not a child may have to stay in its pool: it is pushed back. */
static void pop_take(struct actor *actor)
{
    ABT_pool pool = open_pool(actor);

    for (unsigned i = 1 + dice(actor, 3); i > 0 && pool != ABT_POOL_NULL; i--) {
        ABT_thread thread;
        must(ABT_pool_pop_thread(pool, &thread));
        if (thread == ABT_THREAD_NULL)
            return;
        if (!actor->external && is_child(thread) && is_ult(thread) && chance(actor, 2)) {
            must(ABT_self_yield_to(thread));
            gain_note();
        } else if (is_child(thread) && chance(actor, 2)) {
            must(ABT_pool_push_thread(open_pool(actor), thread));
        } else {
            must(ABT_pool_push_thread(pool, thread));
        }
    }
}

/* A pool without the function for many refuses. */
static void pop_many_take(struct actor *actor)
{
    ABT_pool pool = open_pool(actor), to = pool;
    ABT_thread threads[5];
    size_t num = 0;

    if (pool == ABT_POOL_NULL)
        return;
    int code = ABT_pool_pop_threads(pool, threads, 5, &num);
    expect(code == ABT_SUCCESS || (code == ABT_ERR_POOL && num == 0));
    if (chance(actor, 2))
        to = open_pool(actor);
    for (size_t i = 0; i < num; i++)
        to = is_child(threads[i]) ? to : pool;
    if (num == 0)
        return;
    code = ABT_pool_push_threads(to, threads, num);
    expect(code == ABT_SUCCESS || code == ABT_ERR_POOL);
    for (size_t i = 0; i < num && code == ABT_ERR_POOL; i++)
        must(ABT_pool_push_thread(to, threads[i]));
}

/* A pool of no stream: its units are counted, removed and pushed elsewhere, or joined there. */
static void hidden_take(struct actor *actor)
{
    ABT_pool pool = pool_make(&actor->rng, false);
    struct child *children[4];
    unsigned num = 1 + dice(actor, 4);
    size_t size;

    for (unsigned i = 0; i < num; i++) {
        children[i] = child_make(actor, chance(actor, 3));
        child_start(actor, children[i], pool);
    }
    must(ABT_pool_get_total_size(pool, &size));
    expect(size == num);
    for (unsigned i = 0; i < num; i++) {
        ABT_thread thread;
        must(ABT_pool_pop_thread(pool, &thread));
        expect(thread != ABT_THREAD_NULL);
        must(ABT_pool_push_thread(any_pool(actor), thread));
    }
    must(ABT_pool_get_total_size(pool, &size));
    expect(size == 0);
    for (unsigned i = 0; i < num; i++)
        child_free(children[i]);
    must(ABT_pool_free(&pool));
}

const struct step pool_steps[] = {
    {"pop", pop_take, UNCHECKED | LEAF},
    {"pop_many", pop_many_take, UNCHECKED | LEAF},
    {"hidden", hidden_take, 0},
    {NULL, NULL, 0},
};
