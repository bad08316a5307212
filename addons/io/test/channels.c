/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of streams: callers that move, streams that end, cancels from elsewhere, rings that are too small. */
#include <pthread.h>
#include <sys/eventfd.h>
#include "io.h"

static ABT_pool own; /* of the primary stream */
static ABT_xstream primary, second;

/* A second stream, beside the primary one. */
static void make_second(int num_pools, ABT_pool *pools)
{
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, num_pools, pools, ABT_SCHED_CONFIG_NULL, &second));
}

static void join_second(void)
{
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
}

struct reader {
    int fds[2], rank_before, rank_after;
    char byte;
    ssize_t result;
    abtio_op *op;
};

static void read_one(void *arg)
{
    struct reader *r = arg;

    must(ABT_self_get_xstream_rank(&r->rank_before));
    r->result = abtio_recv(r->fds[0], &r->byte, 1, 0, ABTIO_FOREVER);
    must(ABT_self_get_xstream_rank(&r->rank_after));
}

static void wait_until_blocked(ABT_thread thread)
{
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    while (state != ABT_THREAD_STATE_BLOCKED) {
        abtio_sleep(MS / 10, ABTIO_FOREVER);
        must(ABT_thread_get_state(thread, &state));
    }
}

/* The operation is under way in the second stream's ring, and its caller goes on on the first. */
static void migrate(void)
{
    ABT_pool pool;
    struct reader r = {.result = -1};

    if (!has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION)) {
        skip(3, "units cannot migrate");
        return;
    }
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    make_second(1, &pool);
    make_pair(r.fds);
    ABT_thread thread = ult_in(pool, read_one, &r);
    wait_until_blocked(thread);
    must(ABT_thread_migrate_to_pool(thread, own));
    is_int(abtio_send(r.fds[1], "m", 1, 0, ABTIO_FOREVER), 1, "%s: send to one that migrates", backend_name);
    must(ABT_thread_free(&thread));
    ok(r.result == 1 && r.byte == 'm', "it has received");
    ok(r.rank_before == 1 && r.rank_after == 0, "it goes on where it has migrated to (%d, %d)", r.rank_before,
       r.rank_after);
    join_second();
    close(r.fds[0]);
    close(r.fds[1]);
}

static void start_one(void *arg)
{
    struct reader *r = arg;
    int code = abtio_recv_nb(r->fds[0], &r->byte, 1, 0, ABTIO_FOREVER, &r->op);
    must(ABT_self_get_xstream_rank(&r->rank_before));
    if (code != 0)
        fail("%s: recv_nb gives %d", backend_name, code);
}

enum { READERS = 16 };

/* Starts a function for each reader, in a pool that two streams serve. */
static void start_all(struct reader *readers, ABT_pool pool, void (*fn)(void *), ABT_thread *threads)
{
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.result = -1};
        make_pair(readers[i].fds);
        must(ABT_thread_create(pool, fn, &readers[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    }
}

/* What a stream has under way when it ends is done nevertheless: with callers that another one serves, and with
 * handles. */
static void end_of_a_stream(void)
{
    static struct reader waiting[READERS], handles[READERS];
    static ABT_thread threads[READERS];
    ABT_pool pool;
    ABT_xstream third;
    int wrong = 0;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    make_second(1, &pool);
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &third));
    start_all(handles, pool, start_one, threads);
    for (int i = 0; i < READERS; i++)
        must(ABT_thread_free(&threads[i]));
    start_all(waiting, pool, read_one, threads);
    for (int i = 0; i < READERS; i++)
        wait_until_blocked(threads[i]);
    join_second();
    for (int i = 0; i < READERS; i++) {
        wrong += abtio_op_test(handles[i].op, NULL);
        wrong += abtio_send(waiting[i].fds[1], "w", 1, 0, ABTIO_FOREVER) != 1;
        if (i % 2)
            wrong += abtio_cancel(handles[i].op) != 0;
        else
            wrong += abtio_send(handles[i].fds[1], "h", 1, 0, ABTIO_FOREVER) != 1;
    }
    is_int(wrong, 0, "%s: all operations go on when a stream has ended", backend_name);
    for (int i = 0; i < READERS; i++) {
        must(ABT_thread_free(&threads[i]));
        wrong += waiting[i].result != 1 || waiting[i].byte != 'w';
        wrong += abtio_op_wait(handles[i].op) != (i % 2 ? -ECANCELED : 1) || handles[i].byte != (i % 2 ? 0 : 'h');
        abtio_op_free(&handles[i].op);
        for (int k = 0; k < 2; k++) {
            close(waiting[i].fds[k]);
            close(handles[i].fds[k]);
        }
    }
    is_int(wrong, 0, "they end as they should");
    must(ABT_xstream_join(third));
    must(ABT_xstream_free(&third));
}

/* The cancel has to reach the stream whose ring it is, which sleeps in it. */
static void cancel_from_elsewhere(void)
{
    ABT_thread starter;
    struct reader r = {.result = -1};
    ABT_pool pool;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    make_second(1, &pool);
    make_pair(r.fds);
    for (int i = 0; i < 20; i++) {
        must(ABT_thread_create(pool, start_one, &r, ABT_THREAD_ATTR_NULL, &starter));
        must(ABT_thread_free(&starter));
        if (i % 2)
            abtio_sleep(MS, ABTIO_FOREVER);
        is_int(abtio_cancel(r.op), 0, "cancel from the first");
        abtio_op_free(&r.op);
    }
    join_second();
    close(r.fds[0]);
    close(r.fds[1]);
}

static void tests(void)
{
    must(ABT_self_get_xstream(&primary));
    must(ABT_xstream_get_main_pools(primary, 1, &own));
    migrate();
    end_of_a_stream();
    cancel_from_elsewhere();
}

/* ---- A ring that is too small ---------------------------------------------------------------------------------- */

enum { MANY = 300 };

static int many_fds[MANY];
static int num_read;

static void read_event(void *arg)
{
    uint64_t value = 0;
    ssize_t result = abtio_read(*(int *)arg, &value, sizeof(value), ABTIO_FOREVER);
    num_read += result == sizeof(value) && value == 7;
}

static void *write_all_events(void *arg)
{
    uint64_t value = 7;

    for (int i = 0; i < MANY; i++) {
        if (write(many_fds[i], &value, sizeof(value)) < 0)
            abort();
    }
    return NULL;
}

/* 300 operations in a ring of 8 submissions and 16 completions; all are done while the stream does not look. */
static void overflow(void)
{
    static ABT_thread threads[MANY];
    pthread_t writer;

    must(ABT_self_get_xstream(&primary));
    must(ABT_xstream_get_main_pools(primary, 1, &own));
    for (int i = 0; i < MANY; i++)
        many_fds[i] = eventfd(0, 0);
    for (int round = 0; round < 3; round++) {
        num_read = 0;
        for (int i = 0; i < MANY; i++)
            must(ABT_thread_create(own, read_event, &many_fds[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        abtio_sleep(5 * MS, ABTIO_FOREVER);
        if (pthread_create(&writer, NULL, write_all_events, NULL))
            bail_out("pthread_create");
        pthread_join(writer, NULL); /* it blocks the stream */
        for (int i = 0; i < MANY; i++)
            must(ABT_thread_free(&threads[i]));
        is_int(num_read, MANY, "all are done, in round %d", round);
    }
    for (int i = 0; i < MANY; i++)
        close(many_fds[i]);
}

/* The same with handles, of which half are cancelled. */
static void overflow_of_handles(void)
{
    static abtio_op *ops[MANY];
    static uint64_t values[MANY];
    pthread_t writer;
    int wrong = 0;

    for (int i = 0; i < MANY; i++)
        many_fds[i] = eventfd(0, 0);
    for (int i = 0; i < MANY; i++)
        wrong += abtio_read_nb(many_fds[i], &values[i], sizeof(values[i]), ABTIO_FOREVER, &ops[i]) != 0;
    for (int i = 0; i < MANY; i += 2)
        wrong += abtio_cancel(ops[i]) != 0;
    if (pthread_create(&writer, NULL, write_all_events, NULL))
        bail_out("pthread_create");
    pthread_join(writer, NULL);
    for (int i = 0; i < MANY; i++) {
        wrong += abtio_op_wait(ops[i]) != (i % 2 ? (ssize_t)sizeof(values[i]) : -ECANCELED);
        wrong += values[i] != (i % 2 ? 7 : 0);
        abtio_op_free(&ops[i]);
        close(many_fds[i]);
    }
    is_int(wrong, 0, "each is done or cancelled, as it should be");
}

static void small_ring(void)
{
    abtio_config config = {.backend = ABTIO_BACKEND_IO_URING, .ring_entries = 8};
    abtio_info info;

    must(ABT_init(0, NULL));
    int code = abtio_init(&config);
    if (code < 0) {
        skip(5, "there is no io_uring: %s", strerror(-code));
    } else {
        overflow();
        overflow_of_handles();
        is_int(abtio_get_info(&info), 0, "info");
        ok(info.num_rings == 1 && info.num_in_flight == 0 && info.num_ring_enters > 0 && info.num_threads == 0,
           "one ring, nothing under way: %s", info.reason);
        is_int(abtio_finalize(), 0, "abtio_finalize");
    }
    must(ABT_finalize());
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(tests);
    small_ring();
    return done_testing();
}
