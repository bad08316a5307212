/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For maint/check-tools, which makes it with TSan and ASan for the stock library, and runs it under helgrind and DRD.
 * Small programs, by their names: what each writes it may write, since the library orders it. The last ones are wrong.
 */
#include <abt.h>
#include <abt_fork.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 16, STREAMS = 3, ROUNDS = 10 };

static ABT_pool pool;
static ABT_xstream streams[STREAMS], primary;
static ABT_thread units[UNITS];
static int plain[UNITS + 1], total; /* written by plain accesses */

static ABT_mutex mutex;
static ABT_cond cond;
static ABT_rwlock rwlock;
static ABT_barrier barrier;
static ABT_eventual eventual, eventuals[UNITS];
static ABT_future future;
static ABT_key key;
static ABT_xstream_barrier stream_barrier;

static void check(int code, int line)
{
    if (code == ABT_SUCCESS)
        return;
    printf("line %d: %d\n", line, code);
    exit(3);
}
#define must(call) check((call), __LINE__)

static void start(void (*function)(void *))
{
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, function, &plain[i], ABT_THREAD_ATTR_NULL, &units[i]));
}

static void finish(void)
{
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&units[i]));
}

static void run(void (*function)(void *))
{
    start(function);
    finish();
}

/* --- What is right --- */

/* Each leaf counts in a place of its own, and each task in a variable of its forker's. */
ABTX_VOID_TASK(counts_leaves, (int, first), (int, num), (long *, sum))
{
    if (num == 1) {
        *sum = ++plain[first];
        return;
    }
    long left = 0, right = 0;
    ABTX_FORK(counts_leaves, other, first + num / 2, num / 2, &right);
    ABTX_CALL(counts_leaves, first, num / 2, &left);
    if (num == UNITS / 2)
        ABT_thread_yield();
    ABTX_JOIN(counts_leaves, other);
    *sum = left + right;
}

static void counts_parts(ptrdiff_t begin, ptrdiff_t end, void *unused)
{
    for (ptrdiff_t i = begin; i < end; i++)
        plain[i]++;
}

static void forks(void *unused)
{
    long sum = 0;
    ABTX_RUN(counts_leaves, 0, UNITS, &sum);
    abtx_for(0, UNITS, 1, counts_parts, NULL);
    total += (int)sum;
}

/* Streams that are idle take tasks; they need a moment for it. */
static void does_fork(void)
{
    must(ABTX_fork_start(STREAMS, streams));
    for (int i = 0; i < 50 * ROUNDS; i++) {
        must(ABT_thread_create(pool, forks, NULL, ABT_THREAD_ATTR_NULL, &units[0]));
        must(ABT_thread_free(&units[0]));
        forks(NULL);
    }
    must(ABTX_fork_stop());
}

static void counts(void *mine)
{
    for (int i = 0; i < ROUNDS; i++) {
        ++*(int *)mine;
        ABT_thread_yield();
    }
}

static void does_join(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        run(counts);
        for (int i = 0; i < UNITS; i++)
            total += plain[i]--;
    }
}

static void does_join_many(void)
{
    start(counts);
    must(ABT_thread_join_many(UNITS, units));
    for (int i = 0; i < UNITS; i++)
        total += plain[i]--;
    must(ABT_thread_free_many(UNITS, units));
}

static void does_revive(void)
{
    start(counts);
    for (int i = 0; i < UNITS; i++) {
        must(ABT_thread_join(units[i]));
        plain[i]++;
        must(ABT_thread_revive(pool, counts, &plain[i], &units[i]));
    }
    finish();
}

static void does_tasklets(void)
{
    ABT_task tasks[UNITS];
    for (int i = 0; i < UNITS; i++)
        must(ABT_task_create(pool, counts, &plain[i], &tasks[i]));
    for (int i = 0; i < UNITS; i++)
        must(ABT_task_free(&tasks[i]));
    for (int i = 0; i < UNITS; i++)
        total += plain[i];
}

static void locks(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        must(ABT_mutex_lock(mutex));
        total++;
        if (i % 3 == 0)
            ABT_thread_yield();
        must(ABT_mutex_unlock(mutex));
        while (ABT_mutex_trylock(mutex) != ABT_SUCCESS)
            ABT_thread_yield();
        total++;
        must(ABT_mutex_unlock(mutex));
    }
}

static void does_mutex(void)
{
    run(locks);
}

static int turn;

static void takes_turns(void *mine)
{
    int number = (int)((int *)mine - plain);
    must(ABT_mutex_lock(mutex));
    while (turn != number)
        must(ABT_cond_wait(cond, mutex));
    turn++;
    must(ABT_cond_broadcast(cond));
    must(ABT_mutex_unlock(mutex));
}

static void does_cond(void)
{
    run(takes_turns);
    turn = 0;
}

static void reads_and_writes(void *mine)
{
    for (int i = 0; i < ROUNDS; i++) {
        must(ABT_rwlock_rdlock(rwlock));
        *(int *)mine += total;
        must(ABT_rwlock_unlock(rwlock));
        must(ABT_rwlock_wrlock(rwlock));
        total++;
        must(ABT_rwlock_unlock(rwlock));
    }
}

static void does_rwlock(void)
{
    run(reads_and_writes);
}

static void meets(void *mine)
{
    int number = (int)((int *)mine - plain);
    for (int i = 0; i < ROUNDS; i++) {
        plain[number]++;
        must(ABT_barrier_wait(barrier));
        if (number == 0)
            total += plain[UNITS - 1];
        must(ABT_barrier_wait(barrier));
    }
}

static void does_barrier(void)
{
    run(meets);
}

static void waits_eventual(void *mine)
{
    int *value;
    must(ABT_eventual_wait(eventual, (void **)&value));
    *(int *)mine += *value + total;
}

static void does_eventual(void)
{
    int value = 7;
    start(waits_eventual);
    total = 5;
    must(ABT_eventual_set(eventual, &value, sizeof(value)));
    finish();
    must(ABT_eventual_reset(eventual));
}

static void polls_eventual(void *mine)
{
    ABT_bool ready = ABT_FALSE;
    while (!ready) {
        must(ABT_eventual_test(eventual, NULL, &ready));
        ABT_thread_yield();
    }
    *(int *)mine += total;
}

static void does_eventual_test(void)
{
    int value = 7;
    start(polls_eventual);
    total = 6;
    must(ABT_eventual_set(eventual, &value, sizeof(value)));
    finish();
    must(ABT_eventual_reset(eventual));
}

static void sets_mine(void *mine)
{
    ++*(int *)mine;
    must(ABT_eventual_set(eventuals[(int *)mine - plain], NULL, 0));
}

static void does_wait_any(void)
{
    start(sets_mine);
    for (int left = UNITS; left > 0; left--) {
        int index;
        must(ABTX_eventual_wait_any_until(UNITS, eventuals, &index, ABTX_FOREVER));
        total += plain[index];
        ABT_eventual_free(&eventuals[index]);
    }
    finish();
}

static void adds_up(void **values)
{
    for (int i = 0; i < UNITS; i++)
        total += *(int *)values[i];
}

static void sets_compartment(void *mine)
{
    ++*(int *)mine;
    must(ABT_future_set(future, mine));
}

static void does_future(void)
{
    start(sets_compartment);
    must(ABT_future_wait(future));
    total += plain[3];
    finish();
    must(ABT_future_reset(future));
}

static void suspends(void *mine)
{
    must(ABT_self_suspend());
    ++*(int *)mine;
}

static void does_suspend(void)
{
    start(suspends);
    for (int i = 0; i < UNITS; i++) {
        ABT_thread_state state;
        do {
            ABT_thread_yield();
            must(ABT_thread_get_state(units[i], &state));
        } while (state != ABT_THREAD_STATE_BLOCKED);
        plain[i] = i;
        must(ABT_thread_resume(units[i]));
    }
    finish();
}

static void uses_key(void *mine)
{
    int *value = malloc(sizeof(*value));
    *value = *(int *)mine;
    must(ABT_key_set(key, value));
    ABT_thread_yield();
    must(ABT_key_get(key, (void **)&value));
    ++*value;
}

static void does_key(void)
{
    run(uses_key);
}

static void uses_slot(void *mine)
{
    void *value;
    must(ABT_self_set_specific(key, mine));
    ABT_thread_yield();
    must(ABT_self_get_specific(key, &value));
    ++*(int *)value;
}

static void does_specific(void)
{
    ABT_key plain_key = key;
    must(ABT_key_create(NULL, &key));
    run(uses_slot);
    must(ABT_key_free(&key));
    key = plain_key;
}

static void *external(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        ABT_thread thread;
        int local = 0;
        must(ABT_thread_create(pool, counts, &local, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        must(ABT_mutex_lock(mutex));
        total += local;
        must(ABT_mutex_unlock(mutex));
    }
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_mutex_lock(mutex));
    total += plain[UNITS];
    must(ABT_mutex_unlock(mutex));
    return NULL;
}

static void does_external(void)
{
    pthread_t threads[3];
    int value = 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, external, NULL);
    plain[UNITS] = 3;
    must(ABT_eventual_set(eventual, &value, sizeof(value)));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    must(ABT_eventual_reset(eventual));
}

static void sleeps(void *mine)
{
    struct timespec soon = {1, 0};
    must(ABTX_self_sleep(1000000));
    must(ABT_mutex_lock(mutex));
    (void)ABT_cond_timedwait(cond, mutex, &soon);
    total++;
    must(ABT_mutex_unlock(mutex));
    ++*(int *)mine;
}

static void does_timers(void)
{
    run(sleeps);
}

static ABT_pool other_pool;

static void migrates(void *mine)
{
    ABT_thread self;
    must(ABT_self_get_thread(&self));
    ++*(int *)mine;
    must(ABT_thread_migrate_to_pool(self, other_pool));
    ABT_thread_yield();
    ++*(int *)mine;
}

static void does_migration(void)
{
    ABT_xstream es;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &other_pool));
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &other_pool, ABT_SCHED_CONFIG_NULL, &es));
    run(migrates);
    must(ABT_xstream_free(&es));
}

static void creates_unnamed(void *mine)
{
    must(ABT_thread_create(pool, counts, mine, ABT_THREAD_ATTR_NULL, NULL));
}

static void does_streams(void)
{
    run(creates_unnamed);
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_join(streams[i]));
    for (int i = 0; i < UNITS; i++)
        total += plain[i]--;
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_revive(streams[i]));
}

static void meets_streams(void *mine)
{
    ++*(int *)mine;
    must(ABT_xstream_barrier_wait(stream_barrier));
    int number = (int)((int *)mine - plain);
    *(int *)mine += plain[(number + 1) % STREAMS] * 0;
    must(ABT_xstream_barrier_wait(stream_barrier));
}

static void does_stream_barrier(void)
{
    ABT_task tasks[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        must(ABT_task_create(pool, meets_streams, &plain[i], &tasks[i]));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_task_free(&tasks[i]));
}

static void exits(void *mine)
{
    ++*(int *)mine;
    ABT_thread_exit();
}

static void does_exit(void)
{
    run(exits);
    for (int i = 0; i < UNITS; i++)
        total += plain[i];
}

static void does_create_to(void)
{
    ABT_pool own;
    must(ABT_xstream_get_main_pools(primary, 1, &own));
    for (int i = 0; i < UNITS; i++) {
        plain[i]++;
        must(ABT_thread_create_to(own, counts, &plain[i], ABT_THREAD_ATTR_NULL, &units[i]));
    }
    finish();
}

/* A pool and a scheduler of the user's, without a lock: one stream uses them. */
static ABT_thread waiting[2 * UNITS];
static int num_waiting;

static ABT_unit user_unit(ABT_pool user_pool, ABT_thread thread)
{
    return (ABT_unit)thread;
}

static void user_free_unit(ABT_pool user_pool, ABT_unit unit)
{
}

static ABT_bool user_is_empty(ABT_pool user_pool)
{
    return num_waiting == 0 ? ABT_TRUE : ABT_FALSE;
}

static ABT_thread user_pop(ABT_pool user_pool, ABT_pool_context context)
{
    return num_waiting > 0 ? waiting[--num_waiting] : ABT_THREAD_NULL;
}

static void user_push(ABT_pool user_pool, ABT_unit unit, ABT_pool_context context)
{
    memmove(waiting + 1, waiting, (size_t)num_waiting++ * sizeof(waiting[0]));
    waiting[0] = (ABT_thread)unit;
}

static void spawns(void *user_pool)
{
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(user_pool, counts, &plain[i], ABT_THREAD_ATTR_NULL, &units[i]));
    finish();
}

static void does_user_pool(void)
{
    ABT_pool_user_def def;
    ABT_pool user_pool;
    ABT_xstream es;
    ABT_thread thread;
    must(ABT_pool_user_def_create(user_unit, user_free_unit, user_is_empty, user_pop, user_push, &def));
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &user_pool));
    must(ABT_pool_user_def_free(&def));
    must(ABT_thread_create(user_pool, spawns, user_pool, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &user_pool, ABT_SCHED_CONFIG_NULL, &es));
    must(ABT_xstream_free(&es));
    must(ABT_thread_free(&thread));
    must(ABT_pool_free(&user_pool));
}

/* --- What is wrong --- */

static void races(void *mine)
{
    total++;
    ABT_thread_yield();
}

static void two_race(ABT_pool where)
{
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(where, races, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    for (int i = 0; i < 2; i++)
        must(ABT_thread_free(&units[i]));
}

static void races_on_one(void)
{
    ABT_pool own;
    must(ABT_xstream_get_main_pools(primary, 1, &own));
    two_race(own);
}

static void races_on_two(void)
{
    run(races);
}

static volatile int *leaked;

static __attribute__((noinline)) void leaks_below(void)
{
    volatile int variable = 7;
    leaked = &variable;
}

static void uses_after_return(void *unused)
{
    leaks_below();
    ABT_thread_yield();
    total = *leaked;
}

static void uses_stale(void)
{
    start(uses_after_return);
    finish();
}

static const struct {
    const char *name;
    void (*act)(void);
} all[] = {{"join", does_join},           {"join_many", does_join_many},
           {"revive", does_revive},       {"tasklets", does_tasklets},
           {"mutex", does_mutex},         {"cond", does_cond},
           {"rwlock", does_rwlock},       {"barrier", does_barrier},
           {"eventual", does_eventual},   {"eventual_test", does_eventual_test},
           {"wait_any", does_wait_any},   {"future", does_future},
           {"suspend", does_suspend},     {"key", does_key},
           {"specific", does_specific},   {"external", does_external},
           {"timers", does_timers},       {"migration", does_migration},
           {"streams", does_streams},     {"stream_barrier", does_stream_barrier},
           {"exit", does_exit},           {"create_to", does_create_to},
           {"user_pool", does_user_pool}, {"fork", does_fork},
           {"-race_one", races_on_one},   {"-race_two", races_on_two},
           {"-stale", uses_stale}};

static void make(void)
{
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&primary));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));
    must(ABT_mutex_create(&mutex));
    must(ABT_cond_create(&cond));
    must(ABT_rwlock_create(&rwlock));
    must(ABT_barrier_create(UNITS, &barrier));
    must(ABT_eventual_create(sizeof(int), &eventual));
    for (int i = 0; i < UNITS; i++)
        must(ABT_eventual_create(0, &eventuals[i]));
    must(ABT_future_create(UNITS, adds_up, &future));
    must(ABT_key_create(free, &key));
    must(ABT_xstream_barrier_create(STREAMS, &stream_barrier));
}

static void unmake(void)
{
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_xstream_barrier_free(&stream_barrier));
    must(ABT_key_free(&key));
    must(ABT_future_free(&future));
    for (int i = 0; i < UNITS; i++) {
        if (eventuals[i] != ABT_EVENTUAL_NULL)
            must(ABT_eventual_free(&eventuals[i]));
    }
    must(ABT_eventual_free(&eventual));
    must(ABT_barrier_free(&barrier));
    must(ABT_rwlock_free(&rwlock));
    must(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
    must(ABT_pool_free(&pool));
    must(ABT_finalize());
}

/* Without a name, all that is right; "list": the names of these. */
int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "list")) {
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
            if (all[i].name[0] != '-')
                puts(all[i].name);
        }
        return 0;
    }
    make();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (*name ? !strcmp(name, all[i].name) : all[i].name[0] != '-')
            all[i].act();
    }
    unmake();
    puts("done");
    return 0;
}
