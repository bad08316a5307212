/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

/* Static storage that is aligned as little as it may be: two of them by 4 bytes. */
static struct {
    _Alignas(8) int before;
    ABT_mutex_memory plain;
    int between;
    ABT_mutex_memory recursive[2];
} memory = {1, ABT_MUTEX_INITIALIZER, 2, {ABT_RECURSIVE_MUTEX_INITIALIZER, ABT_RECURSIVE_MUTEX_INITIALIZER}};

static void test_static_recursive(ABT_mutex mutex)
{
    for (int depth = 0; depth < 3; depth++)
        ok_abt(ABT_mutex_lock(mutex));
    for (int depth = 0; depth < 3; depth++)
        ok_abt(ABT_mutex_unlock(mutex));
}

static void test_static(void)
{
    struct {
        _Alignas(8) int before;
        ABT_mutex_memory recursive;
    } odd = {1, memory.recursive[0]};
    ABT_mutex plain = ABT_MUTEX_MEMORY_GET_HANDLE(&memory.plain);

    ok((uintptr_t)plain % 8 == 4 && (uintptr_t)&odd.recursive % 8 == 4, "aligned to 4 bytes only");
    ok_abt(ABT_mutex_lock(plain));
    ok_err(ABT_mutex_trylock(plain), ABT_ERR_MUTEX_LOCKED);
    ok_abt(ABT_mutex_unlock(plain));
    test_static_recursive(ABT_MUTEX_MEMORY_GET_HANDLE(&memory.recursive[1]));
    test_static_recursive(ABT_MUTEX_MEMORY_GET_HANDLE(&odd.recursive));
    ok(memory.before == 1 && memory.between == 2 && odd.before == 1, "nothing beside it was touched");
}

/* --- Attributes --- */

static void test_attr(void)
{
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL, got = ABT_MUTEX_ATTR_NULL;
    ABT_mutex mutex = ABT_MUTEX_NULL;
    ABT_bool recursive = -1;
    ok_abt(ABT_mutex_attr_create(&attr));
    ok_abt(ABT_mutex_attr_get_recursive(attr, &recursive));
    is_int(recursive, ABT_FALSE, "not recursive at first");
    ok_abt(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    ok_abt(ABT_mutex_attr_get_recursive(attr, &recursive));
    is_int(recursive, ABT_TRUE, "recursive");
    ok_abt(ABT_mutex_create_with_attr(attr, &mutex));
    ok(mutex && mutex != ABT_MUTEX_NULL, "a mutex with an attribute");
    ok_abt(ABT_mutex_attr_set_recursive(attr, ABT_FALSE));
    ok_abt(ABT_mutex_get_attr(mutex, &got));
    ok(got != attr, "an attribute of its own");
    recursive = -1;
    ok_abt(ABT_mutex_attr_get_recursive(got, &recursive));
    is_int(recursive, ABT_TRUE, "the mutex keeps what it was made with");
    ok_abt(ABT_mutex_attr_free(&got));
    ok_abt(ABT_mutex_free(&mutex));
    ok_abt(ABT_mutex_create_with_attr(attr, &mutex));
    ok_abt(ABT_mutex_lock(mutex));
    ok_err(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED);
    ok_abt(ABT_mutex_free(&mutex)); /* whatever its state */
    is_ptr(mutex, ABT_MUTEX_NULL, "null after free");
    ok_abt(ABT_mutex_attr_free(&attr));
    is_ptr(attr, ABT_MUTEX_ATTR_NULL, "null after free");
}

static void test_equal(void)
{
    ABT_mutex a = ABT_MUTEX_NULL, b = ABT_MUTEX_NULL;
    ABT_bool equal = -1;
    must(ABT_mutex_create(&a));
    must(ABT_mutex_create(&b));
    ok(a && b && a != ABT_MUTEX_NULL && b != ABT_MUTEX_NULL, "two mutexes");
    ok_abt(ABT_mutex_equal(a, a, &equal));
    is_int(equal, ABT_TRUE, "the same");
    ok_abt(ABT_mutex_equal(a, b, &equal));
    is_int(equal, ABT_FALSE, "two");
    ok_abt(ABT_mutex_equal(a, ABT_MUTEX_NULL, &equal));
    is_int(equal, ABT_FALSE, "one and none");
    ok_abt(ABT_mutex_equal(ABT_MUTEX_NULL, ABT_MUTEX_NULL, &equal));
    is_int(equal, ABT_TRUE, "none twice");
    must(ABT_mutex_free(&a));
    must(ABT_mutex_free(&b));
}

/* --- Every caller --- */

static void use_alone(enum caller who, void *arg)
{
    static int (*const lock[])(ABT_mutex) = {ABT_mutex_lock, ABT_mutex_lock_low, ABT_mutex_lock_high,
                                             ABT_mutex_spinlock, ABT_mutex_trylock};
    static int (*const unlock[])(ABT_mutex) = {ABT_mutex_unlock, ABT_mutex_unlock_se, ABT_mutex_unlock_de};
    ABT_mutex mutex = UNTOUCHED(ABT_mutex);

    ok_abt(ABT_mutex_create(&mutex));
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 3; j++) {
            ok(lock[i](mutex) == ABT_SUCCESS, "lock %d", i);
            is_int(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED, "locked: nobody else gets it");
            ok(unlock[j](mutex) == ABT_SUCCESS, "unlock %d", j);
            is_int(ABT_mutex_trylock(mutex), ABT_SUCCESS, "unlocked: anybody gets it");
            must(ABT_mutex_unlock(mutex));
        }
    }
    ok_abt(ABT_mutex_free(&mutex));
}

static void try_recursive(void *arg)
{
    is_int(ABT_mutex_trylock((ABT_mutex)arg), ABT_ERR_MUTEX_LOCKED, "not for others");
}

static void use_recursive(enum caller who, void *arg)
{
    ABT_mutex mutex = arg;
    struct activity other;
    ok_abt(ABT_mutex_lock(mutex));
    ok_abt(ABT_mutex_trylock(mutex));
    ok_abt(ABT_mutex_spinlock(mutex));
    ok_abt(ABT_mutex_lock_high(mutex));
    for (int depth = 4; depth > 0; depth--) {
        if (who != TASKLET) { /* it cannot wait for another one */
            start(&other, who == EXTERNAL ? SECONDARY_ULT : EXTERNAL, try_recursive, mutex);
            finish(&other);
        }
        ok_abt(ABT_mutex_unlock(mutex));
    }
    ok_abt(ABT_mutex_trylock(mutex));
    ok_abt(ABT_mutex_unlock_se(mutex));
}

/* --- Two who want it --- */

struct pair {
    ABT_mutex mutex;
    atomic_int step;
    bool pauses;
};

static void lock_and_tell(void *arg)
{
    struct pair *p = arg;
    is_int(ABT_mutex_lock(p->mutex), 0, "lock waits");
    atomic_fetch_add(&p->step, 1);
    is_int(ABT_mutex_unlock(p->mutex), 0, "unlock");
}

static void test_wait(enum caller who)
{
    struct pair p = {.step = 0};
    struct activity a;
    diag("%s waits", caller_names[who]);
    must(ABT_mutex_create(&p.mutex));
    must(ABT_mutex_lock(p.mutex));
    start(&a, who, lock_and_tell, &p);
    wait_until_asleep(&a);
    is_int(atomic_load(&p.step), 0, "it waits");
    must(ABT_mutex_unlock(p.mutex));
    finish(&a);
    is_int(atomic_load(&p.step), 1, "until unlock");
    ok_abt(ABT_mutex_free(&p.mutex));
}

/* Who spins does not let others run. */
static void spin_and_tell(void *arg)
{
    struct pair *p = arg;
    atomic_store(&p->step, 1);
    is_int(ABT_mutex_spinlock(p->mutex), 0, "spinlock");
    atomic_store(&p->step, 2);
    is_int(ABT_mutex_unlock(p->mutex), 0, "unlock");
}

static void test_spin(enum caller who)
{
    struct pair p = {.step = 0};
    struct activity spinning, other;
    atomic_int counter = 0;

    must(ABT_mutex_create(&p.mutex));
    must(ABT_mutex_lock(p.mutex));
    start(&spinning, who, spin_and_tell, &p);
    wait_for(atomic_load(&p.step) == 1);
    if (who != EXTERNAL)
        start(&other, SECONDARY_ULT, count_up, &counter);
    nap_ms(5);
    is_int(atomic_load(&p.step), 1, "who spins waits");
    is_int(atomic_load(&counter), 0, "and keeps its ES for itself");
    must(ABT_mutex_unlock(p.mutex));
    finish(&spinning);
    if (who != EXTERNAL)
        finish(&other);
    is_int(atomic_load(&p.step), 2, "until the unlock");
    must(ABT_mutex_free(&p.mutex));
}

static void lock_only(void *arg)
{
    is_int(ABT_mutex_lock((ABT_mutex)arg), 0, "lock");
}

/* Any unit may unlock. */
static void unlock_it(void *arg)
{
    must(ABT_mutex_unlock(arg));
}

static void test_unlock_by_another(enum caller who)
{
    ABT_mutex mutex;
    struct activity a;
    must(ABT_mutex_create(&mutex));
    start(&a, who, lock_only, mutex);
    finish(&a);
    ok_err(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED);
    ok_abt(ABT_mutex_unlock(mutex));
    ok_abt(ABT_mutex_trylock(mutex));
    must(ABT_mutex_free(&mutex));
}

/* --- All against all --- */

enum { GROUP = 24, ROUNDS = 300 };

struct group {
    ABT_mutex mutex;
    bool yields;
    int inside;
    long count;
};

static void join_group(void *arg)
{
    struct group *c = arg;
    for (int i = 0; i < ROUNDS; i++) {
        ABT_mutex_lock(c->mutex);
        if (c->inside++)
            fail("two inside");
        c->count++;
        if (c->yields)
            ABT_thread_yield(); /* others answer with an error */
        c->inside--;
        ABT_mutex_unlock(c->mutex);
    }
}

static void test_group(bool yields, bool recursive)
{
    static const enum caller kinds[] = {PLAIN_ULT, SECONDARY_ULT, EXTERNAL, TASKLET};
    struct activity a[GROUP];
    struct group c = {.yields = yields};
    ABT_mutex_attr attr;
    must(ABT_mutex_attr_create(&attr));
    must(ABT_mutex_attr_set_recursive(attr, recursive));
    must(ABT_mutex_create_with_attr(attr, &c.mutex));
    must(ABT_mutex_attr_free(&attr));
    /* A tasklet that waits for a ULT of its own stream, which yields while it holds the mutex, waits for ever. */
    for (int i = 0; i < GROUP; i++)
        start(&a[i], kinds[i % (yields ? 3 : 4)], join_group, &c);
    for (int i = 0; i < GROUP; i++)
        finish(&a[i]);
    is_int(c.count, GROUP * ROUNDS, "everybody had it every time%s%s", yields ? ", yielding inside" : "",
           recursive ? ", recursive" : "");
    must(ABT_mutex_free(&c.mutex));
}

/*
 * Who locks it again and again does not keep it from one who waits: not from one of its own pool, and from others not
 * if it leaves the mutex free for a while now and then.
 */
static void lock_greedily(void *arg)
{
    struct pair *p = arg;
    for (int i = 1; atomic_load(&p->step) == 0; i++) {
        ABT_mutex_lock(p->mutex);
        ABT_thread_yield();
        ABT_mutex_unlock(p->mutex);
        if (p->pauses && i % 64 == 0)
            nap_ms(0.1);
    }
}

static void test_greed(enum caller greedy, enum caller modest)
{
    struct pair p = {.pauses = greedy != SECONDARY_ULT || modest != SECONDARY_ULT};
    struct activity a[2];
    must(ABT_mutex_create(&p.mutex));
    start(&a[0], greedy, lock_greedily, &p);
    nap_ms(1);
    start(&a[1], modest, lock_and_tell, &p);
    finish(&a[1]);
    finish(&a[0]);
    pass("%s gets it from %s", caller_names[modest], caller_names[greedy]);
    must(ABT_mutex_free(&p.mutex));
}

/*
 * Who waits in another pool than those who share the mutex is passed over for a while, not for ever; when it is woken
 * it competes with them.
 */
struct neighbours {
    ABT_mutex mutex;
    atomic_int turns, over;
    int turns_at_last; /* of the others, when the one in the other pool got it */
};

static void take_turns(void *arg)
{
    struct neighbours *n = arg;
    while (!atomic_load(&n->over)) {
        ABT_mutex_lock(n->mutex);
        atomic_fetch_add(&n->turns, 1);
        ABT_thread_yield();
        ABT_mutex_unlock(n->mutex);
    }
}

static void take_one_turn(void *arg)
{
    struct neighbours *n = arg;
    ABT_mutex_lock(n->mutex);
    n->turns_at_last = atomic_load(&n->turns);
    atomic_store(&n->over, 1);
    ABT_mutex_unlock(n->mutex);
}

/* Turns of the others before the one in another pool has its own. */
static int turns_before(bool it_is_first)
{
    enum { NEIGHBOURS = 3 };
    struct neighbours n = {.turns = 0};
    struct activity here[NEIGHBOURS], there, external;
    must(ABT_mutex_create(&n.mutex));
    must(ABT_mutex_lock(n.mutex));
    for (int i = 0; i <= NEIGHBOURS; i++) {
        bool it = i == (it_is_first ? 0 : NEIGHBOURS);
        struct activity *a = it ? &there : &here[it_is_first ? i - 1 : i];
        start(a, it ? PLAIN_ULT : SECONDARY_ULT, it ? take_one_turn : take_turns, &n);
        wait_until_asleep(a);
    }
    start(&external, EXTERNAL, unlock_it, n.mutex); /* which has no pool, and so passes over nobody */
    finish(&external);
    finish(&there);
    for (int i = 0; i < NEIGHBOURS; i++)
        finish(&here[i]);
    must(ABT_mutex_free(&n.mutex));
    return n.turns_at_last;
}

static void test_neighbours(void)
{
    /* Those who wait look by themselves after a millisecond, and a busy machine may take longer for the wake. */
    int turns = turns_before(true);
    for (int again = 0; again < 5 && turns > 0; again++)
        turns = turns_before(true);
    is_int(turns, 0, "who is first gets it from one who has no pool, if nobody runs who wants it");
    turns = turns_before(false);
    for (int again = 0; again < 5 && turns <= 3; again++) /* likewise */
        turns = turns_before(false);
    ok(turns > 3, "a pool keeps the mutex for a while: %d turns", turns);
    pass("not for ever");
}

/* --- Those who hold up a stream do not wait for a ULT of that stream --- */

struct held_up {
    ABT_mutex mutex;
    int (*lock)(ABT_mutex);
    atomic_int stage; /* 1: the one who holds up the stream runs; 2: the mutex was unlocked */
};

/* Waits until the mutex was unlocked and a ULT of this stream woken, and takes it nevertheless. */
static void lock_beside(void *arg)
{
    struct held_up *h = arg;
    atomic_store(&h->stage, 1);
    while (atomic_load(&h->stage) != 2)
        nap_ms(0.1);
    while (h->lock(h->mutex) != ABT_SUCCESS)
        ;
    is_int(ABT_mutex_unlock(h->mutex), 0, "unlock");
}

static void test_taken_before_ult(enum caller who, int (*lock)(ABT_mutex))
{
    struct held_up h = {.lock = lock};
    struct pair p = {.step = 0};
    struct activity waiting, other;
    must(ABT_mutex_create(&h.mutex));
    p.mutex = h.mutex;
    must(ABT_mutex_lock(h.mutex));
    start(&waiting, SECONDARY_ULT, lock_and_tell, &p);
    wait_until_asleep(&waiting);
    start(&other, who, lock_beside, &h);
    wait_for(atomic_load(&h.stage) == 1);
    must(ABT_mutex_unlock(h.mutex)); /* wakes the ULT, whose stream is held up */
    atomic_store(&h.stage, 2);
    finish(&other);
    finish(&waiting);
    pass("%s takes what a ULT was woken for", caller_names[who]);
    must(ABT_mutex_free(&h.mutex));
}

/* A tasklet sleeps behind a ULT that needs its stream. */
static void test_asleep_before_ult(void)
{
    struct pair p = {.step = 0};
    struct activity ults[3], tasklet;
    must(ABT_mutex_create(&p.mutex));
    must(ABT_mutex_lock(p.mutex));
    for (int i = 0; i < 3; i++) {
        start(&ults[i], SECONDARY_ULT, lock_and_tell, &p);
        wait_until_asleep(&ults[i]);
    }
    start(&tasklet, TASKLET, lock_and_tell, &p);
    wait_until_asleep(&tasklet);
    must(ABT_mutex_unlock(p.mutex));
    finish(&tasklet);
    for (int i = 0; i < 3; i++)
        finish(&ults[i]);
    is_int(atomic_load(&p.step), 4, "all had it");
    must(ABT_mutex_free(&p.mutex));
}

/* A tasklet sleeps that came when one of the ULTs of its stream had been woken, which now cannot come before it. */
static void test_asleep_beside_woken(void)
{
    struct held_up h = {.lock = ABT_mutex_lock};
    struct pair p = {.step = 0};
    struct activity waiting[2], tasklet;
    must(ABT_mutex_create(&h.mutex));
    p.mutex = h.mutex;
    must(ABT_mutex_lock(h.mutex));
    for (int i = 0; i < 2; i++) {
        start(&waiting[i], SECONDARY_ULT, lock_and_tell, &p);
        wait_until_asleep(&waiting[i]);
    }
    start(&tasklet, TASKLET, lock_beside, &h);
    wait_for(atomic_load(&h.stage) == 1);
    must(ABT_mutex_unlock(h.mutex));
    must(ABT_mutex_lock(h.mutex));
    atomic_store(&h.stage, 2);
    wait_until_asleep(&tasklet);
    must(ABT_mutex_unlock(h.mutex));
    finish(&tasklet);
    for (int i = 0; i < 2; i++)
        finish(&waiting[i]);
    pass("a tasklet gets what a ULT of its stream was woken for");
    must(ABT_mutex_free(&h.mutex));
}

/* --- A pool that is guarded by the very mutex its ULTs wait for --- */

static ABT_mutex pool_mutex;
static ABT_thread pool_units[GROUP + 8];
static int pool_size;

static ABT_bool guarded_is_empty(ABT_pool pool)
{
    ABT_mutex_spinlock(pool_mutex);
    ABT_bool empty = pool_size == 0;
    ABT_mutex_unlock(pool_mutex);
    return empty;
}

static ABT_thread guarded_pop(ABT_pool pool, ABT_pool_context context)
{
    ABT_thread thread = ABT_THREAD_NULL;
    ABT_mutex_lock(pool_mutex);
    if (pool_size > 0) {
        thread = pool_units[0];
        memmove(&pool_units[0], &pool_units[1], (size_t)--pool_size * sizeof(pool_units[0]));
    }
    ABT_mutex_unlock(pool_mutex);
    return thread;
}

static void guarded_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    ABT_mutex_spinlock(pool_mutex);
    pool_units[pool_size++] = (ABT_thread)unit;
    ABT_mutex_unlock(pool_mutex);
}

static void test_guarded_pool(void)
{
    enum { NUM_ES = 2 };
    struct group c = {.yields = false};
    ABT_pool_user_def def;
    ABT_pool pool;
    ABT_xstream es[NUM_ES];
    ABT_thread thread[GROUP];
    must(ABT_mutex_create(&pool_mutex));
    c.mutex = pool_mutex;
    must(ABT_pool_user_def_create(unit_as_handle, leave_unit, guarded_is_empty, guarded_pop, guarded_push, &def));
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
    must(ABT_pool_user_def_free(&def));
    for (int i = 0; i < NUM_ES; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es[i]));
    for (int i = 0; i < GROUP; i++)
        must(ABT_thread_create(pool, join_group, &c, ABT_THREAD_ATTR_NULL, &thread[i]));
    for (int i = 0; i < GROUP; i++)
        must(ABT_thread_free(&thread[i]));
    for (int i = 0; i < NUM_ES; i++)
        must(ABT_xstream_free(&es[i]));
    is_int(c.count, GROUP * ROUNDS, "ULTs share the mutex with their pool");
    must(ABT_pool_free(&pool));
    must(ABT_mutex_free(&pool_mutex));
}

static void test_waiting(void)
{
    for (int who = PLAIN_ULT; who < NUM_CALLERS; who++) {
        test_wait((enum caller)who);
        test_unlock_by_another((enum caller)who);
    }
    test_spin(SECONDARY_ULT);
    test_spin(TASKLET);
    test_spin(EXTERNAL);
    for (int i = 0; i < 4; i++)
        test_group(i & 1, i & 2);
    test_greed(SECONDARY_ULT, SECONDARY_ULT);
    test_greed(SECONDARY_ULT, PLAIN_ULT);
    test_greed(SECONDARY_ULT, EXTERNAL);
    test_greed(EXTERNAL, SECONDARY_ULT);
    test_greed(EXTERNAL, EXTERNAL);
    test_neighbours();
    test_taken_before_ult(TASKLET, ABT_mutex_lock);
    test_taken_before_ult(SECONDARY_ULT, ABT_mutex_spinlock);
    test_taken_before_ult(SECONDARY_ULT, ABT_mutex_trylock);
    test_asleep_before_ult();
    test_asleep_beside_woken();
    test_guarded_pool();
}

int main(void)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory.recursive[1]);

    test_static();
    test_attr();
    test_equal();
    sync_init();
    call_as_each(use_alone, NULL);
    call_as_each(use_recursive, mutex);
    test_waiting();
    sync_fini();
    test_static(); /* as before ABT_init */
    return done_testing();
}
