/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_source_*: streams ask for work when they have none, and are woken when there is some. */
#include <sched.h>

#include "common.h"

/* A source that gives what is in stock. */
struct stock {
    ABTX_source source;
    atomic_int left, asked, ran;
    const volatile int *idle;
    ABT_thread thread; /* is given first, if it is not NULL */
};

static struct stock stock;

static void count_run(void *arg)
{
    struct stock *s = arg;

    (void)ABT_thread_yield(); /* it is an ordinary ULT */
    atomic_fetch_add(&s->ran, 1);
}

static ABT_bool ask(void *arg, ABTX_work *work)
{
    struct stock *s = arg;
    int left = atomic_load(&s->left);

    atomic_fetch_add(&s->asked, 1);
    while (left > 0 && !atomic_compare_exchange_weak(&s->left, &left, left - 1))
        ;
    if (left <= 0)
        return ABT_FALSE;
    *work = (ABTX_work){.thread = s->thread, .func = count_run, .arg = s};
    s->thread = ABT_THREAD_NULL;
    return ABT_TRUE;
}

static void stock_make(struct stock *s)
{
    *s = (struct stock){.thread = ABT_THREAD_NULL};
    must(ABTX_source_create(ask, s, &s->source));
    must(ABTX_source_get_idle(s->source, &s->idle));
}

static int num_idle(const struct stock *s)
{
    return __atomic_load_n(s->idle, __ATOMIC_RELAXED);
}

static void add(struct stock *s, int num)
{
    atomic_fetch_add(&s->left, num);
    must(ABTX_source_wake_one(s->source));
}

/* --- Bad arguments --- */

static void test_arguments(void)
{
    ABTX_source source = NULL, none = NULL;
    const volatile int *idle;
    ABT_xstream self;
    ABT_bool ran;

    ok_err(ABTX_source_create(ask, NULL, &source), ABT_ERR_UNINITIALIZED);
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    ok_err(ABTX_source_create(NULL, NULL, &source), ABT_ERR_INV_ARG);
    ok_err(ABTX_source_create(ask, NULL, NULL), ABT_ERR_INV_ARG);
    ok_abt(ABTX_source_create(ask, &stock, &source));
    ok_err(ABTX_source_attach(none, self), ABT_ERR_INV_ARG);
    ok_err(ABTX_source_attach(source, ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_source_detach(source, self), ABT_ERR_INV_ARG);
    ok_abt(ABTX_source_attach(source, self));
    ok_err(ABTX_source_attach(source, self), ABT_ERR_INV_ARG);
    ok_err(ABTX_source_detach(source, ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_source_detach(none, self), ABT_ERR_INV_ARG);
    ok_abt(ABTX_source_detach(source, self));
    ok_err(ABTX_source_get_idle(none, &idle), ABT_ERR_INV_ARG);
    ok_err(ABTX_source_get_idle(source, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_source_wake_one(none), ABT_ERR_INV_ARG);
    ok_abt(ABTX_source_wake_one(source));
    ok_err(ABTX_xstream_check_sources(&ran), ABT_ERR_INV_THREAD);
    ok_err(ABTX_source_free(&none), ABT_ERR_INV_ARG);
    ok_err(ABTX_source_free(NULL), ABT_ERR_INV_ARG);
    ok_abt(ABTX_source_free(&source));
    ok(!source, "a source that is freed is NULL");
    must(ABT_finalize());
}

/* --- Every scheduler asks --- */

static void simple_run(ABT_sched sched)
{
    do {
        ABT_bool ran = run_next(first_pool_of(sched));
        if (!ran)
            must(ABTX_xstream_check_sources(&ran));
        if (!ran)
            must(ABTX_xstream_park_until(0, NULL, ABTX_FOREVER));
    } while (!is_last_turn(sched));
}

enum { LOOP = -1 };

static ABT_sched make_sched(int kind, ABT_pool *pool)
{
    ABT_sched_def loop = {.type = ABT_SCHED_TYPE_ULT, .run = simple_run};
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    if (kind == LOOP) {
        must(ABT_sched_create(&loop, 1, pool, config, &sched));
    } else {
        must(ABT_sched_create_basic((ABT_sched_predef)kind, 1, pool, config, &sched));
    }
    must(ABT_sched_config_free(&config));
    return sched;
}

static void test_scheduler(int kind, const char *name)
{
    ABT_pool pool;
    ABT_xstream stream;

    stock_make(&stock);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_xstream_create(make_sched(kind, &pool), &stream));
    must(ABTX_source_attach(stock.source, stream));
    wait_for(num_idle(&stock) == 1);
    nap_ms(2); /* most likely it sleeps now */
    for (int i = 0; i < 10; i++) {
        add(&stock, 3);
        wait_for(atomic_load(&stock.ran) == 3 * (i + 1));
    }
    pass("%s: a stream without work takes that of its source", name);

    struct stock other;
    stock_make(&other);
    must(ABT_thread_create(pool, count_run, &other, ABT_THREAD_ATTR_NULL, NULL));
    wait_for(atomic_load(&other.ran) == 1);
    must(ABTX_source_free(&other.source));
    pass("%s: and that of its pool", name);

    wait_for(num_idle(&stock) == 1);
    int asked = atomic_load(&stock.asked);
    nap_ms(5);
    /* Once it may: it is counted as idle before it asks for the last time. */
    ok(atomic_load(&stock.asked) <= asked + 1, "%s: one that has asked in vain does not ask again and again", name);
    must(ABTX_source_detach(stock.source, stream));
    asked = atomic_load(&stock.asked);
    is_int(num_idle(&stock), 0, "%s: one that is detached is not idle", name);
    add(&stock, 1);
    must(ABT_xstream_join(stream));
    is_int(atomic_load(&stock.asked), asked, "%s: and asks no more", name);
    must(ABT_xstream_free(&stream));
    must(ABTX_source_free(&stock.source));
}

/* A stream that has work does not ask. */
static void test_busy(void)
{
    struct spinner spinner = {0};
    ABT_xstream stream;
    ABT_thread thread;

    stock_make(&stock);
    must(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    must(ABT_thread_create_on_xstream(stream, keep_spinning, &spinner, ABT_THREAD_ATTR_NULL, &thread));
    wait_for(atomic_load(&spinner.running));
    must(ABTX_source_attach(stock.source, stream));
    add(&stock, 1);
    nap_ms(2);
    is_int(atomic_load(&stock.asked), 0, "a stream that runs a unit does not ask");
    atomic_store(&spinner.stop, true);
    must(ABT_thread_free(&thread));
    wait_for(atomic_load(&stock.ran) == 1);
    pass("and asks when it has nothing to run");
    must(ABT_xstream_free(&stream));
    is_int(num_idle(&stock), 0, "a stream that is freed is detached");
    must(ABTX_source_free(&stock.source));
}

static void test_thread(void)
{
    ABT_pool aside;
    ABT_xstream stream;
    ABT_thread thread, popped;

    stock_make(&stock);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &aside));
    must(ABT_thread_create(aside, count_run, &stock, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_pool_pop_thread(aside, &popped));
    must(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    stock.thread = popped;
    must(ABTX_source_attach(stock.source, stream));
    add(&stock, 1);
    /* Its pool is still the other one, to which it goes when it yields. */
    ABT_thread again = ABT_THREAD_NULL;
    wait_for((must(ABT_pool_pop_thread(aside, &again)), again != ABT_THREAD_NULL));
    ok(again == thread, "a source gives a unit, which keeps its pool");
    stock.thread = again;
    add(&stock, 1);
    must(ABT_thread_free(&thread));
    is_int(atomic_load(&stock.ran), 1, "it has run to its end");
    must(ABT_xstream_free(&stream));
    must(ABTX_source_free(&stock.source));
    must(ABT_pool_free(&aside));
}

/* --- A stream that is woken for nothing leaves the others alone for a while --- */

struct empty {
    const volatile int *idle;
    double begin;         /* when it was asked first; the stream's */
    _Atomic(double) took; /* how long after that it was by an idle stream */
    atomic_int rounds;
};

static bool has_one_cpu(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) == 1;
}

/* The stream asks before it becomes idle, perhaps several times, and once more when it is. */
static ABT_bool ask_empty(void *arg, ABTX_work *work)
{
    struct empty *e = arg;

    (void)work;
    /* At the first time the thread that wakes the stream may have yet to count it as woken. */
    if (e->begin == 0) {
        e->begin = now();
    } else if (__atomic_load_n(e->idle, __ATOMIC_RELAXED) > 0) {
        atomic_store(&e->took, now() - e->begin);
        e->begin = 0;
        atomic_fetch_add(&e->rounds, 1);
    }
    return ABT_FALSE;
}

/* It has to rest in between, for up to 16 us, when nothing has come of it a few times. */
static void test_rest(void)
{
    enum { WAKES = 16 };
    struct empty empty = {.begin = 0};
    ABTX_source source;
    ABT_xstream stream;
    int rested = 0;

    if (has_one_cpu()) {
        skip(1, "on one CPU no stream rests");
        return;
    }
    must(ABTX_source_create(ask_empty, &empty, &source));
    must(ABTX_source_get_idle(source, &empty.idle));
    must(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    must(ABTX_source_attach(source, stream));
    for (int i = 0; i < WAKES; i++) {
        wait_for(atomic_load(&empty.rounds) >= i + 1);
        rested += i >= WAKES / 2 && atomic_load(&empty.took) > 2e-6;
        must(ABTX_source_wake_one(source));
    }
    /* Not each: a stream that loses its CPU as it begins to rest is seen for less than it has rested. */
    ok(rested >= WAKES / 4, "a stream that was woken in vain several times rests before it is idle again: %d", rested);
    must(ABT_xstream_free(&stream));
    must(ABTX_source_free(&source));
}

/* --- A stream that is in a source's function --- */

static atomic_bool is_asked, may_return;

static ABT_bool ask_long(void *arg, ABTX_work *work)
{
    (void)arg, (void)work;
    atomic_store(&is_asked, true);
    while (!atomic_load(&may_return))
        sched_yield();
    return ABT_FALSE;
}

static void test_long(void)
{
    ABTX_source source;
    ABT_xstream stream = new_xstream();

    must(ABTX_source_create(ask_long, NULL, &source));
    stock_make(&stock);
    must(ABTX_source_attach(source, stream));
    wait_for(atomic_load(&is_asked));
    ok_abt(ABTX_source_attach(stock.source, stream)); /* while the stream is in the other one's function */
    atomic_store(&may_return, true);
    wait_for(atomic_load(&stock.asked) > 0);
    pass("the new one is asked next");
    must(ABTX_source_free(&source));
    must(ABTX_source_free(&stock.source));
    must(ABT_xstream_free(&stream));
}

/* --- Attributes --- */

static size_t seen_stacksize;
static ABT_bool seen_migratable;
static bool migrates; /* units can, in this build */

static void look_at_own(void *arg)
{
    ABT_thread self;
    ABT_thread_attr attr;
    void *addr;

    (void)arg;
    must(ABT_self_get_thread(&self));
    must(ABT_thread_get_attr(self, &attr));
    must(ABT_thread_attr_get_stack(attr, &addr, &seen_stacksize));
    must(ABT_thread_attr_free(&attr));
    if (migrates)
        must(ABT_thread_is_migratable(self, &seen_migratable));
    atomic_fetch_add(&stock.ran, 1);
}

static ABT_bool ask_for_look(void *arg, ABTX_work *work)
{
    struct stock *s = arg;
    int left = atomic_load(&s->left);

    if (left <= 0 || !atomic_compare_exchange_strong(&s->left, &left, left - 1))
        return ABT_FALSE;
    work->func = look_at_own;
    return ABT_TRUE;
}

static void look_once(void)
{
    int before = atomic_load(&stock.ran);

    add(&stock, 1);
    wait_for(atomic_load(&stock.ran) == before + 1);
}

/* A source with stacks of its own beside one without. */
static void test_attr(void)
{
    struct stock plain;
    ABT_xstream stream;
    ABT_thread_attr attr;
    size_t usual;

    migrates = has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION);
    stock = (struct stock){.thread = ABT_THREAD_NULL};
    must(ABTX_source_create(ask_for_look, &stock, &stock.source));
    stock_make(&plain);
    must(ABT_xstream_create(ABT_SCHED_NULL, &stream));
    must(ABTX_source_attach(plain.source, stream));
    must(ABTX_source_attach(stock.source, stream));
    look_once();
    usual = seen_stacksize;
    is_int(seen_migratable, migrates, "ULTs are migratable as a rule");
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 200000));
    if (migrates)
        must(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
    ok_abt(ABTX_source_set_attr(stock.source, attr));
    for (int i = 0; i < 100; i++)
        look_once();
    ok(seen_stacksize >= 200000, "stacks of the size that the attribute says");
    ok(!seen_migratable, "and not migratable");
    add(&plain, 5);
    wait_for(atomic_load(&plain.ran) == 5);
    pass("the other source is there, too");
    if (!ABT_NULL) {
        char memory[1];
        ok_err(ABTX_source_set_attr(NULL, attr), ABT_ERR_INV_ARG);
        must(ABT_thread_attr_set_stack(attr, (void *)((uintptr_t)memory & ~(uintptr_t)15), 100000));
        ok_err(ABTX_source_set_attr(stock.source, attr), ABT_ERR_INV_THREAD_ATTR);
    }
    must(ABT_thread_attr_free(&attr));
    ok_abt(ABTX_source_set_attr(stock.source, ABT_THREAD_ATTR_NULL));
    look_once();
    look_once();
    is_int((long)seen_stacksize, (long)usual, "as usual again");
    is_int(seen_migratable, migrates, "and migratable");
    must(ABT_xstream_free(&stream));
    must(ABTX_source_free(&stock.source));
    must(ABTX_source_free(&plain.source));
}

int main(void)
{
    test_arguments();
    must(ABT_init(0, NULL));
    test_scheduler(ABT_SCHED_BASIC, "basic");
    test_scheduler(ABT_SCHED_BASIC_WAIT, "basic_wait");
    test_scheduler(ABT_SCHED_PRIO, "prio");
    test_scheduler(ABT_SCHED_RANDWS, "randws");
    test_scheduler(LOOP, "user-defined");
    test_busy();
    test_thread();
    test_rest();
    test_long();
    test_attr();
    must(ABT_finalize());
    return done_testing();
}
