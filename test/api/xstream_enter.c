/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_xstream_enter, ABTX_xstream_leave: native threads that become streams, before ABT_init and beside it. */
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "sanitizers.h"

static atomic_int ran;

static void run_once(void *arg)
{
    atomic_fetch_add(&ran, 1);
}

static void yield_some(void *arg)
{
    for (int i = 0; i < 10; i++)
        must(ABT_self_yield());
    run_once(arg);
}

/* All of them, also those that are entered. */
static int num_streams(void)
{
    char *text = NULL;
    size_t size;
    int num = -1;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return -1;
    must(ABT_info_print_all_xstreams(file));
    fclose(file);
    if (sscanf(text, "execution streams: %d", &num) != 1)
        num = -1;
    free(text);
    return num;
}

static int num_counted(void)
{
    int num = -1;

    return ABT_xstream_get_num(&num) == ABT_SUCCESS ? num : -1;
}

/* The streams of the program have the ranks that they would have without those that are entered. */
static void make_streams(void)
{
    enum { NUM = 2 };
    ABT_xstream streams[NUM];
    int rank = -1;

    for (int i = 0; i < NUM; i++) {
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
        must(ABT_xstream_get_rank(streams[i], &rank));
        is_int(rank, i + 1, "a stream that is created has the rank of its own");
    }
    is_int(num_counted(), 1 + NUM, "entered ones do not count");
    for (int i = 0; i < NUM; i++)
        must(ABT_xstream_free(&streams[i]));
}

static bool caller_is_primary(void)
{
    ABT_bool unit = ABT_FALSE, stream = ABT_FALSE;

    must(ABT_self_is_primary(&unit));
    must(ABT_self_on_primary_xstream(&stream));
    return unit && stream;
}

static void in_thread(void *(*func)(void *), void *arg)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, func, arg));
    must(pthread_join(thread, NULL));
}

/* What a ULT may do: make others, wait for them, yield, be suspended. */
static void live_as_ult(void)
{
    ABT_thread threads[5];
    ABT_pool pool = own_pool();
    ABT_eventual eventual;

    atomic_store(&ran, 0);
    for (int i = 0; i < 5; i++)
        must(ABT_thread_create(pool, i % 2 ? run_once : yield_some, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_self_yield());
    must(ABT_thread_free_many(5, threads));
    is_int(atomic_load(&ran), 5, "it joins ULTs");
    must(ABT_eventual_create(0, &eventual));
    must(ABT_thread_create(pool, run_once, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_eventual_set(eventual, NULL, 0));
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_eventual_free(&eventual));
    must(ABTX_self_sleep(1000000));
}

/* --- Before ABT_init --- */

static void *enter_first(void *unused)
{
    ABT_xstream xstream = ABT_XSTREAM_NULL, self = ABT_XSTREAM_NULL;
    ABT_bool is_primary = ABT_TRUE;

    ok_abt(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    must(ABT_xstream_self(&self));
    is_ptr(xstream, self, "the thread is the stream");
    ok(own_rank() > 1 << 16, "with a rank, which is not the primary one's");
    is_int(ABT_initialized(), ABT_ERR_UNINITIALIZED, "ABT_init has not been called");
    ok(!caller_is_primary(), "it is not primary");
    must(ABT_xstream_is_primary(xstream, &is_primary));
    ok(!is_primary, "nor is its stream");
    live_as_ult();
    atomic_store(&ran, 0);
    must(ABT_thread_create(own_pool(), yield_some, NULL, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABTX_xstream_leave(&xstream));
    is_ptr(xstream, ABT_XSTREAM_NULL, "null when it is left");
    is_int(atomic_load(&ran), 1, "what is queued runs first");
    if (!ABT_NULL)
        ok_err(ABTX_xstream_leave(&xstream), ABT_ERR_INV_XSTREAM);
    return NULL;
}

/* The one that has entered becomes the primary one by ABT_init. */
static void *init_inside(void *unused)
{
    ABT_xstream xstream;

    must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    live_as_ult();
    ok_abt(ABT_init(0, NULL));
    ok(caller_is_primary(), "one that has entered becomes the primary ULT");
    is_int(own_rank(), 0, "with rank 0");
    if (!ABT_NULL)
        ok_err(ABTX_xstream_leave(&xstream), ABT_ERR_INV_XSTREAM);
    live_as_ult();
    ok_abt(ABT_finalize());
    is_int(ABT_initialized(), ABT_ERR_UNINITIALIZED, "after ABT_finalize");
    ok(!caller_is_primary() && own_rank() > 1 << 16, "it is as before");
    live_as_ult();
    ok_abt(ABTX_xstream_leave(&xstream));
    return NULL;
}

/* --- Beside the primary stream --- */

struct entrant {
    atomic_int step;
    atomic_bool go;
    ABT_xstream stream;
    int rank;
};

static void *stay(void *arg)
{
    struct entrant *entrant = arg;
    ABT_xstream xstream;

    must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    entrant->stream = xstream;
    entrant->rank = own_rank();
    atomic_store(&entrant->step, 1);
    while (!atomic_load(&entrant->go))
        must(ABT_self_yield());
    live_as_ult();
    must(ABTX_xstream_leave(&xstream));
    return NULL;
}

/* The program may give any ranks, those of entered streams, too. */
static void test_ranks(void)
{
    enum { NUM = 3 };
    struct entrant entrants[NUM] = {{.step = 0}};
    pthread_t threads[NUM];
    ABT_xstream streams[NUM + 1], self;
    int ranks[NUM + 1] = {0}, rank = -1;

    must(ABT_init(0, NULL));
    for (int i = 0; i < NUM + 1; i++)
        must(ABT_xstream_create_with_rank(ABT_SCHED_NULL, (1 << 16) + 2 * NUM - i, &streams[i]));
    for (int i = 0; i < NUM; i++) {
        must(pthread_create(&threads[i], NULL, stay, &entrants[i]));
        wait_for(atomic_load(&entrants[i].step) == 1);
        ranks[i] = entrants[i].rank;
        for (int j = 0; j < i; j++)
            ok(ranks[i] != ranks[j], "stream %d has a rank of its own beside stream %d", i, j);
        ok(ranks[i] > 1 << 16 && (ranks[i] > (1 << 16) + 2 * NUM || ranks[i] < (1 << 16) + NUM),
           "none of the program's");
        if (!ABT_NULL)
            ok_err(ABT_xstream_set_rank(streams[0], ranks[i]), ABT_ERR_INV_XSTREAM_RANK);
    }
    is_int(num_counted(), 2 + NUM, "those of the program count");
    ok_abt(ABT_xstream_set_rank(entrants[0].stream, 1 << 17));
    is_int(num_counted(), 3 + NUM, "and an entered one that has got a rank");
    ok_abt(ABT_xstream_set_rank(streams[0], ranks[0]));
    if (!ABT_NULL)
        ok_err(ABT_xstream_set_rank(streams[1], 1 << 17), ABT_ERR_INV_XSTREAM_RANK);
    ok_abt(ABT_xstream_create(ABT_SCHED_NULL, &self));
    must(ABT_xstream_get_rank(self, &rank));
    is_int(rank, 1, "the smallest one is free");
    must(ABT_xstream_free(&self));
    for (int i = 0; i < NUM; i++) {
        atomic_store(&entrants[i].go, true);
        must(pthread_join(threads[i], NULL));
    }
    for (int i = 0; i < NUM + 1; i++)
        must(ABT_xstream_free(&streams[i]));
    is_int(num_streams(), 1, "all are gone");
    must(ABT_finalize());
}

/* ABT_finalize while a thread is in a stream. */
static void test_outlive(void)
{
    struct entrant entrant = {.step = 0};
    pthread_t thread;

    must(ABT_init(0, NULL));
    must(pthread_create(&thread, NULL, stay, &entrant));
    wait_for(atomic_load(&entrant.step) == 1);
    is_int(num_streams(), 2, "two streams");
    make_streams();
    ok(caller_is_primary() && own_rank() == 0, "the caller of ABT_init is primary");
    ok_abt(ABT_finalize());
    is_int(ABT_initialized(), ABT_ERR_UNINITIALIZED, "the primary stream has ended");
    atomic_store(&entrant.go, true);
    must(pthread_join(thread, NULL));
    pass("the other one has lived on");
}

static void *end_inside(void *unused)
{
    ABT_xstream xstream;

    must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    must(ABT_thread_create(own_pool(), yield_some, NULL, ABT_THREAD_ATTR_NULL, NULL));
    return NULL;
}

static void *enter_with_sched(void *pool_at)
{
    ABT_pool *pool = pool_at;
    ABT_sched sched;
    ABT_xstream xstream;

    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, pool, ABT_SCHED_CONFIG_NULL, &sched));
    ok_abt(ABTX_xstream_enter(sched, &xstream));
    is_ptr(own_pool(), *pool, "its pool is the scheduler's");
    live_as_ult();
    ok_abt(ABTX_xstream_leave(&xstream));
    return NULL;
}

static void inside_ult(void *arg)
{
    ok_err(ABTX_xstream_leave(arg), ABT_ERR_INV_THREAD);
}

static void *check_codes(void *unused)
{
    ABT_xstream xstream, other;

    if (ABT_NULL)
        return NULL;
    ok_err(ABTX_xstream_enter(ABT_SCHED_NULL, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_xstream_leave(&xstream), ABT_ERR_INV_XSTREAM);
    must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    other = xstream;
    ok_err(ABTX_xstream_enter(ABT_SCHED_NULL, &other), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_xstream_leave(NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_join(xstream), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_free(&other), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_cancel(xstream), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_exit(), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_self_exit(), ABT_ERR_INV_THREAD);
    ok_abt(ABT_xstream_set_rank(xstream, 17));
    is_int(own_rank(), 17, "it gets another rank");
    ABT_thread thread = ult_in(own_pool(), inside_ult, &xstream);
    must(ABT_thread_free(&thread));
    must(ABTX_xstream_leave(&xstream));
    return NULL;
}

static void *enter_often(void *unused)
{
    enum { TIMES = 2000 };
    ABT_xstream xstream;
    double best = 1e9;

    for (int round = 0; round < 10; round++) {
        double since = now();
        for (int i = 0; i < TIMES / 10; i++) {
            must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
            must(ABTX_xstream_leave(&xstream));
        }
        double each = (now() - since) / (TIMES / 10);
        best = each < best ? each : best;
    }
    diag("enter and leave take %.2f us", best * 1e6);
    return NULL;
}

static void test_beside(void)
{
    ABT_pool pool;
    ABT_xstream self;
    pthread_t threads[6];
    FILE *nowhere = fopen("/dev/null", "w");

    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    if (!ABT_NULL) {
        ok_err(ABTX_xstream_enter(ABT_SCHED_NULL, &self), ABT_ERR_INV_XSTREAM);
        ok_err(ABTX_xstream_leave(&self), ABT_ERR_INV_XSTREAM);
    }
    in_thread(check_codes, NULL);
    atomic_store(&ran, 0);
    in_thread(end_inside, NULL);
    is_int(num_streams(), 1, "a thread that ends leaves by itself");
    is_int(atomic_load(&ran), 1, "and runs what is queued");
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    in_thread(enter_with_sched, &pool);
    must(ABT_pool_free(&pool));
    in_thread(enter_often, NULL);
    for (int i = 0; i < 6; i++)
        must(pthread_create(&threads[i], NULL, enter_often, NULL));
    for (int i = 0; i < 100; i++)
        must(ABT_info_print_all_xstreams(nowhere)); /* what is said of a stream is there when it is in the list */
    for (int i = 0; i < 6; i++)
        must(pthread_join(threads[i], NULL));
    is_int(num_streams(), 1, "all have left");
    must(ABT_finalize());
    fclose(nowhere);
}

/* --- Fork --- */

static void *fork_inside(void *arg)
{
    bool beside = arg != NULL;
    ABT_xstream xstream;
    int status = -1;

    must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
    live_as_ult();
    pid_t child = fork();
    if (child == 0) {
        ABT_xstream self;
        ABT_thread thread;
        must(ABT_xstream_self(&self));
        must(ABT_thread_create(own_pool(), yield_some, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        if (!beside)
            must(ABTX_xstream_leave(&self));
        _exit(3);
    }
    must(waitpid(child, &status, 0) != child);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the child goes on as %s",
       beside ? "one of two" : "the only one");
    must(ABTX_xstream_leave(&xstream));
    return NULL;
}

int main(void)
{
    in_thread(enter_first, NULL);
    in_thread(init_inside, NULL);
    if (!UNDER_TSAN) /* its threads do not outlive a fork */
        in_thread(fork_inside, NULL);
    test_outlive();
    test_ranks();
    test_beside();
    must(ABT_init(0, NULL));
    if (!UNDER_TSAN)
        in_thread(fork_inside, &ran);
    must(ABT_finalize());
    return done_testing();
}
