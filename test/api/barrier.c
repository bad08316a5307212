/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

#include <pthread.h>

static void check_codes(enum caller who, void *arg)
{
    ABT_barrier barrier = UNTOUCHED(ABT_barrier);
    uint32_t num = 0;

    if (!ABT_NULL) {
        ok_err(ABT_barrier_create(0, &barrier), ABT_ERR_INV_ARG);
        is_ptr(barrier, ver20 ? UNTOUCHED(ABT_barrier) : ABT_BARRIER_NULL, "after an error");
    }
    barrier = UNTOUCHED(ABT_barrier);
    ok_abt(ABT_barrier_create(1, &barrier));
    ok(barrier != UNTOUCHED(ABT_barrier) && barrier != ABT_BARRIER_NULL, "a barrier");
    for (int i = 0; i < 3; i++)
        is_int(ABT_barrier_wait(barrier), may_wait(who) ? ABT_SUCCESS : ABT_ERR_BARRIER, "alone");
    if (!ABT_NULL)
        ok_err(ABT_barrier_reinit(barrier, 0), ABT_ERR_INV_ARG);
    ok_abt(ABT_barrier_get_num_waiters(barrier, &num));
    is_int(num, 1, "one");
    ok_abt(ABT_barrier_reinit(barrier, 5));
    ok_abt(ABT_barrier_get_num_waiters(barrier, &num));
    is_int(num, 5, "five");
    ok_abt(ABT_barrier_free(&barrier));
    is_ptr(barrier, ABT_BARRIER_NULL, "null after free");
}

/* ULTs of the caller's own pool, which is yielded to. */
struct passage {
    ABT_barrier barrier;
    atomic_int passed;
};

static void pass_barrier(void *arg)
{
    struct passage *p = arg;
    must(ABT_barrier_wait(p->barrier));
    count_up(&p->passed);
}

static void test_own(void)
{
    struct passage p = {.barrier = ABT_BARRIER_NULL};
    struct activity a[3];
    must(ABT_barrier_create(3, &p.barrier));
    for (int i = 0; i < 3; i++) {
        yield_a_while();
        is_int(p.passed, 0, "%d of three wait for the others", i);
        start(&a[i], PLAIN_ULT, pass_barrier, &p);
    }
    yield_a_while();
    is_int(p.passed, 3, "all have met");
    for (int i = 0; i < 3; i++)
        finish(&a[i]);
    ok_abt(ABT_barrier_free(&p.barrier));
}

/* --- Rounds: nobody begins one before all have ended the one before --- */

enum { GROUP = 24, ROUNDS = 200 };

struct group {
    ABT_barrier barrier;
    int num;
    atomic_int arrived[ROUNDS];
};

static void join_group(void *arg)
{
    struct group *c = arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&c->arrived[i], 1);
        ABT_barrier_wait(c->barrier);
        if (atomic_load(&c->arrived[i]) != c->num)
            fail("round %d: %d of %d", i, atomic_load(&c->arrived[i]), c->num);
    }
}

static void run_group(struct group *c, int num)
{
    static const enum caller kinds[] = {PLAIN_ULT, SECONDARY_ULT, EXTERNAL};
    struct activity a[GROUP];
    c->num = num;
    for (int i = 0; i < ROUNDS; i++)
        atomic_store(&c->arrived[i], 0);
    for (int i = 0; i < num; i++)
        start(&a[i], kinds[i % 3], join_group, c);
    for (int i = 0; i < num; i++)
        finish(&a[i]);
    pass("%d rounds of %d", ROUNDS, num);
}

static void test_group(void)
{
    struct group c;
    must(ABT_barrier_create(GROUP, &c.barrier));
    run_group(&c, GROUP);
    ok_abt(ABT_barrier_reinit(c.barrier, 7));
    run_group(&c, 7);
    ok_abt(ABT_barrier_free(&c.barrier));
}

/* --- The barrier goes as soon as somebody has come out of it --- */

struct short_lived {
    ABT_barrier barrier;
    atomic_int out;
};

static void meet_once(void *arg)
{
    struct short_lived *s = arg;
    ABT_barrier barrier = s->barrier;
    ABT_barrier_wait(barrier);
    if (atomic_fetch_add(&s->out, 1) == 0)
        ABT_barrier_free(&barrier);
}

static void test_short_lived(void)
{
    static const enum caller kinds[] = {PLAIN_ULT, SECONDARY_ULT, EXTERNAL};
    struct activity a[6];
    for (int i = 0; i < 200; i++) {
        struct short_lived s = {.out = 0};
        must(ABT_barrier_create(6, &s.barrier));
        for (int j = 0; j < 6; j++)
            start(&a[j], kinds[j % 3], meet_once, &s);
        for (int j = 0; j < 6; j++)
            finish(&a[j]);
    }
    pass("the first one out frees the barrier");
}

/* --- ULTs of one private pool: they are woken all at once --- */

enum { LOCALS = 40 };

struct locals {
    ABT_barrier barrier;
    ABT_pool pool;
    ABT_thread ults[LOCALS];
    int num, passed[LOCALS];
};

static void pass_twice(void *arg)
{
    struct locals *l = arg;
    ABT_thread self;
    int me = 0;
    must(ABT_self_get_thread(&self));
    while (l->ults[me] != self)
        me++;
    for (int round = 0; round < 2; round++) {
        must(ABT_barrier_wait(l->barrier));
        l->passed[me]++;
    }
}

static int count_in_state(const struct locals *l, ABT_thread_state wanted)
{
    int num = 0;
    for (int i = 0; i < l->num; i++) {
        ABT_thread_state state;
        must(ABT_thread_get_state(l->ults[i], &state));
        num += state == wanted;
    }
    return num;
}

/* The last to come, each time: an ULT of the same stream, in a pool behind. */
static void meet_locals(void *arg)
{
    struct locals *l = arg;
    for (int i = 0; i < l->num; i++)
        l->passed[i] = 0;
    for (int i = 0; i < l->num; i++)
        must(ABT_thread_create(l->pool, pass_twice, l, ABT_THREAD_ATTR_NULL, &l->ults[i]));
    for (int round = 0; round < 2; round++) {
        must(ABT_thread_yield());
        is_int(count_in_state(l, ABT_THREAD_STATE_BLOCKED), l->num, "%d wait, round %d", l->num, round);
        must(ABT_barrier_wait(l->barrier));
        is_int(count_in_state(l, ABT_THREAD_STATE_READY), l->num, "they are ready");
    }
    for (int i = 0; i < l->num; i++) {
        must(ABT_thread_free(&l->ults[i]));
        if (l->passed[i] != 2)
            fail("number %d of %d passed %d times", i, l->num, l->passed[i]);
    }
}

static void test_locals(void)
{
    static struct locals l;
    ABT_pool pools[2];
    ABT_xstream es;
    ABT_thread root;
    size_t size;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_FALSE, &pools[0]));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[1]));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &es));
    l.pool = pools[0];
    must(ABT_barrier_create(4, &l.barrier));
    static const int nums[] = {3, 2, LOCALS, 5}; /* more than it was made for, too */
    for (int i = 0; i < 4; i++) {
        l.num = nums[i];
        must(ABT_barrier_reinit(l.barrier, (uint32_t)l.num + 1));
        must(ABT_thread_create(pools[1], meet_locals, &l, ABT_THREAD_ATTR_NULL, &root));
        must(ABT_thread_free(&root));
    }
    must(ABT_pool_get_total_size(pools[0], &size));
    is_int((long)size, 0, "nobody is left in the pool");
    must(ABT_barrier_free(&l.barrier));
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&pools[0]));
}

/*
 * --- More native threads than CPUs, beside others who compute: who comes early and gives way to these has lost a whole
 * time slice ---
 */

enum { NATIVES = 8, MEETINGS = 300 };

static struct {
    bool ours;
    ABT_barrier barrier;
    pthread_barrier_t native;
    atomic_bool over;
} natives;

static void *meet_often(void *arg)
{
    for (int i = 0; i < MEETINGS; i++) {
        if (natives.ours)
            must(ABT_barrier_wait(natives.barrier));
        else
            pthread_barrier_wait(&natives.native);
    }
    return arg;
}

static void *compute(void *arg)
{
    while (!atomic_load(&natives.over))
        ;
    return arg;
}

static double time_natives(bool ours)
{
    pthread_t threads[NATIVES];
    double start = ABT_get_wtime();

    natives.ours = ours;
    for (int i = 0; i < NATIVES; i++)
        must(pthread_create(&threads[i], NULL, meet_often, NULL));
    for (int i = 0; i < NATIVES; i++)
        must(pthread_join(threads[i], NULL));
    return ABT_get_wtime() - start;
}

static void test_before_init(void)
{
    ok_abt(ABT_barrier_create(NATIVES, &natives.barrier));
    time_natives(true);
    pass("threads meet before ABT_init");
    ok_abt(ABT_barrier_free(&natives.barrier));
}

static void test_natives(void)
{
    enum { COMPUTING = 4, ROUNDS_OF_BOTH = 5, MOST = 30 };
    pthread_t computing[COMPUTING];
    double best[2] = {1e9, 1e9};

    if (getenv("TEST_DENY")) {
        skip(1, "the time of waits without system calls is nobody's goal");
        return;
    }
    must(ABT_barrier_create(NATIVES, &natives.barrier));
    must(pthread_barrier_init(&natives.native, NULL, NATIVES));
    for (int i = 0; i < COMPUTING; i++)
        must(pthread_create(&computing[i], NULL, compute, NULL));
    for (int r = 0; r < 2 * ROUNDS_OF_BOTH; r++) {
        double took = time_natives(r % 2);
        best[r % 2] = took < best[r % 2] ? took : best[r % 2];
    }
    atomic_store(&natives.over, true);
    for (int i = 0; i < COMPUTING; i++)
        must(pthread_join(computing[i], NULL));
    diag("%d meetings took %.1f ms, by pthread_barrier_wait %.1f ms", MEETINGS, best[1] * 1e3, best[0] * 1e3);
    ok(best[1] < MOST * best[0], "not much longer than the system's own");
    must(pthread_barrier_destroy(&natives.native));
    must(ABT_barrier_free(&natives.barrier));
}

int main(void)
{
    check_codes(EXTERNAL, NULL); /* before ABT_init */
    test_before_init();
    sync_init();
    call_as_each(check_codes, NULL);
    test_own();
    test_group();
    test_short_lived();
    test_locals();
    if (!policy_is_active()) /* else they never sleep */
        test_natives();
    sync_fini();
    return done_testing();
}
