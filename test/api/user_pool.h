/* SPDX-License-Identifier: BSD-3-Clause */
/* A user-defined pool in both interfaces, for the tests of pools and schedulers. */
#ifndef TEST_API_USER_POOL_H
#define TEST_API_USER_POOL_H

#include "common.h"

/*
 * One implementation for both: a locked list of units, each malloc'ed. It remembers the last contexts and counts the
 * units that are alive.
 */
struct item {
    ABT_thread thread;
    struct item *next;
    bool in_pool;
};

struct list {
    pthread_mutex_t lock;
    struct item *head, **tail;
    size_t size;
    ABT_pool_context last_push, last_pop;
    atomic_int alive, created, frees, inits, pop_waits, pop_manys, push_manys;
    atomic_int long_waits; /* those pop_waits that are asked to wait */
    atomic_int no_memory;  /* units that could not be made for want of it */
    atomic_bool refuse;    /* to make units */
};

/* A pool's list is its data; that of the pool which is being made is here. The old interface's units have no pool. */
static struct list *next_list, *old_list;

static inline struct list *list_of(ABT_pool pool)
{
    void *data = NULL;

    must(ABT_pool_get_data(pool, &data));
    return data;
}

static inline void list_init(struct list *list)
{
    memset(list, 0, sizeof(*list));
    pthread_mutex_init(&list->lock, NULL);
    list->tail = &list->head;
}

static inline ABT_unit item_new(struct list *list, ABT_thread thread)
{
    struct item *item;

    if (atomic_load(&list->refuse))
        return ABT_UNIT_NULL;
    item = calloc(1, sizeof(*item));
    if (!item) {
        count_up(&list->no_memory);
        return ABT_UNIT_NULL;
    }
    item->thread = thread;
    count_up(&list->alive);
    count_up(&list->created);
    return (ABT_unit)item;
}

static inline void list_push(struct list *list, ABT_unit unit, ABT_pool_context context)
{
    struct item *item = (struct item *)unit;

    pthread_mutex_lock(&list->lock);
    item->next = NULL;
    item->in_pool = true;
    *list->tail = item;
    list->tail = &item->next;
    list->size++;
    list->last_push = context;
    pthread_mutex_unlock(&list->lock);
}

static inline struct item *list_pop(struct list *list, ABT_pool_context context)
{
    struct item *item;

    pthread_mutex_lock(&list->lock);
    list->last_pop = context;
    item = list->head;
    if (item) {
        list->head = item->next;
        if (!list->head)
            list->tail = &list->head;
        list->size--;
        item->in_pool = false;
    }
    pthread_mutex_unlock(&list->lock);
    return item;
}

static inline size_t list_size(struct list *list)
{
    size_t size;

    pthread_mutex_lock(&list->lock);
    size = list->size;
    pthread_mutex_unlock(&list->lock);
    return size;
}

static inline ABT_pool_context last_push(struct list *list)
{
    ABT_pool_context context;

    pthread_mutex_lock(&list->lock);
    context = list->last_push;
    pthread_mutex_unlock(&list->lock);
    return context;
}

/* --- The new interface --- */

static inline ABT_unit new_create_unit(ABT_pool pool, ABT_thread thread)
{
    return item_new(list_of(pool), thread);
}

static inline void new_free_unit(ABT_pool pool, ABT_unit unit)
{
    atomic_fetch_sub(&list_of(pool)->alive, 1);
    free(unit);
}

static inline ABT_bool new_is_empty(ABT_pool pool)
{
    return list_size(list_of(pool)) ? ABT_FALSE : ABT_TRUE;
}

static inline ABT_thread new_pop(ABT_pool pool, ABT_pool_context context)
{
    struct item *item = list_pop(list_of(pool), context);

    return item ? item->thread : ABT_THREAD_NULL;
}

static inline void new_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    list_push(list_of(pool), unit, context);
}

static inline int new_init(ABT_pool pool, ABT_pool_config config)
{
    int code = ABT_SUCCESS;

    count_up(&next_list->inits);
    if (config != ABT_POOL_CONFIG_NULL)
        ABT_pool_config_get(config, 7, NULL, &code);
    must(ABT_pool_set_data(pool, next_list));
    return code;
}

static inline void new_free(ABT_pool pool)
{
    count_up(&list_of(pool)->frees);
}

static inline size_t new_get_size(ABT_pool pool)
{
    return list_size(list_of(pool));
}

static inline ABT_thread new_pop_wait(ABT_pool pool, double secs, ABT_pool_context context)
{
    double end = now() + secs;
    ABT_thread thread;

    count_up(&list_of(pool)->pop_waits);
    atomic_fetch_add(&list_of(pool)->long_waits, secs > 0);
    while ((thread = new_pop(pool, context)) == ABT_THREAD_NULL && now() < end)
        nap_ms(0.1);
    return thread;
}

static inline void new_pop_many(ABT_pool pool, ABT_thread *threads, size_t max, size_t *num, ABT_pool_context context)
{
    count_up(&list_of(pool)->pop_manys);
    for (*num = 0; *num < max; ++*num) {
        threads[*num] = new_pop(pool, context);
        if (threads[*num] == ABT_THREAD_NULL)
            return;
    }
}

static inline void new_push_many(ABT_pool pool, const ABT_unit *units, size_t num, ABT_pool_context context)
{
    count_up(&list_of(pool)->push_manys);
    for (size_t i = 0; i < num; i++)
        new_push(pool, units[i], context);
}

static inline void new_print_all(ABT_pool pool, void *arg, void (*print)(void *, ABT_thread))
{
    for (struct item *item = list_of(pool)->head; item; item = item->next)
        print(arg, item->thread);
}

static inline ABT_pool_user_def new_def(bool with_optional)
{
    ABT_pool_user_def def;

    must(ABT_pool_user_def_create(new_create_unit, new_free_unit, new_is_empty, new_pop, new_push, &def));
    must(ABT_pool_user_def_set_init(def, new_init));
    if (with_optional) {
        must(ABT_pool_user_def_set_free(def, new_free));
        must(ABT_pool_user_def_set_get_size(def, new_get_size));
        must(ABT_pool_user_def_set_pop_wait(def, new_pop_wait));
        must(ABT_pool_user_def_set_pop_many(def, new_pop_many));
        must(ABT_pool_user_def_set_push_many(def, new_push_many));
        must(ABT_pool_user_def_set_print_all(def, new_print_all));
    }
    return def;
}

/* The definition is freed at once: the pool does not need it any more. */
static inline ABT_pool make_new(struct list *list, bool with_optional, ABT_pool_config config)
{
    ABT_pool_user_def def = new_def(with_optional);
    ABT_pool pool = ABT_POOL_NULL;

    list_init(list);
    next_list = list;
    must(ABT_pool_create(def, config, &pool));
    must(ABT_pool_user_def_free(&def));
    return pool;
}

/* --- The old interface --- */

static inline ABT_unit old_create(ABT_thread thread)
{
    return item_new(old_list, thread);
}

static inline void old_unit_free(ABT_unit *unit)
{
    atomic_fetch_sub(&old_list->alive, 1);
    free(*unit);
    *unit = ABT_UNIT_NULL;
}

static inline int old_init(ABT_pool pool, ABT_pool_config config)
{
    return new_init(pool, config);
}

static inline size_t old_get_size(ABT_pool pool)
{
    return list_size(list_of(pool));
}

static inline void old_push(ABT_pool pool, ABT_unit unit)
{
    list_push(list_of(pool), unit, 0);
}

static inline ABT_unit old_pop(ABT_pool pool)
{
    struct item *item = list_pop(list_of(pool), 0);

    return item ? (ABT_unit)item : ABT_UNIT_NULL;
}

static inline ABT_unit old_pop_timedwait(ABT_pool pool, double abstime)
{
    ABT_unit unit;

    count_up(&list_of(pool)->pop_waits);
    while ((unit = old_pop(pool)) == ABT_UNIT_NULL && ABT_get_wtime() < abstime)
        nap_ms(0.1);
    return unit;
}

static inline ABT_bool old_is_in_pool(ABT_unit unit)
{
    return ((struct item *)unit)->in_pool ? ABT_TRUE : ABT_FALSE;
}

static inline int old_remove(ABT_pool pool, ABT_unit unit)
{
    struct list *list = list_of(pool);
    struct item **link = &list->head, *item = (struct item *)unit;

    if (!item->in_pool)
        return ABT_ERR_KEY; /* any code will do: it is to come out verbatim */
    while (*link != item)
        link = &(*link)->next;
    *link = item->next;
    if (list->tail == &item->next)
        list->tail = link;
    list->size--;
    item->in_pool = false;
    return ABT_SUCCESS;
}

static inline int old_free(ABT_pool pool)
{
    count_up(&list_of(pool)->frees);
    return ABT_ERR_OTHER; /* is ignored */
}

static inline int old_print_all(ABT_pool pool, void *arg, void (*print)(void *, ABT_unit))
{
    for (struct item *item = list_of(pool)->head; item; item = item->next)
        print(arg, (ABT_unit)item);
    return ABT_ERR_OTHER; /* is ignored */
}

/* A member that only the 2.0 API has. */
#ifdef ABT_ENABLE_VER_20_API
static inline void set_pop_wait(ABT_pool_def *def, ABT_unit (*p_pop_wait)(ABT_pool, double))
{
    def->p_pop_wait = p_pop_wait;
}
#else
static inline void set_pop_wait(ABT_pool_def *def, ABT_unit (*p_pop_wait)(ABT_pool, double))
{
}
#endif

static inline ABT_pool make_old(struct list *list, ABT_pool_access access, bool with_optional, ABT_pool_config config)
{
    ABT_pool_def def;
    ABT_pool pool = ABT_POOL_NULL;

    /* Members that are never used, or not asked for, may be anything. */
    memset(&def, 0xa5, sizeof(def));
    def.access = access;
    def.u_create_from_thread = old_create;
    def.u_free = old_unit_free;
    def.p_init = old_init;
    def.p_get_size = old_get_size;
    def.p_push = old_push;
    def.p_pop = old_pop;
    def.p_free = old_free;
    set_pop_wait(&def, NULL); /* it will be asked for */
    if (with_optional) {
        def.u_is_in_pool = old_is_in_pool;
        def.p_pop_timedwait = old_pop_timedwait;
        def.p_remove = old_remove;
        def.p_print_all = old_print_all;
    }
    list_init(list);
    next_list = old_list = list;
    must(ABT_pool_create(&def, config, &pool));
    memset(&def, 0x5a, sizeof(def));
    return pool;
}

static inline ABT_pool make(bool old, struct list *list)
{
    return old ? make_old(list, ABT_POOL_ACCESS_MPMC, true, ABT_POOL_CONFIG_NULL)
               : make_new(list, true, ABT_POOL_CONFIG_NULL);
}

#endif
