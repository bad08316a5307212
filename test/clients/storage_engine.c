/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A storage engine in the style of DAOS, see storage.h: clients, which are external threads, send requests that wait
 * for locks and for the device, a collective operation asks all targets, and nothing is left at the end.
 */
#include "storage.h"

enum { CLIENTS = 3, REQUESTS = 200 };

static int num_targets;

/* ---- Housekeeping: ULTs that live as long as their target ---- */

/* The network's: looks again and again. */
static void poll_network(void *arg)
{
    struct target *target = arg;

    while (!atomic_load(&target->stops)) {
        atomic_fetch_add(&target->polled, 1);
        must(ABT_thread_yield());
    }
}

static void trim(void *arg)
{
    struct target *target = arg;

    while (!atomic_load(&target->stops)) {
        atomic_fetch_add(&target->trimmed, 1);
        sleep_until(ABT_get_wtime() + 0.001);
    }
}

/* ---- Requests of clients ---- */

struct request {
    struct target *target;
    int key;
    long add; /* 0: reads */
    ABT_eventual done;
};

static void serve(void *arg)
{
    struct request *request = arg;
    struct target *target = request->target;

    if (request->add)
        must(ABT_rwlock_wrlock(target->lock));
    else
        must(ABT_rwlock_rdlock(target->lock));
    submit_and_wait();
    long value = target->values[request->key] += request->add;
    must(ABT_rwlock_unlock(target->lock));
    must(ABT_eventual_set(request->done, &value, sizeof(value)));
}

/* An external thread. Each has keys of its own, so that it knows what to find there. */
static void *client_main(void *arg)
{
    int number = *(int *)arg;
    long values[KEYS / CLIENTS] = {0}, wrong = 0;
    ABT_eventual done;

    must(ABT_eventual_create(sizeof(long), &done));
    for (int i = 0; i < REQUESTS; i++) {
        int own = i * 7 % (KEYS / CLIENTS);
        struct request request = {.key = own * CLIENTS + number, .add = i % 3, .done = done};
        ABT_bool is_ready = ABT_FALSE;
        long *value = NULL;
        request.target = &targets[request.key % num_targets];
        values[own] += request.add;
        create_ult(request.target, IO, serve, &request);
        while (i % 2 && !is_ready)
            must(ABT_eventual_test(done, (void **)&value, &is_ready));
        must(ABT_eventual_wait(done, (void **)&value));
        wrong += *value != values[own];
        must(ABT_eventual_reset(done));
    }
    must(ABT_eventual_free(&done));
    is_int(wrong, 0, "client %d reads what it wrote", number);
    return NULL;
}

/* ---- A collective operation ---- */

static struct {
    ABT_future done;
    long sums[MAX_STREAMS], total;
} collective;

static void sum_target(void *arg)
{
    struct target *target = arg;
    long *sum = &collective.sums[target - targets];

    *sum = 0;
    must(ABT_rwlock_rdlock(target->lock));
    for (int i = 0; i < KEYS; i++)
        *sum += target->values[i];
    must(ABT_rwlock_unlock(target->lock));
    must(ABT_future_set(collective.done, sum));
}

static void add_up(void **sums)
{
    collective.total = 0;
    for (int i = 0; i < num_targets; i++)
        collective.total += *(long *)sums[i];
}

static void test_collective(void)
{
    ABT_bool is_ready;
    long expected = 0;

    for (int i = 0; i < REQUESTS; i++)
        expected += CLIENTS * (i % 3);
    must(ABT_future_create((uint32_t)num_targets, add_up, &collective.done));
    for (int i = 0; i < num_targets; i++)
        must(ABT_thread_create_on_xstream(targets[i].xstream, sum_target, &targets[i], ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_future_wait(collective.done));
    must(ABT_future_test(collective.done, &is_ready));
    ok(is_ready && collective.total == expected, "the targets add up to %ld", collective.total);
    must(ABT_future_free(&collective.done));
}

/* ---- Locks that know their owner, waits with a limit ---- */

static void test_locks(void)
{
    ABT_mutex_attr attr;
    ABT_mutex mutex;
    ABT_cond cond;
    struct timespec limit;

    must(ABT_mutex_attr_create(&attr));
    must(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    must(ABT_mutex_create_with_attr(attr, &mutex));
    must(ABT_mutex_attr_free(&attr));
    must(ABT_cond_create(&cond));
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_trylock(mutex));
    must(ABT_mutex_unlock(mutex));
    double start = now();
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec = (limit.tv_nsec + 20000000) % 1000000000;
    limit.tv_sec += limit.tv_nsec < 20000000;
    ok_err(ABT_cond_timedwait(cond, mutex, &limit), ABT_ERR_COND_TIMEDOUT);
    ok(now() - start > 0.015, "it has waited");
    must(ABT_mutex_unlock(mutex));
    must(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
}

int main(void)
{
    ABT_thread pollers[MAX_STREAMS], trimmers[MAX_STREAMS];
    pthread_t clients[CLIENTS];
    int numbers[CLIENTS], pools_empty = 0, busy = 0, ranks = 0;

    client_begin();
    setenv("ABT_MAX_NUM_XSTREAMS", "4", 1); /* an engine's guess, and too small */
    must(ABT_init(0, NULL));
    num_targets = client_streams();
    start_device();
    for (int i = 0; i < num_targets; i++) {
        make_target(&targets[i]);
        start_target(&targets[i], num_targets - i);
        must(ABT_thread_create(targets[i].pools[NET], poll_network, &targets[i], ABT_THREAD_ATTR_NULL, &pollers[i]));
        must(ABT_thread_create(targets[i].pools[GC], trim, &targets[i], ABT_THREAD_ATTR_NULL, &trimmers[i]));
    }
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        must(pthread_create(&clients[i], NULL, client_main, &numbers[i]));
    }
    test_locks();
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    test_collective();
    for (int i = 0; i < num_targets; i++) {
        struct target *target = &targets[i];
        int rank;
        ABT_pool pool;
        busy += soon(atomic_load(&target->polled) > 1 && atomic_load(&target->trimmed) > 1);
        must(ABT_xstream_get_main_pools(target->xstream, 1, &pool));
        must(ABT_xstream_get_rank(target->xstream, &rank));
        ranks += rank == num_targets - i && pool == target->pools[NET];
        atomic_store(&target->stops, true);
        must(ABT_thread_join(pollers[i]));
        must(ABT_thread_free(&pollers[i]));
        must(ABT_thread_free(&trimmers[i]));
        pools_empty += soon(sched_size(target, true) == 0);
        stop_target(target);
    }
    stop_device();
    is_int(busy, num_targets, "every target polled and trimmed");
    is_int(ranks, num_targets, "each stream had the rank that was asked for");
    is_int(pools_empty, num_targets, "nothing is left in the pools");
    must(ABT_finalize());
    is_int(atomic_load(&scheds_inited), num_targets, "schedulers were made");
    is_int(atomic_load(&scheds_freed), num_targets, "and freed");
    return done_testing();
}
