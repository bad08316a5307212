/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution streams: making them, changing their schedulers, binding them, without memory or native threads. */
#include <sched.h>

#include "cases.h"

static ABT_xstream xstream;
static ABT_sched sched;
static ABT_pool pools[3];
static int streams;

static void begin(void)
{
    probe_begin();
    must(ABT_xstream_get_num(&streams));
}

static void end(void)
{
    probe_end();
}

/* A new stream asks for memory as it begins, and does without an answer: it is seen to work while things still fail. */
static void try_it(ABT_pool pool)
{
    probe_into(pool);
    while (!probed)
        nap_ms(0.02);
}

static int number_of_streams(void)
{
    int num;

    must(ABT_xstream_get_num(&num));
    return num;
}

static void no_stream(void)
{
    expect_out(xstream, ABT_XSTREAM_NULL);
    expect(number_of_streams() == streams, "the number of streams");
}

static void free_stream(void)
{
    int rank;

    must(ABT_xstream_get_rank(xstream, &rank));
    expect(rank == 1 || rank == 7, "the rank has not been lost");
    must(ABT_xstream_join(xstream));
    must(ABT_xstream_revive(xstream));
    probe_again();
    must(ABT_xstream_free(&xstream));
    expect(number_of_streams() == streams, "the number of streams");
}

/* --- Creating --- */

static int create(void)
{
    int code;

    xstream = UNTOUCHED(ABT_xstream);
    code = ABT_xstream_create(ABT_SCHED_NULL, &xstream);
    if (code == ABT_SUCCESS)
        try_it(pool_of(xstream));
    return code;
}

static int create_with_rank(void)
{
    int code;

    xstream = UNTOUCHED(ABT_xstream);
    code = ABT_xstream_create_with_rank(ABT_SCHED_NULL, 7, &xstream);
    if (code == ABT_SUCCESS)
        try_it(pool_of(xstream));
    return code;
}

/* A scheduler of the user's is the user's again. */
static void begin_sched(void)
{
    ABT_sched_config config;

    begin();
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    must(ABT_sched_create_basic(ABT_SCHED_RANDWS, 0, NULL, config, &sched));
    must(ABT_sched_config_free(&config));
}

static void end_sched(void)
{
    must(ABT_sched_free(&sched));
    end();
}

static int create_with_sched(void)
{
    int code;

    xstream = UNTOUCHED(ABT_xstream);
    code = ABT_xstream_create(sched, &xstream);
    if (code == ABT_SUCCESS)
        try_it(pool_of(xstream));
    return code;
}

/* Pools of the user's stay, others are made. */
static void begin_pools(void)
{
    begin();
    pools[0] = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    pools[1] = ABT_POOL_NULL;
    pools[2] = new_pool(ABT_POOL_RANDWS, ABT_TRUE); /* its last scheduler would free it: it gets one that stays */
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pools[2], ABT_SCHED_CONFIG_NULL, &sched));
}

static void end_pools(void)
{
    must(ABT_pool_free(&pools[0]));
    expect(total_size_of(pools[2]) == 0, "the automatic pool is there");
    end_sched();
}

static int create_basic(void)
{
    int code;

    xstream = UNTOUCHED(ABT_xstream);
    code = ABT_xstream_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &xstream);
    if (code == ABT_SUCCESS)
        try_it(pools[2]);
    return code;
}

/* An automatic pool that nobody uses yet is not lost in a failed creation. */
static void begin_unused_pool(void)
{
    begin();
    pools[0] = new_pool(ABT_POOL_FIFO, ABT_TRUE);
}

static int create_in_unused_pool(void)
{
    int code;

    xstream = UNTOUCHED(ABT_xstream);
    code = ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, pools, ABT_SCHED_CONFIG_NULL, &xstream);
    if (code == ABT_SUCCESS)
        try_it(pools[0]);
    return code;
}

static void no_stream_but_pool(void)
{
    no_stream();
    expect(total_size_of(pools[0]) == 0, "the pool is there");
}

static void free_stream_and_pool(void)
{
    free_stream();
    pools[0] = new_pool(ABT_POOL_FIFO, ABT_TRUE);
}

static void end_unused_pool(void)
{
    must(ABT_pool_free(&pools[0]));
    end();
}

/* --- Another scheduler --- */

static ABT_sched old_sched;

static void begin_replace(void)
{
    begin();
    must(ABT_xstream_get_main_sched(own_xstream(), &old_sched));
}

static int replace(void)
{
    return ABT_xstream_set_main_sched(own_xstream(), ABT_SCHED_NULL);
}

static int replace_basic(void)
{
    return ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_PRIO, 0, NULL);
}

static void same_sched(void)
{
    must(ABT_xstream_get_main_sched(own_xstream(), &sched));
    expect(sched == old_sched, "the old scheduler goes on");
    ABT_self_yield();
}

static void new_sched(void)
{
    atomic_int ran = 0;
    ABT_thread thread = ult_in(own_pool(), count_up, &ran);

    must(ABT_thread_free(&thread));
    expect(ran == 1, "the new scheduler works");
    must(ABT_xstream_get_main_sched(own_xstream(), &old_sched));
}

static void begin_terminated(void)
{
    begin();
    xstream = new_xstream();
    must(ABT_xstream_join(xstream));
    must(ABT_xstream_get_main_sched(xstream, &old_sched));
}

static int replace_terminated(void)
{
    return ABT_xstream_set_main_sched(xstream, ABT_SCHED_NULL);
}

static int replace_terminated_basic(void)
{
    return ABT_xstream_set_main_sched_basic(xstream, ABT_SCHED_RANDWS, 3, pools);
}

static void same_sched_there(void)
{
    must(ABT_xstream_get_main_sched(xstream, &sched));
    expect(sched == old_sched, "the old scheduler is there");
}

static void new_sched_there(void)
{
    must(ABT_xstream_revive(xstream));
    try_it(pool_of(xstream));
    probe_again();
    must(ABT_xstream_join(xstream));
    must(ABT_xstream_get_main_sched(xstream, &old_sched));
}

static void begin_terminated_pools(void)
{
    begin_terminated();
    pools[0] = pools[1] = pools[2] = ABT_POOL_NULL;
}

static void end_terminated(void)
{
    must(ABT_xstream_free(&xstream));
    end();
}

/* --- CPUs, where streams are bound --- */

static int cpus[64], num_cpus;

static void begin_cpus(void)
{
    begin();
    xstream = new_xstream();
    try_it(pool_of(xstream)); /* it has begun, and asks for nothing any more */
    probe_again();
    num_cpus = 0;
    must(ABT_xstream_set_affinity(xstream, 0, NULL));
    must(ABT_xstream_get_affinity(xstream, 64, cpus, &num_cpus));
    if (num_cpus > 64)
        num_cpus = 64;
}

static int set_affinity(void)
{
    return ABT_xstream_set_affinity(xstream, num_cpus, cpus);
}

static int get_cpubind(void)
{
    int cpu;

    return ABT_xstream_get_cpubind(xstream, &cpu);
}

static int get_affinity(void)
{
    int num, got[64];

    return ABT_xstream_get_affinity(xstream, 64, got, &num);
}

static int set_rank(void)
{
    return ABT_xstream_set_rank(xstream, 5);
}

static void rank_is_old(void)
{
    int rank = -1;

    must(ABT_xstream_get_rank(xstream, &rank));
    expect(rank == 1, "the rank is the old one");
}

static void rank_back(void)
{
    must(ABT_xstream_set_rank(xstream, 1));
}

static void nothing(void)
{
}

/* --- A native thread that enters --- */

static pthread_t entering;
static atomic_int turn; /* 1: enter; 2: it has; 3: end */
static int entered_code;

static void *enter_again(void *unused)
{
    for (int now; (now = atomic_load(&turn)) != 3;) {
        if (now != 1) {
            sched_yield();
            continue;
        }
        ABT_xstream own;
        entered_code = ABTX_xstream_enter(ABT_SCHED_NULL, &own);
        if (entered_code == ABT_SUCCESS) {
            expect(number_of_streams() == streams, "it does not count among the streams of the program");
            must(ABTX_xstream_leave(&own));
        }
        atomic_store(&turn, 2);
    }
    return NULL;
}

static void begin_entering(void)
{
    begin();
    atomic_store(&turn, 0);
    must(pthread_create(&entering, NULL, enter_again, NULL));
}

static void end_entering(void)
{
    atomic_store(&turn, 3);
    must(pthread_join(entering, NULL));
    end();
}

static int enter(void)
{
    atomic_store(&turn, 1);
    while (atomic_load(&turn) != 2)
        sched_yield();
    return entered_code;
}

static void no_more_streams(void)
{
    expect(number_of_streams() == streams, "the number of streams");
}

static const struct fault_case cases[] = {
    {"ABTX_xstream_enter", FAULT_HELPS, enter, no_more_streams, no_more_streams, begin_entering, end_entering},
    {"ABT_xstream_create", FAULT_HELPS | FAULT_EXTERNAL, create, no_stream, free_stream, begin, end},
    {"ABT_xstream_create_with_rank", FAULT_HELPS, create_with_rank, no_stream, free_stream, begin, end},
    {"ABT_xstream_create, user's scheduler", FAULT_HELPS, create_with_sched, no_stream, free_stream, begin_sched,
     end_sched},
    {"ABT_xstream_create_basic", FAULT_HELPS | FAULT_EXTERNAL, create_basic, no_stream, free_stream, begin_pools,
     end_pools},
    {"ABT_xstream_create_basic, unused automatic pool", FAULT_HELPS, create_in_unused_pool, no_stream_but_pool,
     free_stream_and_pool, begin_unused_pool, end_unused_pool},
    {"ABT_xstream_set_main_sched", FAULT_WAITS, replace, same_sched, new_sched, begin_replace, end},
    {"ABT_xstream_set_main_sched_basic", FAULT_WAITS, replace_basic, same_sched, new_sched, begin_replace, end},
    {"ABT_xstream_set_main_sched, terminated", FAULT_BRIEF, replace_terminated, same_sched_there, new_sched_there,
     begin_terminated, end_terminated},
    {"ABT_xstream_set_main_sched_basic, terminated", FAULT_BRIEF, replace_terminated_basic, same_sched_there,
     new_sched_there, begin_terminated_pools, end_terminated},
};

static const struct fault_case affinity_cases[] = {
    {"ABT_xstream_get_cpubind", 0, get_cpubind, NULL, nothing, begin_cpus, end_terminated},
    {"ABT_xstream_set_affinity", 0, set_affinity, NULL, nothing, begin_cpus, end_terminated},
    {"ABT_xstream_get_affinity", 0, get_affinity, NULL, nothing, begin_cpus, end_terminated},
    {"ABT_xstream_set_rank", 0, set_rank, rank_is_old, rank_back, begin_cpus, end_terminated},
};

static bool affinity_is_on(void)
{
    must(ABT_init(0, NULL));
    bool on = can_bind();
    must(ABT_finalize());
    return on;
}

static void test_binding(void)
{
    must(ABT_init(0, NULL));
    begin_cpus();
    fault_arm(1, FAULT_FROM);
    ok_abt(ABT_xstream_set_cpubind(xstream, cpus[0]));
    ok_abt(ABT_xstream_set_affinity(xstream, 0, NULL));
    ok(!fault_disarm(), "to bind a stream needs no memory");
    end_terminated();
    must(ABT_finalize());
}

/* What only ends or wakes a stream needs nothing. */
static void test_no_requests(void)
{
    ABT_xstream other;

    must(ABT_init(0, NULL));
    begin();
    xstream = new_xstream();
    other = new_xstream();
    try_it(pool_of(xstream));
    fault_arm(1, FAULT_FROM);
    ok_abt(ABT_xstream_join(xstream));
    ok_abt(ABT_xstream_revive(xstream));
    ok_abt(ABT_xstream_join(xstream));
    ok_abt(ABT_xstream_free(&xstream));
    ok_abt(ABT_xstream_cancel(other));
    ok_abt(ABT_xstream_free(&other));
    fault_disarm();
    probe_again();
    end();
    must(ABT_finalize());
}

/* Streams that come and go use what those before them have left. */
static void test_come_and_go(void)
{
    enum { FIRST = 20, MANY = 60 };
    struct fault_live first = {0}, now = {0};

    must(ABT_init(0, NULL));
    begin();
    for (int i = 0; i < MANY; i++) {
        xstream = new_xstream();
        try_it(pool_of(xstream));
        probe_again();
        must(ABT_xstream_free(&xstream));
        now = fault_live();
        if (i == FIRST)
            first = now;
    }
    if (!ok(fault_same(first, now), "%d streams that come and go use no more memory than %d", MANY, FIRST))
        fault_show(first, now);
    end();
    must(ABT_finalize());
}

int main(void)
{
    fault_begin();
    fault_run_all(cases);
    if (affinity_is_on()) {
        must(setenv("ABT_SET_AFFINITY", "yes", 1));
        fault_run_all(affinity_cases);
        must(unsetenv("ABT_SET_AFFINITY"));
        test_binding();
    } else {
        skip(1, "streams are not bound to CPUs");
    }
    test_no_requests();
    test_come_and_go();
    return done_testing();
}
