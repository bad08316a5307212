/* SPDX-License-Identifier: BSD-3-Clause */
/* Reader-writer locks from the inside: what the lock says, which unlock wakes the waiters, and who is inside. */
#include "sync/rwlock.h"
#include "sync_test.h"

enum { ROUNDS = 3000, ACTORS = 9 };

static struct ABT_rwlock_opaque rwlock;
static atomic_int num_readers, num_writers, num_through, errors;
static int written; /* rwlock */

static void begin(void)
{
    abti_rwlock_init(&rwlock);
    atomic_store(&num_through, 0);
}

static void read_once(void *arg)
{
    (void)arg;
    abti_rwlock_rdlock(&rwlock);
    atomic_fetch_add(&num_through, 1);
    abti_rwlock_unlock(&rwlock);
}

static void write_once(void *arg)
{
    (void)arg;
    abti_rwlock_wrlock(&rwlock);
    atomic_fetch_add(&num_through, 1);
    abti_rwlock_unlock(&rwlock);
}

static void test_states(void)
{
    begin();
    abti_rwlock_rdlock(&rwlock);
    abti_rwlock_rdlock(&rwlock);
    ok(rwlock.readers == 2 && !rwlock.writer, "two readers are inside");
    abti_rwlock_unlock(&rwlock);
    ok(rwlock.readers == 1 && !rwlock.writer, "one is left");
    abti_rwlock_unlock(&rwlock);
    abti_rwlock_wrlock(&rwlock);
    ok(rwlock.readers == 0 && rwlock.writer, "a writer is inside");
    abti_rwlock_unlock(&rwlock);
    ok(rwlock.readers == 0 && !rwlock.writer && !is_held(&rwlock.lock), "nobody");
}

/* A writer waits for the last of two readers; then a reader and a writer wait for a writer. */
static void test_waiters(enum kind kind)
{
    struct actor actors[2];

    begin();
    abti_rwlock_rdlock(&rwlock);
    abti_rwlock_rdlock(&rwlock);
    start(&actors[0], kind, write_once, NULL);
    await_queued(&rwlock.lock, &rwlock.waiters, 1);
    abti_rwlock_unlock(&rwlock);
    ok(num_queued(&rwlock.lock, &rwlock.waiters) == 1, "%s waits for the last reader", kind_names[kind]);
    read_once(NULL);
    is_int(atomic_load(&num_through), 1, "while others come in");
    abti_rwlock_unlock(&rwlock);
    finish(&actors[0]);
    abti_rwlock_wrlock(&rwlock);
    start(&actors[0], kind, read_once, NULL);
    start(&actors[1], kind, write_once, NULL);
    await_queued(&rwlock.lock, &rwlock.waiters, 2);
    is_int(atomic_load(&num_through), 2, "a reader and a writer wait for a writer");
    abti_rwlock_unlock(&rwlock);
    ok(!rwlock.waiters.head || kind != HOME, "who wakes both");
    finish(&actors[0]);
    finish(&actors[1]);
    ok(atomic_load(&num_through) == 4 && !rwlock.waiters.head, "all have come in");
}

static void lock_often(void *arg)
{
    bool writes = (intptr_t)arg >= NUM_KINDS && (intptr_t)arg < 2 * NUM_KINDS;

    for (int i = 0; i < ROUNDS && race_goes_on(); i++) {
        if (writes) {
            abti_rwlock_wrlock(&rwlock);
            bool alone = atomic_fetch_add(&num_writers, 1) == 0 && atomic_load(&num_readers) == 0;
            atomic_fetch_add(&errors, !alone);
            written++;
            if (i % 16 == 0)
                give_way();
            atomic_fetch_sub(&num_writers, 1);
        } else {
            abti_rwlock_rdlock(&rwlock);
            atomic_fetch_add(&num_readers, 1);
            int before = written;
            if (i % 16 == 0)
                give_way();
            atomic_fetch_add(&errors, atomic_load(&num_writers) > 0 || written != before);
            atomic_fetch_sub(&num_readers, 1);
        }
        abti_rwlock_unlock(&rwlock);
        if (i % 4 == 0)
            give_way();
    }
}

int main(void)
{
    sync_begin();
    test_states();
    for (enum kind kind = HOME; kind < NUM_KINDS; kind++)
        test_waiters(kind);
    race(ACTORS, lock_often);
    is_int(atomic_load(&errors), 0, "a writer is alone inside, %d times", written);
    ok(rwlock.readers == 0 && !rwlock.writer && !rwlock.waiters.head, "nobody is left");
    return sync_end();
}
