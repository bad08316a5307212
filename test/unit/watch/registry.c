/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry finds every unit, and says what each of them waits for. */
#include "sync/mutex.h"
#include "unit/unit.h"
#include "watch/registry.h"
#include "must.h"
#include "tap.h"
#include "thousand.h"
#include "watchdog.h"

static bool watched; /* ABT_DEADLOCK_CHECK is set */

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
static bool owner_is_right(const struct abti_unit_note *note, const void *object)
{
    ABT_thread self;
    ABT_self_get_thread(&self);
    if (note->wait == ABTI_WAIT_JOIN || note->wait == ABTI_WAIT_FREE)
        return note->owner == object;
    bool owned = note->wait == ABTI_WAIT_RWLOCK || (note->wait == ABTI_WAIT_MUTEX && (watched || object == recursive));
    return note->owner == (owned ? self : NULL);
}

static bool is_right(const struct abti_unit_note *note, const struct role *role, const void *object, ABT_pool pool)
{
    int id;
    ABT_pool_get_id(pool, &id);
    return note && note->kind == ABTI_KIND_ULT && note->state == ABT_THREAD_STATE_BLOCKED && note->started &&
           note->func == role->func && note->pool == pool && note->pool_id == id &&
           strcmp(abti_registry_wait_name(note->wait), role->wait) == 0 && note->object == object &&
           note->has_deadline == role->has_deadline && owner_is_right(note, object) && watched == (note->waited_ns > 0);
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

static void test_all(const char *where, ABT_pool pool, ABT_pool idle)
{
    make_thousand(pool, idle);
    check_walk(where, pool);
    free_thousand();
    struct found *found = walk();
    is_int(num_of_kind(found, ABTI_KIND_ULT), num_others(), "%s: and then none is left", where);
    free(found);
}

static ABT_pool private_pool, private_idle;

static void in_private_pool(void *arg)
{
    test_all("private pool", private_pool, private_idle);
}

/* The quick ways to wait: everything, and the test itself, runs in a pool that only one stream uses. */
static void test_private(ABT_pool idle)
{
    ABT_xstream stream;
    ABT_thread thread;
    private_idle = idle;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &private_pool);
    ABT_thread_create(private_pool, in_private_pool, NULL, ABT_THREAD_ATTR_NULL, &thread); /* nobody may do so later */
    ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &private_pool, ABT_SCHED_CONFIG_NULL, &stream);
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
    unsetenv("ABT_DEADLOCK_CHECK");
    need_cancel_and_migrate();
    test_in_all_pools();
    setenv("ABT_DEADLOCK_CHECK", "cycles", 1);
    watched = true;
    test_in_all_pools();
    return done_testing();
}
