/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

/* Static storage that is aligned as little as it may be. */
static struct {
    _Alignas(8) int before;
    ABT_cond_memory cond;
    ABT_mutex_memory mutex;
} memory = {1, ABT_COND_INITIALIZER, ABT_MUTEX_INITIALIZER};

struct stage {
    ABT_mutex mutex;
    ABT_cond cond;
    int turn;      /* mutex: the number of those who may go on */
    int waiting;   /* mutex: how many wait */
    int order[64]; /* mutex: who woke up when */
    int num_woken; /* mutex */
    atomic_int ended;
};

struct actor {
    struct stage *stage;
    int number;
    struct activity activity;
};

static void stage_init(struct stage *s)
{
    memset(s, 0, sizeof(*s));
    must(ABT_mutex_create(&s->mutex));
    must(ABT_cond_create(&s->cond));
}

static void stage_fini(struct stage *s)
{
    ok_abt(ABT_cond_free(&s->cond));
    is_ptr(s->cond, ABT_COND_NULL, "null after free");
    must(ABT_mutex_free(&s->mutex));
}

/* --- Codes --- */

static void check_codes(enum caller who, void *arg)
{
    ABT_mutex mutex, other;
    ABT_cond cond = ABT_COND_NULL;
    double start_time = now();
    struct timespec past = in_ms(-10000), soon = in_ms(30), ancient = {0, 0};

    must(ABT_mutex_create(&mutex));
    must(ABT_mutex_create(&other));
    ok_abt(ABT_cond_create(&cond));
    ok_abt(ABT_cond_signal(cond)); /* lost */
    ok_abt(ABT_cond_broadcast(cond));
    must(ABT_mutex_lock(mutex));
    if (!may_wait(who)) {
        ok_err(ABT_cond_wait(cond, mutex), ABT_ERR_COND);
        ok_err(ABT_cond_wait(ABT_COND_NULL, ABT_MUTEX_NULL), ABT_ERR_COND);
    }
    ok_err(ABT_cond_timedwait(cond, mutex, &past), ABT_ERR_COND_TIMEDOUT);
    ok_err(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED);
    ok_err(ABT_cond_timedwait(cond, mutex, &ancient), ABT_ERR_COND_TIMEDOUT);
    ok_err(ABT_cond_timedwait(cond, mutex, &soon), ABT_ERR_COND_TIMEDOUT);
    ok(now() - start_time > 0.02, "not before the time");
    ok_err(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED);
    must(ABT_mutex_unlock(mutex));

    must(ABT_mutex_lock(other));
    ok_err(ABT_cond_timedwait(cond, other, &past), ABT_ERR_INV_MUTEX);
    if (may_wait(who))
        ok_err(ABT_cond_wait(cond, other), ABT_ERR_INV_MUTEX);
    ok_err(ABT_mutex_trylock(other), ABT_ERR_MUTEX_LOCKED);
    must(ABT_mutex_unlock(other));
    ok_abt(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
    must(ABT_mutex_free(&other));
}

/* --- Waiting and waking --- */

static void act(void *arg)
{
    struct actor *a = arg;
    struct stage *s = a->stage;
    ABT_mutex_lock(s->mutex);
    s->waiting++;
    is_int(ABT_cond_wait(s->cond, s->mutex), 0, "woken");
    s->order[s->num_woken++] = a->number;
    s->waiting--;
    if (s->num_woken > s->turn)
        fail("woken without a signal");
    ABT_mutex_unlock(s->mutex);
    atomic_fetch_add(&s->ended, 1);
}

/* ULTs of the caller's own pool: whatever is to happen to them has happened when they have been yielded to. */
static void test_own(void)
{
    struct actor actors[4];
    struct stage s = {.mutex = ABT_MUTEX_NULL};

    must(ABT_mutex_create(&s.mutex));
    must(ABT_cond_create(&s.cond));
    s.turn = 4;
    for (int i = 0; i < 4; i++) {
        actors[i] = (struct actor){.stage = &s, .number = i};
        start(&actors[i].activity, PLAIN_ULT, act, &actors[i]);
    }
    yield_a_while();
    ok(s.waiting == 4 && s.num_woken == 0, "four wait");
    is_int(ABT_mutex_trylock(s.mutex), ABT_SUCCESS, "which frees the mutex");
    must(ABT_mutex_unlock(s.mutex));
    must(ABT_cond_signal(s.cond));
    yield_a_while();
    is_int(s.num_woken, 1, "a signal wakes one");
    must(ABT_cond_broadcast(s.cond));
    yield_a_while();
    is_int(s.num_woken, 4, "a broadcast wakes all the others");
    for (int i = 0; i < 4; i++)
        finish(&actors[i].activity);
    stage_fini(&s);
}

static int num_waiting(struct stage *s)
{
    must(ABT_mutex_lock(s->mutex));
    int n = s->waiting;
    must(ABT_mutex_unlock(s->mutex));
    return n;
}

static void signal_once(struct stage *s, bool hold)
{
    must(ABT_mutex_lock(s->mutex));
    s->turn++;
    if (!hold)
        must(ABT_mutex_unlock(s->mutex));
    is_int(ABT_cond_signal(s->cond), 0, "signal");
    if (hold)
        must(ABT_mutex_unlock(s->mutex));
}

static void test_order(bool hold)
{
    enum { ACTORS = 9 };
    static const enum caller kinds[] = {PLAIN_ULT, EXTERNAL, SECONDARY_ULT};
    struct actor actors[ACTORS];
    struct stage s;
    stage_init(&s);
    for (int i = 0; i < ACTORS; i++) {
        actors[i].stage = &s;
        actors[i].number = i;
        start(&actors[i].activity, kinds[i % 3], act, &actors[i]);
        wait_for(num_waiting(&s) == i + 1);
    }
    if (!ver20 && !ABT_NULL) {
        ok_err(ABT_cond_free(&s.cond), ABT_ERR_COND);
        ok(s.cond != ABT_COND_NULL, "left alone by an error");
    }
    for (int i = 0; i < ACTORS; i++) {
        signal_once(&s, hold);
        wait_for(atomic_load(&s.ended) == i + 1);
    }
    for (int i = 0; i < ACTORS; i++) {
        finish(&actors[i].activity);
        is_int(s.order[i], i, "first in, first out");
    }
    stage_fini(&s);
}

static void test_broadcast(void)
{
    enum { ACTORS = 30 };
    static const enum caller kinds[] = {PLAIN_ULT, EXTERNAL, SECONDARY_ULT};
    struct actor actors[ACTORS];
    struct stage s;
    stage_init(&s);
    for (int i = 0; i < ACTORS; i++) {
        actors[i].stage = &s;
        actors[i].number = i;
        start(&actors[i].activity, kinds[i % 3], act, &actors[i]);
    }
    wait_for(num_waiting(&s) == ACTORS);
    must(ABT_mutex_lock(s.mutex));
    s.turn = ACTORS;
    ok_abt(ABT_cond_broadcast(s.cond));
    must(ABT_mutex_unlock(s.mutex));
    for (int i = 0; i < ACTORS; i++)
        finish(&actors[i].activity);
    is_int(s.num_woken, ACTORS, "everybody woke up");
    stage_fini(&s);
}

/* The mutex is handed to one who waits for it, by one who starts to wait for the cond. */
struct relay {
    ABT_mutex mutex;
    ABT_cond cond;
    int turn, rounds;
};

struct runner {
    struct relay *relay;
    int number, of;
};

static void run_relay(void *arg)
{
    struct runner *r = arg;
    struct relay *relay = r->relay;
    ABT_mutex_lock(relay->mutex);
    for (int i = 0; i < relay->rounds; i++) {
        while (relay->turn % r->of != r->number)
            ABT_cond_wait(relay->cond, relay->mutex);
        relay->turn++;
        ABT_cond_broadcast(relay->cond);
    }
    ABT_mutex_unlock(relay->mutex);
}

static void test_relay(void)
{
    enum { RUNNERS = 9, ROUNDS = 100 };
    static const enum caller kinds[] = {PLAIN_ULT, EXTERNAL, SECONDARY_ULT};
    struct relay relay = {ABT_MUTEX_MEMORY_GET_HANDLE(&memory.mutex), ABT_COND_MEMORY_GET_HANDLE(&memory.cond), 0,
                          ROUNDS};
    struct runner runners[RUNNERS];
    struct activity a[RUNNERS];
    ok((uintptr_t)relay.cond % 8 == 4, "aligned to 4 bytes only");
    for (int i = 0; i < RUNNERS; i++) {
        runners[i] = (struct runner){&relay, i, RUNNERS};
        start(&a[i], kinds[i % 3], run_relay, &runners[i]);
    }
    for (int i = 0; i < RUNNERS; i++)
        finish(&a[i]);
    is_int(relay.turn, RUNNERS * ROUNDS, "everybody had every turn");
}

/* --- Timed waits --- */

struct timed {
    struct stage stage;
    long ms;
    int code;
};

static void wait_timed(void *arg)
{
    struct timed *t = arg;
    struct timespec ts = in_ms(t->ms);

    ABT_mutex_lock(t->stage.mutex);
    t->stage.waiting++;
    t->code = ABT_cond_timedwait(t->stage.cond, t->stage.mutex, &ts);
    ABT_mutex_unlock(t->stage.mutex);
}

static void test_timed(enum caller who)
{
    struct timed t;
    struct activity a;
    diag("%s waits for a time", caller_names[who]);
    stage_init(&t.stage);
    t.ms = 1000000;
    start(&a, who, wait_timed, &t);
    wait_for(num_waiting(&t.stage) == 1);
    signal_once(&t.stage, false);
    finish(&a);
    is_int(t.code, ABT_SUCCESS, "woken");

    /* A waiter whose time is up takes no signal away. */
    struct actor actor = {.stage = &t.stage};
    t.ms = 1;
    start(&a, who, wait_timed, &t);
    finish(&a);
    is_int(t.code, ABT_ERR_COND_TIMEDOUT, "not woken");
    t.stage.turn = t.stage.waiting = 0;
    start(&actor.activity, SECONDARY_ULT, act, &actor);
    wait_for(num_waiting(&t.stage) == 1);
    signal_once(&t.stage, true);
    finish(&actor.activity);
    is_int(t.stage.num_woken, 1, "the next one is woken");
    stage_fini(&t.stage);
}

/* Signals and deadlines that come at the same time: nothing is lost. */
static void test_race(enum caller who)
{
    struct timed t;
    struct activity a;
    int woken = 0;
    stage_init(&t.stage);
    for (int i = 0; i < 200; i++) {
        t.ms = 1;
        t.stage.waiting = 0;
        start(&a, who, wait_timed, &t);
        wait_for(num_waiting(&t.stage) == 1 || atomic_load(&a.done));
        nap_ms(0.5 + i % 10 * 0.05);
        must(ABT_cond_signal(t.stage.cond));
        finish(&a);
        woken += t.code == ABT_SUCCESS;
        if (t.code != ABT_SUCCESS && t.code != ABT_ERR_COND_TIMEDOUT)
            fail("code %d", t.code);
    }
    pass("%s: %d of 200 woken in time", caller_names[who], woken);
    stage_fini(&t.stage);
}

/* --- A recursive mutex: one level is unlocked --- */

static void test_recursive(void)
{
    ABT_mutex_memory storage = ABT_RECURSIVE_MUTEX_INITIALIZER;
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&storage);
    ABT_cond cond;
    struct timespec ts = in_ms(5);
    struct activity a;
    struct stage s = {.mutex = mutex};

    must(ABT_cond_create(&cond));
    s.cond = cond;
    start(&a, SECONDARY_ULT, act, &(struct actor){.stage = &s});
    wait_for(num_waiting(&s) == 1);
    signal_once(&s, true);
    finish(&a);
    is_int(s.num_woken, 1, "woken with a recursive mutex");
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_lock(mutex));
    ok_err(ABT_cond_timedwait(cond, mutex, &ts), ABT_ERR_COND_TIMEDOUT);
    ok_abt(ABT_mutex_unlock(mutex));
    ok_abt(ABT_mutex_unlock(mutex));
    ok_abt(ABT_cond_free(&cond));
}

/*
 * Two ULTs of one pool take turns: who waits is followed at once by who is woken for the mutex, but nobody else of the
 * pool is passed over, and the pool's counts are right.
 */
enum { TURNS = 400 };

struct couple {
    struct stage stage;
    ABT_pool pool;
    int ended; /* of the two */
    long steps_of_third;
    size_t most, least; /* what the third has seen of the pool's total size */
};

static void take_turns(struct couple *c, int me)
{
    must(ABT_mutex_lock(c->stage.mutex));
    for (int n = 0; n < TURNS; n++) {
        while (c->stage.turn != me)
            must(ABT_cond_wait(c->stage.cond, c->stage.mutex));
        c->stage.turn = !me;
        must(ABT_cond_signal(c->stage.cond));
    }
    must(ABT_mutex_unlock(c->stage.mutex));
    c->ended++;
}

static void take_even_turns(void *arg)
{
    take_turns(arg, 0);
}

static void take_odd_turns(void *arg)
{
    take_turns(arg, 1);
}

static void step(void *arg)
{
    struct couple *c = arg;
    while (c->ended == 0) {
        size_t total;
        must(ABT_pool_get_total_size(c->pool, &total));
        c->most = total > c->most ? total : c->most;
        c->least = total < c->least ? total : c->least;
        c->steps_of_third++;
        must(ABT_thread_yield());
    }
}

static void check_count_of_one(ABT_pool pool)
{
    ABT_thread_state state;
    size_t total;
    ABT_thread ult = ult_in(pool, unit_suspends, NULL);
    wait_for(ABT_thread_get_state(ult, &state) == ABT_SUCCESS && state == ABT_THREAD_STATE_BLOCKED);
    must(ABT_pool_get_total_size(pool, &total));
    is_int((long)total, 1, "no more and no fewer have been counted as blocked than as woken");
    must(ABT_thread_resume(ult));
    must(ABT_thread_free(&ult));
}

static void test_couple(ABT_pool_kind kind, ABT_pool_access access, bool third)
{
    struct couple c = {.least = SIZE_MAX};
    ABT_thread ults[2], other;
    ABT_xstream es;
    size_t total;
    stage_init(&c.stage);
    must(ABT_pool_create_basic(kind, access, ABT_FALSE, &c.pool));
    must(ABT_thread_create(c.pool, take_even_turns, &c, ABT_THREAD_ATTR_NULL, &ults[0]));
    must(ABT_thread_create(c.pool, take_odd_turns, &c, ABT_THREAD_ATTR_NULL, &ults[1]));
    if (third)
        must(ABT_thread_create(c.pool, step, &c, ABT_THREAD_ATTR_NULL, &other));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &c.pool, ABT_SCHED_CONFIG_NULL, &es));
    must(ABT_thread_free(&ults[0]));
    must(ABT_thread_free(&ults[1]));
    if (third) {
        must(ABT_thread_free(&other));
        ok(c.steps_of_third >= TURNS, "nobody is passed over: %ld steps", c.steps_of_third);
        ok(c.most == 2 && c.least == 2, "the two are in the pool or blocked: %zu to %zu", c.least, c.most);
    }
    if (access != ABT_POOL_ACCESS_PRIV)
        check_count_of_one(c.pool);
    must(ABT_xstream_free(&es));
    must(ABT_pool_get_total_size(c.pool, &total));
    is_int((long)total, 0, "nobody is counted who has gone");
    must(ABT_pool_free(&c.pool));
    stage_fini(&c.stage);
}

/*
 * Nor is somebody passed over who stands in another pool of the scheduler, behind theirs. With tools the scheduler
 * looks by itself, when the one who was woken is in the pool in front.
 */
static void test_couple_and_pool_behind(ABT_sched_predef predef)
{
    struct couple c = {.least = SIZE_MAX};
    ABT_pool pools[2];
    ABT_thread ults[3];
    ABT_xstream es;
    stage_init(&c.stage);
    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    c.pool = pools[0];
    must(ABT_thread_create(pools[0], take_even_turns, &c, ABT_THREAD_ATTR_NULL, &ults[0]));
    must(ABT_thread_create(pools[0], take_odd_turns, &c, ABT_THREAD_ATTR_NULL, &ults[1]));
    must(ABT_thread_create(pools[1], step, &c, ABT_THREAD_ATTR_NULL, &ults[2]));
    must(ABT_xstream_create_basic(predef, 2, pools, ABT_SCHED_CONFIG_NULL, &es));
    must(ABT_thread_free_many(3, ults));
    ok(c.steps_of_third > 0, "the one in another pool has had %ld steps", c.steps_of_third);
    must(ABT_xstream_free(&es));
    stage_fini(&c.stage);
}

int main(void)
{
    want_tool();
    check_codes(EXTERNAL, NULL); /* before ABT_init */
    sync_init();
    call_as_each(check_codes, NULL);
    test_own();
    test_order(false);
    test_order(true);
    test_broadcast();
    test_relay();
    for (int who = PLAIN_ULT; who < NUM_CALLERS; who++) {
        test_timed((enum caller)who);
        test_race((enum caller)who);
    }
    test_recursive();
    for (int third = 0; third < 2; third++) {
        test_couple(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, third);
        test_couple(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, third);
        test_couple(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, third);
    }
    if (!has_tool()) {
        test_couple_and_pool_behind(ABT_SCHED_BASIC);
        test_couple_and_pool_behind(ABT_SCHED_RANDWS);
    }
    sync_fini();
    return done_testing();
}
