/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

static void check_codes(enum caller who, void *arg)
{
    ABT_rwlock rwlock = ABT_RWLOCK_NULL;
    int code = may_wait(who) ? ABT_SUCCESS : ABT_ERR_RWLOCK;

    ok_abt(ABT_rwlock_create(&rwlock));
    is_int(ABT_rwlock_rdlock(rwlock), code, "rdlock");
    is_int(ABT_rwlock_rdlock(rwlock), code, "rdlock by another reader");
    ok_abt(ABT_rwlock_unlock(rwlock));
    ok_abt(ABT_rwlock_unlock(rwlock));
    is_int(ABT_rwlock_wrlock(rwlock), code, "wrlock");
    ok_abt(ABT_rwlock_unlock(rwlock));
    is_int(ABT_rwlock_rdlock(rwlock), code, "rdlock");
    ok_abt(ABT_rwlock_unlock(rwlock));
    ok_abt(ABT_rwlock_free(&rwlock));
    is_ptr(rwlock, ABT_RWLOCK_NULL, "null after free");
}

/* --- One after the other --- */

struct visit {
    ABT_rwlock rwlock;
    bool write;
    atomic_bool inside, leave;
    struct activity activity;
};

static void visit(void *arg)
{
    struct visit *v = arg;

    is_int(v->write ? ABT_rwlock_wrlock(v->rwlock) : ABT_rwlock_rdlock(v->rwlock), 0, "lock");
    atomic_store(&v->inside, true);
    wait_for(atomic_load(&v->leave));
    atomic_store(&v->inside, false);
    is_int(ABT_rwlock_unlock(v->rwlock), 0, "unlock");
}

static void enter(struct visit *v, enum caller who, ABT_rwlock rwlock, bool write)
{
    v->rwlock = rwlock;
    v->write = write;
    atomic_store(&v->inside, false);
    atomic_store(&v->leave, false);
    start(&v->activity, who, visit, v);
}

static void leave(struct visit *v)
{
    atomic_store(&v->leave, true);
    finish(&v->activity);
}

static void test_exclusion(enum caller who)
{
    struct visit reader[3], writer[2];
    ABT_rwlock rwlock;

    diag("%s and others", caller_names[who]);
    must(ABT_rwlock_create(&rwlock));
    enter(&reader[0], who, rwlock, false);
    enter(&reader[1], SECONDARY_ULT, rwlock, false);
    wait_for(atomic_load(&reader[0].inside) && atomic_load(&reader[1].inside));
    pass("two readers");
    enter(&writer[0], who, rwlock, true);
    wait_until_asleep(&writer[0].activity);
    enter(&reader[2], EXTERNAL, rwlock, false);
    wait_for(atomic_load(&reader[2].inside));
    pass("a reader passes a writer who waits");
    leave(&reader[0]);
    leave(&reader[1]);
    ok(!atomic_load(&writer[0].inside), "a writer waits for all readers");
    leave(&reader[2]);
    wait_for(atomic_load(&writer[0].inside));
    enter(&writer[1], SECONDARY_ULT, rwlock, true);
    enter(&reader[0], who, rwlock, false);
    wait_until_asleep(&writer[1].activity);
    wait_until_asleep(&reader[0].activity);
    ok(!atomic_load(&writer[1].inside) && !atomic_load(&reader[0].inside), "nobody beside a writer");
    atomic_store(&writer[1].leave, true); /* whichever comes first */
    atomic_store(&reader[0].leave, true);
    leave(&writer[0]);
    leave(&reader[0]);
    leave(&writer[1]);
    ok_abt(ABT_rwlock_free(&rwlock));
}

/* ULTs of the caller's own pool, which is yielded to: they are inside by then or not at all. */
struct quick_visit {
    ABT_rwlock rwlock;
    bool write;
    int inside;
};

static void visit_quickly(void *arg)
{
    struct quick_visit *v = arg;

    must(v->write ? ABT_rwlock_wrlock(v->rwlock) : ABT_rwlock_rdlock(v->rwlock));
    v->inside++;
    must(ABT_rwlock_unlock(v->rwlock));
}

static void test_own(void)
{
    struct quick_visit reader = {.rwlock = ABT_RWLOCK_NULL}, writer = {.write = true};
    struct activity a[2];

    ok_abt(ABT_rwlock_create(&reader.rwlock));
    ok(reader.rwlock && reader.rwlock != ABT_RWLOCK_NULL, "a lock");
    writer.rwlock = reader.rwlock;
    must(ABT_rwlock_wrlock(reader.rwlock));
    start(&a[0], PLAIN_ULT, visit_quickly, &reader);
    yield_a_while();
    is_int(reader.inside, 0, "no reader beside a writer");
    must(ABT_rwlock_unlock(reader.rwlock));
    yield_a_while();
    is_int(reader.inside, 1, "but when it has left");
    finish(&a[0]);

    must(ABT_rwlock_rdlock(reader.rwlock));
    start(&a[0], PLAIN_ULT, visit_quickly, &reader);
    start(&a[1], PLAIN_ULT, visit_quickly, &writer);
    yield_a_while();
    is_int(reader.inside, 2, "readers beside a reader");
    is_int(writer.inside, 0, "no writer beside a reader");
    must(ABT_rwlock_unlock(reader.rwlock));
    yield_a_while();
    is_int(writer.inside, 1, "but when all have left");
    finish(&a[0]);
    finish(&a[1]);
    ok_abt(ABT_rwlock_free(&reader.rwlock));
    is_ptr(reader.rwlock, ABT_RWLOCK_NULL, "null after free");
}

/* --- All against all --- */

enum { GROUP = 24, ROUNDS = 300 };

struct group {
    ABT_rwlock rwlock;
    atomic_int readers, writers;
    long count;
};

static void join_group(void *arg)
{
    struct group *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        if (i % 4) {
            ABT_rwlock_rdlock(c->rwlock);
            atomic_fetch_add(&c->readers, 1);
            if (atomic_load(&c->writers))
                fail("a writer beside a reader");
            if (i % 8 == 1)
                ABT_thread_yield();
            atomic_fetch_sub(&c->readers, 1);
        } else {
            ABT_rwlock_wrlock(c->rwlock);
            if (atomic_fetch_add(&c->writers, 1) || atomic_load(&c->readers))
                fail("somebody beside a writer");
            c->count++;
            if (i % 8)
                ABT_thread_yield();
            atomic_fetch_sub(&c->writers, 1);
        }
        ABT_rwlock_unlock(c->rwlock);
    }
}

static void test_group(void)
{
    static const enum caller kinds[] = {PLAIN_ULT, SECONDARY_ULT, EXTERNAL};
    struct activity a[GROUP];
    struct group c = {.count = 0};

    must(ABT_rwlock_create(&c.rwlock));
    for (int i = 0; i < GROUP; i++)
        start(&a[i], kinds[i % 3], join_group, &c);
    for (int i = 0; i < GROUP; i++)
        finish(&a[i]);
    is_int(c.count, GROUP * ROUNDS / 4, "every writer was inside every time");
    must(ABT_rwlock_free(&c.rwlock));
}

int main(void)
{
    sync_init();
    test_own();
    call_as_each(check_codes, NULL);
    for (int who = PLAIN_ULT; who < NUM_CALLERS; who++) {
        if (who != TASKLET) /* it would keep the ULTs of its stream from leaving */
            test_exclusion((enum caller)who);
    }
    test_group();
    sync_fini();
    return done_testing();
}
