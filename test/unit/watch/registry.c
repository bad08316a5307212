/* The registry finds every unit, and says what each of them waits for. */
#include "sync/mutex.h"
#include "unit/unit.h"
#include "watch/registry.h"
#include <time.h>
#include "tap.h"
#include "watchdog.h"

enum { EACH = 65, ROLES = 14, BLOCKED = EACH * ROLES, READY = 1000 - BLOCKED, ALL = BLOCKED + READY };

static ABT_mutex mutex, recursive, condmutex;
static ABT_cond cond;
static ABT_rwlock rwlock;
static ABT_eventual eventual, several[2];
static ABT_future future;
static ABT_barrier barrier;
static ABT_thread units[ALL];
static bool watched; /* ABT_WATCH_WAITS is set */
static ABT_thread to_join[2 * EACH];

static void do_nothing(void *arg)
{
    (void)arg;
}

static void suspend(void *arg)
{
    (void)arg;
    ABT_self_suspend();
}

static void on_mutex(void *arg)
{
    ABT_mutex_lock(*(ABT_mutex *)arg);
    ABT_mutex_unlock(*(ABT_mutex *)arg);
}

static void on_cond(void *arg)
{
    (void)arg;
    ABT_mutex_lock(condmutex);
    ABT_cond_wait(cond, condmutex);
    ABT_mutex_unlock(condmutex);
}

static void on_cond_timed(void *arg)
{
    struct timespec ts;
    (void)arg;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += 1000;
    ABT_mutex_lock(condmutex);
    ABT_cond_timedwait(cond, condmutex, &ts);
    ABT_mutex_unlock(condmutex);
}

static void on_rwlock(void *arg)
{
    (void)arg;
    ABT_rwlock_rdlock(rwlock);
    ABT_rwlock_unlock(rwlock);
}

static void on_eventual(void *arg)
{
    (void)arg;
    ABT_eventual_wait(eventual, NULL);
}

static void on_any(void *arg)
{
    int index;
    (void)arg;
    ABTX_eventual_wait_any(2, several, &index, NULL);
}

static void on_future(void *arg)
{
    (void)arg;
    ABT_future_wait(future);
}

static void on_barrier(void *arg)
{
    (void)arg;
    ABT_barrier_wait(barrier);
}

static void join(void *arg)
{
    ABT_thread_join(*(ABT_thread *)arg);
}

static void join_and_free(void *arg)
{
    ABT_thread_free(arg);
}

static void sleep_long(void *arg)
{
    (void)arg;
    ABTX_thread_sleep(3600.0);
}

/* In the order of `units`. */
static const struct role {
    const char *name;
    void (*func)(void *);
    enum abti_wait_kind wait;
    bool has_deadline;
} roles[ROLES] = {
    {"suspended", suspend, ABTI_WAIT_SUSPEND, false},
    {"suspended too", suspend, ABTI_WAIT_SUSPEND, false},
    {"mutex", on_mutex, ABTI_WAIT_MUTEX, false},
    {"recursive mutex", on_mutex, ABTI_WAIT_MUTEX, false},
    {"cond", on_cond, ABTI_WAIT_COND, false},
    {"cond with a deadline", on_cond_timed, ABTI_WAIT_COND, true},
    {"rwlock", on_rwlock, ABTI_WAIT_RWLOCK, false},
    {"eventual", on_eventual, ABTI_WAIT_EVENTUAL, false},
    {"any eventual", on_any, ABTI_WAIT_ANY, false},
    {"future", on_future, ABTI_WAIT_FUTURE, false},
    {"barrier", on_barrier, ABTI_WAIT_BARRIER, false},
    {"join", join, ABTI_WAIT_JOIN, false},
    {"join and free", join_and_free, ABTI_WAIT_FREE, false},
    {"sleep", sleep_long, ABTI_WAIT_SLEEP, true},
};

static const void *object_of(int role, int i)
{
    const void *const objects[ROLES] = {NULL,   NULL,     mutex, recursive, cond,   cond,
                                        rwlock, eventual, NULL,  future,    barrier};
    return role == 11 ? units[i] : role == 12 ? units[EACH + i] : objects[role];
}

static void *arg_of(int role, int i)
{
    return role == 2                  ? (void *)&mutex
           : role == 3                ? (void *)&recursive
           : role == 11 || role == 12 ? (void *)&to_join[(role - 11) * EACH + i]
                                      : NULL;
}

/* --- What a walk finds --- */

struct found {
    struct abti_unit_note notes[ALL + 16];
    int num;
};

static bool collect(const struct abti_unit_note *note, void *found_)
{
    struct found *found = found_;
    if (found->num < ALL + 16)
        found->notes[found->num] = *note;
    found->num++;
    return true;
}

static struct found *walk(void)
{
    struct found *found = calloc(1, sizeof(*found));
    if (!found)
        bail_out("no memory");
    abti_registry_walk(collect, found);
    return found;
}

/* NULL if there is none, or more than one. */
static const struct abti_unit_note *note_of(const struct found *found, abti_unit *unit)
{
    const struct abti_unit_note *note = NULL;
    for (int i = 0; i < found->num; i++) {
        if (found->notes[i].unit != unit)
            continue;
        if (note)
            return NULL;
        note = &found->notes[i];
    }
    return note;
}

static int num_of_kind(const struct found *found, enum abti_unit_kind kind)
{
    int num = 0;
    for (int i = 0; i < found->num; i++)
        num += found->notes[i].kind == kind;
    return num;
}

/* Who owns the object is told of joins and recursive mutexes; with watched waits of all mutexes, and since when. */
static bool owner_is_right(const struct abti_unit_note *note, const struct role *role, const void *object)
{
    ABT_thread self;
    ABT_self_get_thread(&self);
    if (role->wait == ABTI_WAIT_JOIN || role->wait == ABTI_WAIT_FREE)
        return note->owner == object;
    bool owned = role->wait == ABTI_WAIT_MUTEX && (watched || object == recursive);
    return note->owner == (owned ? self : NULL);
}

static bool is_right(const struct abti_unit_note *note, const struct role *role, const void *object, ABT_pool pool)
{
    int id;
    ABT_pool_get_id(pool, &id);
    return note && note->kind == ABTI_KIND_ULT && note->state == ABT_THREAD_STATE_BLOCKED && note->started &&
           note->func == role->func && note->pool == pool && note->pool_id == id && note->wait == role->wait &&
           note->object == object && note->has_deadline == role->has_deadline && owner_is_right(note, role, object) &&
           watched == (note->waited_ns > 0);
}

static void show(const struct abti_unit_note *note, const void *object)
{
    if (!note)
        diag("it is not there, or twice");
    else
        diag("unit %p, state %s, waits for %s %p, expected %p", (void *)note->unit,
             abti_registry_state_name(note->state), abti_registry_wait_name(note->wait), note->object, object);
}

/* ULTs that are there anyway: the one that tests, if it is not the primary one. */
static int num_others(void)
{
    ABT_bool primary;
    ABT_self_is_primary(&primary);
    return !primary;
}

static void check_walk(const char *where, ABT_pool pool)
{
    struct found *found = walk();
    for (int role = 0; role < ROLES; role++) {
        int right = 0;
        for (int i = 0; i < EACH; i++) {
            const struct abti_unit_note *note = note_of(found, units[role * EACH + i]);
            bool good = is_right(note, &roles[role], object_of(role, i), pool);
            if (!good && right == i)
                show(note, object_of(role, i));
            right += good;
        }
        is_int(right, EACH, "%s, %s: all are found and told of", where, roles[role].name);
    }
    int ready = 0;
    for (int i = BLOCKED; i < ALL; i++) {
        const struct abti_unit_note *note = note_of(found, units[i]);
        ready += note && note->state == ABT_THREAD_STATE_READY && note->wait == ABTI_WAIT_NOTHING && !note->started;
    }
    is_int(ready, READY, "%s: the ready ones, too", where);
    is_int(num_of_kind(found, ABTI_KIND_ULT), ALL + num_others(), "%s: and no other ULTs", where);
    is_int(num_of_kind(found, ABTI_KIND_PRIMARY), 1, "%s: the primary ULT", where);
    free(found);
}

/* --- Making and waking them --- */

static void make_objects(void)
{
    ABT_mutex_attr attr;
    ABT_mutex_create(&mutex);
    ABT_mutex_create(&condmutex);
    ABT_mutex_attr_create(&attr);
    ABT_mutex_attr_set_recursive(attr, ABT_TRUE);
    ABT_mutex_create_with_attr(attr, &recursive);
    ABT_mutex_attr_free(&attr);
    ABT_cond_create(&cond);
    ABT_rwlock_create(&rwlock);
    ABT_eventual_create(0, &eventual);
    ABT_eventual_create(0, &several[0]);
    ABT_eventual_create(0, &several[1]);
    ABT_future_create(1, NULL, &future);
    ABT_barrier_create(EACH + 1, &barrier);
    ABT_mutex_lock(mutex);
    ABT_mutex_lock(recursive);
    ABT_rwlock_wrlock(rwlock);
}

static void free_objects(void)
{
    ABT_mutex_free(&mutex);
    ABT_mutex_free(&recursive);
    ABT_mutex_free(&condmutex);
    ABT_cond_free(&cond);
    ABT_rwlock_free(&rwlock);
    ABT_eventual_free(&eventual);
    ABT_eventual_free(&several[0]);
    ABT_eventual_free(&several[1]);
    ABT_future_free(&future);
    ABT_barrier_free(&barrier);
}

static void await_blocked(int from, int to)
{
    for (int i = from; i < to; i++) {
        ABT_thread_state state;
        while (ABT_thread_get_state(units[i], &state), state != ABT_THREAD_STATE_BLOCKED)
            ABT_thread_yield();
    }
}

static void make_units(ABT_pool pool)
{
    for (int role = 0; role < ROLES; role++) {
        for (int i = 0; i < EACH; i++)
            ABT_thread_create(pool, roles[role].func, arg_of(role, i), ABT_THREAD_ATTR_NULL, &units[role * EACH + i]);
        for (int i = 0; role == 1 && i < 2 * EACH; i++)
            to_join[i] = units[i];
    }
    await_blocked(0, BLOCKED);
}

static void wake_all(void)
{
    ABT_mutex_unlock(mutex);
    ABT_mutex_unlock(recursive);
    ABT_mutex_lock(condmutex);
    ABT_cond_broadcast(cond);
    ABT_mutex_unlock(condmutex);
    ABT_rwlock_unlock(rwlock);
    ABT_eventual_set(eventual, NULL, 0);
    ABT_eventual_set(several[1], NULL, 0);
    ABT_future_set(future, NULL);
    ABT_barrier_wait(barrier);
    for (int i = 0; i < EACH; i++)
        ABT_thread_cancel(units[13 * EACH + i]); /* ends its sleep */
    for (int i = 0; i < 2 * EACH; i++)
        ABT_thread_resume(units[i]);
}

/* Those that others have freed have no handle any more. */
static void free_units(void)
{
    for (int i = 2 * EACH; i < ALL; i++)
        ABT_thread_free(&units[i]);
    for (int i = 0; i < EACH; i++)
        ABT_thread_free(&units[i]);
}

static void test_all(const char *where, ABT_pool pool, ABT_pool idle)
{
    make_objects();
    make_units(pool);
    for (int i = BLOCKED; i < ALL; i++)
        ABT_thread_create(idle, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    check_walk(where, pool);
    for (int i = BLOCKED; i < ALL; i++) {
        ABT_thread thread;
        ABT_pool_pop_thread(idle, &thread);
        ABT_pool_push_thread(pool, thread);
    }
    wake_all();
    free_units();
    struct found *found = walk();
    is_int(num_of_kind(found, ABTI_KIND_ULT), num_others(), "%s: and then none is left", where);
    free(found);
    free_objects();
}

static ABT_pool private_pool, private_idle;

static void in_private_pool(void *arg)
{
    (void)arg;
    test_all("private pool", private_pool, private_idle);
}

/* The quick ways to wait: everything, and the test itself, runs in a pool that only one stream uses. */
static void test_private(ABT_pool idle)
{
    ABT_xstream stream;
    ABT_thread thread;
    private_idle = idle;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &private_pool);
    ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &private_pool, ABT_SCHED_CONFIG_NULL, &stream);
    ABT_thread_create(private_pool, in_private_pool, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    ABT_xstream_join(stream);
    ABT_xstream_free(&stream);
}

static void test_in_all_pools(void)
{
    ABT_xstream self, stream;
    ABT_pool own, idle, shared, stealable;
    ABT_init(0, NULL);
    ABT_xstream_self(&self);
    ABT_xstream_get_main_pools(self, 1, &own);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &idle);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &shared);
    ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &stealable);

    test_all("the primary pool", own, idle);
    ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &shared, ABT_SCHED_CONFIG_NULL, &stream);
    test_all("shared pool", shared, idle);
    ABT_xstream_join(stream);
    ABT_xstream_free(&stream);
    ABT_xstream_create_basic(ABT_SCHED_RANDWS, 1, &stealable, ABT_SCHED_CONFIG_NULL, &stream);
    test_all("RANDWS pool", stealable, idle);
    ABT_xstream_join(stream);
    ABT_xstream_free(&stream);
    test_private(idle);
    ABT_pool_free(&idle);
    ABT_finalize();
}

int main(void)
{
    watchdog_begin(0);
    unsetenv("ABT_WATCH_WAITS");
    test_in_all_pools();
    setenv("ABT_WATCH_WAITS", "1", 1);
    watched = true;
    test_in_all_pools();
    return done_testing();
}
