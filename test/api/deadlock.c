/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_DEADLOCK_CHECK and ABTX_expect_external_wake: what is told of units that wait for ever, and that no other is. */
#include <time.h>
#include "children.h"
#include "emulated.h"

static ABT_mutex mutexes[3];
static ABT_thread threads[4];
static ABT_cond cond;
static ABT_eventual eventual;
static ABT_barrier barrier;
static ABT_future future;
static ABT_rwlock rwlock;
static ABT_pool pool;
static uint32_t word;

static void begin(void)
{
    must(ABT_init(0, NULL));
    pool = main_pool();
    for (int i = 0; i < 3; i++)
        must(ABT_mutex_create(&mutexes[i]));
    must(ABT_cond_create(&cond));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_barrier_create(3, &barrier));
    must(ABT_future_create(2, NULL, &future));
    must(ABT_rwlock_create(&rwlock));
}

static ABT_thread make(void (*func)(void *), void *arg)
{
    ABT_thread thread = ult_in(pool, func, arg);
    return thread;
}

/* Makes so many units of a function, and joins them. */
static void run_many(int num, void (*func)(void *))
{
    for (int i = 0; i < num; i++)
        threads[i] = make(func, (void *)(intptr_t)i);
    must(ABT_thread_free_many(num, threads));
}

/* --- Mutexes --- */

static int ring; /* how many take each other's */

void lock_next(void *arg)
{
    int i = (int)(intptr_t)arg;

    must(ABT_mutex_lock(mutexes[i]));
    must(ABT_thread_yield());
    must(ABT_mutex_lock(mutexes[(i + 1) % ring]));
}

static void mutex_ring(void)
{
    begin();
    run_many(ring, lock_next);
}

static void mutex_ring_2(void)
{
    ring = 2;
    mutex_ring();
}

static void mutex_ring_3(void)
{
    ring = 3;
    mutex_ring();
}

/* Others run on. */
static void mutex_ring_aside(void)
{
    ring = 2;
    begin();
    for (int i = 0; i < 2; i++)
        threads[i] = make(lock_next, (void *)(intptr_t)i);
    for (;;)
        must(ABT_thread_yield());
}

void lock_twice(void *arg)
{
    must(ABT_mutex_lock(mutexes[0]));
    must(ABT_mutex_lock(mutexes[0]));
}

static void mutex_twice(void)
{
    begin();
    run_many(1, lock_twice);
}

static void *lock_natively(void *arg)
{
    must(ABT_mutex_lock(mutexes[0]));
    return NULL;
}

/* A native thread waits, too. */
static void mutex_native(void)
{
    pthread_t native;

    begin();
    must(ABT_mutex_lock(mutexes[0]));
    pthread_create(&native, NULL, lock_natively, NULL);
    must(ABT_eventual_wait(eventual, NULL));
}

/* --- Other objects --- */

void wait_for_cond(void *arg)
{
    must(ABT_mutex_lock(mutexes[0]));
    must(ABT_cond_wait(cond, mutexes[0]));
}

static void lost_signal(void)
{
    begin();
    must(ABT_cond_signal(cond)); /* too early */
    run_many(1, wait_for_cond);
}

void wait_for_eventual(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void eventual_not_set(void)
{
    begin();
    run_many(2, wait_for_eventual);
}

void wait_any(void *arg)
{
    int index;

    must(ABTX_eventual_wait_any_until(1, &eventual, &index, ABTX_FOREVER));
}

static void any_not_set(void)
{
    begin();
    run_many(1, wait_any);
}

void wait_for_future(void *arg)
{
    must(ABT_future_wait(future));
}

static void future_not_set(void)
{
    begin();
    run_many(1, wait_for_future);
}

void write_lock(void *arg)
{
    must(ABT_rwlock_wrlock(rwlock));
}

static void rwlock_kept(void)
{
    begin();
    must(ABT_rwlock_rdlock(rwlock));
    run_many(1, write_lock);
}

static void rwlock_twice(void)
{
    begin();
    must(ABT_rwlock_wrlock(rwlock));
    must(ABT_rwlock_rdlock(rwlock));
}

void wait_at_barrier(void *arg)
{
    must(ABT_barrier_wait(barrier));
}

void wait_for_word(void *arg)
{
    must(ABTX_word_wait(&word, 0, 0, ABT_FALSE, NULL, NULL));
}

static void word_of_nobody(void)
{
    begin();
    run_many(2, wait_for_word);
}

/* The streams sleep on the word, and nobody else is there. */
void block_for_word(void *arg)
{
    must(ABTX_word_wait(&word, 0, 0, ABT_TRUE, NULL, NULL));
}

static void word_blocks(void)
{
    begin();
    threads[0] = make(wait_for_word, NULL);
    run_many(1, block_for_word);
}

static void barrier_of_two(void)
{
    begin();
    run_many(2, wait_at_barrier);
}

void suspend(void *arg)
{
    must(ABT_self_suspend());
}

static void not_resumed(void)
{
    begin();
    run_many(1, suspend);
}

/* Each joins the next one. */
void join_other(void *arg)
{
    int i = (int)(intptr_t)arg;

    must(ABT_thread_yield());
    must(ABT_thread_join(threads[1 - i]));
}

static void join_ring(void)
{
    begin();
    threads[0] = make(join_other, (void *)0);
    threads[1] = make(join_other, (void *)1);
    must(ABT_eventual_wait(eventual, NULL));
}

void work_then_set(void *arg);

/* The second one of two joiners is not blocked: it looks again and again. */
void join_first(void *arg)
{
    must(ABT_thread_join(threads[0]));
}

static void two_joiners(void)
{
    begin();
    threads[0] = make(wait_for_eventual, NULL);
    threads[1] = make(join_first, NULL);
    must(ABT_thread_join(threads[0]));
}

/* The first joins the second, which joins the first, as `main` does already. */
void join_second(void *arg)
{
    must(ABT_thread_yield());
    must(ABT_thread_join(threads[1]));
}

static void ring_of_two_joiners(void)
{
    begin();
    threads[0] = make(join_second, NULL);
    threads[1] = make(join_first, NULL);
    must(ABT_thread_join(threads[0]));
}

/* The same while others run. */
static void ring_of_two_joiners_aside(void)
{
    begin();
    threads[0] = make(join_second, NULL);
    threads[1] = make(join_first, NULL);
    threads[2] = make(join_first, NULL);
    for (;;)
        must(ABT_thread_yield());
}

/* The unit can never run, since the tasklet keeps the stream. */
void join_own(void *arg)
{
    threads[0] = make(do_nothing, NULL);
    must(ABT_thread_join(threads[0]));
}

static void joining_tasklet(void)
{
    ABT_task task;

    begin();
    must(ABT_task_create(pool, join_own, NULL, &task));
    must(ABT_task_free(&task));
}

static void joining_tasklet_elsewhere(void)
{
    begin();
    ABT_xstream es = new_xstream();
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    ABT_task task;
    must(ABT_task_create(pool, join_own, NULL, &task));
    must(ABT_task_free(&task));
}

/* A tasklet may join what another stream runs. */
void join_there(void *arg)
{
    ABT_thread thread;

    must(ABT_thread_create(*(ABT_pool *)arg, work_then_set, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void joining_other_stream(void)
{
    ABT_pool there;
    ABT_task task;

    begin();
    ABT_xstream es = new_xstream();
    must(ABT_xstream_get_main_pools(es, 1, &there));
    must(ABT_task_create(pool, join_there, &there, &task));
    must(ABT_task_free(&task));
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
}

static atomic_bool has_locked;

static void *lock_both(void *arg)
{
    must(ABT_mutex_lock(mutexes[1]));
    atomic_store(&has_locked, true);
    must(ABT_mutex_lock(mutexes[0]));
    return arg;
}

static void cycle_with_native(void)
{
    pthread_t native;

    begin();
    must(ABT_mutex_lock(mutexes[0]));
    pthread_create(&native, NULL, lock_both, NULL);
    while (!atomic_load(&has_locked))
        continue;
    must(ABT_mutex_lock(mutexes[1]));
}

static void in_no_scheds_pool(void)
{
    begin();
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    run_many(1, suspend);
}

static void at_finalize(void)
{
    begin();
    make(suspend, NULL);
    must(ABT_finalize());
}

/* --- Other streams --- */

static void other_stream(void)
{
    begin();
    ABT_xstream es = new_xstream();
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    run_many(2, wait_for_eventual);
}

/* It never sleeps. */
static void own_run(ABT_sched sched)
{
    ABT_pool own;
    ABT_bool stop;

    must(ABT_sched_get_pools(sched, 1, 0, &own));
    do {
        ABT_thread thread;
        must(ABT_pool_pop_thread(own, &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        nap_ms(0.1);
    } while (!stop);
}

static void own_scheduler(void)
{
    ABT_xstream es;
    ABT_sched sched;
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = sched_is_ready, .run = own_run, .free = sched_is_left};

    begin();
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    run_many(2, wait_for_eventual);
}

/* --- What is no deadlock --- */

static void sleep_long(void)
{
    begin();
    must(ABTX_self_sleep(1300000000));
    must(ABT_finalize());
}

void work_then_set(void *arg)
{
    for (double end = now() + 1.3; now() < end;)
        ;
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void busy(void)
{
    begin();
    make(work_then_set, NULL);
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_finalize());
}

static void *set_later(void *arg)
{
    nap_ms(1300);
    must(ABT_eventual_set(eventual, NULL, 0));
    return NULL;
}

/* The thread has never called the library before. */
static void expected_wake(void)
{
    pthread_t native;

    must(ABTX_expect_external_wake(1));
    begin();
    pthread_create(&native, NULL, set_later, NULL);
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_finalize());
    must(ABTX_expect_external_wake(-1));
    pthread_join(native, NULL);
}

static void *create_then_set(void *arg)
{
    ABT_thread thread = ult_in(pool, suspend, NULL);
    nap_ms(1300);
    must(ABT_thread_resume(thread));
    must(ABT_thread_free(&thread));
    must(ABT_eventual_set(eventual, NULL, 0));
    return arg;
}

/* The thread is known. */
static void known_native(void)
{
    pthread_t native;

    begin();
    pthread_create(&native, NULL, create_then_set, NULL);
    must(ABT_eventual_wait(eventual, NULL));
    must(ABT_finalize());
    pthread_join(native, NULL);
}

/* One that has called the library, but woken nobody; one that has not; and one that never does. */
static void *set_both(void *first)
{
    if (first)
        must(ABT_eventual_set(*(ABT_eventual *)first, NULL, 0));
    return set_later(NULL);
}

static void set_by_thread(void *first)
{
    pthread_t native;

    pthread_create(&native, NULL, set_both, first);
    run_many(1, wait_for_eventual);
    must(ABT_finalize());
    pthread_join(native, NULL);
}

static void native_that_has_called(void)
{
    ABT_eventual first;

    begin();
    must(ABT_eventual_create(0, &first));
    set_by_thread(&first);
}

static void native_that_has_not(void)
{
    begin();
    set_by_thread(NULL);
}

static void wait_and_sleep(void *arg)
{
    wait_for_eventual(arg);
    must(ABTX_self_sleep(400000000));
}

/* Nobody else is left when the one that it has woken sleeps. */
static void native_that_ends(void)
{
    pthread_t native;

    begin();
    pthread_create(&native, NULL, set_later, NULL);
    pthread_detach(native);
    run_many(1, wait_and_sleep);
    must(ABT_finalize());
}

/* As a sanitizer's own thread does, too. */
static void *block_signals_and_set(void *arg)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return set_later(arg);
}

static void native_without_signals(void)
{
    pthread_t native;

    begin();
    pthread_create(&native, NULL, block_signals_and_set, NULL);
    run_many(1, wait_for_eventual);
    must(ABT_finalize());
    pthread_join(native, NULL);
}

static void *only_wait(void *arg)
{
    pause();
    return arg;
}

static void native_that_never_does(void)
{
    pthread_t native;

    begin();
    pthread_create(&native, NULL, only_wait, NULL);
    run_many(1, wait_for_eventual);
}

static void set_now(int sig)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

/* Under TSan a handler runs when its thread calls the C library next. */
static void by_handler(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec when = {.it_value = {.tv_sec = 1, .tv_nsec = 300000000}};

    if (UNDER_TSAN)
        return;
    begin();
    signal(SIGUSR1, set_now);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
        bail_out("no timer");
    run_many(1, wait_for_eventual);
    must(ABT_finalize());
}

void nap_in_region(void *arg)
{
    must(ABTX_blocking_begin());
    nap_ms(1300);
    must(ABTX_blocking_end());
}

static void in_region(void)
{
    begin();
    run_many(1, nap_in_region);
    must(ABT_finalize());
}

static int polls;

static ABT_bool poll_and_set(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    if (++polls == 13)
        must(ABT_eventual_set(eventual, NULL, 0));
    return ABT_FALSE;
}

static void driver(void)
{
    const ABTX_driver_ops ops = {.poll = poll_and_set};
    ABTX_driver setter;
    ABT_xstream self;

    begin();
    must(ABT_xstream_self(&self));
    must(ABTX_driver_create(&ops, NULL, &setter));
    must(ABTX_driver_set_period(setter, 100000000));
    must(ABTX_driver_attach(setter, self));
    must(ABT_eventual_wait(eventual, NULL));
    must(ABTX_driver_free(&setter));
    must(ABT_finalize());
}

/* Nothing but a cycle is told. */
static void only_cycles(void)
{
    begin();
    make(wait_for_eventual, NULL);
    make(suspend, NULL);
    must(ABT_thread_yield());
    pthread_t native;
    pthread_create(&native, NULL, set_later, NULL);
    must(ABT_eventual_wait(eventual, NULL));
    pthread_join(native, NULL);
    _exit(0);
}

/* The child of a fork goes on without the watch thread, and ends. TSan wants no threads in such a child. */
static void forks(void)
{
    if (UNDER_TSAN || is_emulated())
        return;
    begin();
    for (int i = 0; i < 20; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            make(wait_for_eventual, NULL);
            must(ABT_eventual_set(eventual, NULL, 0));
            must(ABT_finalize());
            must(ABT_init(0, NULL));
            must(ABT_finalize());
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            bail_out("the child of the fork ends with %#x", (unsigned)status);
        nap_ms(10);
    }
    must(ABT_finalize());
}

/* --- Native mutexes --- */

static pthread_mutex_t native_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Holds it while it waits for what comes later. */
static void wait_with_native(void *arg)
{
    pthread_mutex_lock(&native_mutex);
    must(ABT_eventual_wait(eventual, NULL));
    pthread_mutex_unlock(&native_mutex);
}

static void take_native(void *arg)
{
    pthread_mutex_lock(&native_mutex);
    pthread_mutex_unlock(&native_mutex);
}

static void set_eventual(void *arg)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void native_mutex_of_unit(void)
{
    begin();
    threads[0] = make(wait_with_native, NULL);
    threads[1] = make(take_native, NULL);
    threads[2] = make(set_eventual, NULL);
    must(ABT_thread_free_many(3, threads));
}

static void *keep_native(void *arg)
{
    pthread_mutex_lock(&native_mutex);
    pthread_barrier_wait(arg);
    nap_ms(1500);
    pthread_mutex_unlock(&native_mutex);
    return NULL;
}

/* The stream waits for a mutex that another thread has. */
static void native_mutex_of_thread(void)
{
    pthread_t thread;
    pthread_barrier_t locked;
    pthread_barrier_init(&locked, NULL, 2);
    begin();
    pthread_create(&thread, NULL, keep_native, &locked);
    pthread_barrier_wait(&locked);
    run_many(2, take_native);
    pthread_join(thread, NULL);
}

#define ON "ABT_DEADLOCK_CHECK=1"
#define ABORT "ABT_DEADLOCK_CHECK=abort"
#define NAME "(primary )?ULT [0-9]+( \\([^)]*\\))?"

#ifdef __GLIBC__
#define NUM_UNKNOWN 0
#else
#define NUM_UNKNOWN 1
#endif

static const struct child children[] = {
    {"a cycle of two mutexes",
     ON,
     mutex_ring_2,
     {"deadlock: 3 units are blocked",
      "ULT [0-9]+ .* waits for mutex 0x[0-9a-f]+ held by ULT [0-9]+ .*, which waits for mutex 0x[0-9a-f]+ held by ULT",
      "primary ULT [0-9]+ waits for the end of ULT"},
     -1},
    {"a cycle of three mutexes",
     ON,
     mutex_ring_3,
     {"held by .*, which waits .* held by .*, which waits .* held by"},
     -1},
    {"only cycles: of two mutexes",
     "ABT_DEADLOCK_CHECK=cycles",
     mutex_ring_2,
     {"deadlock", "which waits for mutex"},
     -1},
    {"a cycle while others run",
     ON,
     mutex_ring_aside,
     {"deadlock: units wait for each other", "which waits for mut"},
     -1},
    {"a mutex taken twice", ON, mutex_twice, {"deadlock", "waits for mutex 0x[0-9a-f]+ held by itself"}, -1},
    {"abort", ABORT, mutex_twice, {"deadlock", "held by itself"}, SIGABRT},
    {"a native thread waits, too", ON, mutex_native, {"deadlock", "eventual 0x", "1 native thread of the program"}, -1},
    {"a signal before the wait",
     ON,
     lost_signal,
     {"deadlock", "primary .* end of " NAME ", which waits for cond 0x"},
     -1},
    {"an eventual that nobody sets", ON, eventual_not_set, {"deadlock", NAME " waits for eventual 0x"}, -1},
    {"any of several eventuals", ON, any_not_set, {"deadlock", NAME " waits for any of several eventuals"}, -1},
    {"a future that nobody sets", ON, future_not_set, {"deadlock", NAME " waits for future 0x"}, -1},
    {"a reader-writer lock of its own",
     ON,
     rwlock_twice,
     {"deadlock", "waits for rwlock 0x[0-9a-f]+ held by itself"},
     -1},
    {"a reader-writer lock", ON, rwlock_kept, {"deadlock", NAME " waits for rwlock 0x"}, -1},
    {"a word that nobody changes", ON, word_of_nobody, {"deadlock", NAME " waits for word 0x"}, -1},
    {"a stream blocks for a word", ON, word_blocks, {"deadlock"}, -1},
    {"a barrier to which one does not come", ON, barrier_of_two, {"deadlock", NAME " waits for barrier 0x"}, -1},
    {"nobody resumes it", ON, not_resumed, {"deadlock", NAME " waits to be resumed"}, -1},
    {"a cycle of joins", ON, join_ring, {"deadlock", "end of ULT .*, which waits for the end of ULT"}, -1},
    {"two joiners of one unit",
     ABORT,
     two_joiners,
     {"deadlock: 3 units are blocked", "waits for the end of ULT [0-9]+ .*, which waits for eventual 0x"},
     SIGABRT},
    {"a cycle with the second joiner",
     ABORT,
     ring_of_two_joiners,
     {"deadlock: 3 units are blocked", "ULT .* waits for the end of ULT .*, which waits for the end of ULT"},
     SIGABRT},
    {"the same while others run",
     ABORT,
     ring_of_two_joiners_aside,
     {"deadlock: units wait for each other", "waits for the end of ULT .*, which waits for the end of ULT"},
     SIGABRT},
    {"a tasklet that joins a unit of its stream",
     ABORT,
     joining_tasklet,
     {"deadlock: 2 units are blocked", "tasklet [0-9]+ .* waits for the end of ULT|ULT .* is ready in pool [0-9]+"},
     SIGABRT},
    {"the same of a secondary stream", ABORT, joining_tasklet_elsewhere, {"deadlock: 2 units are blocked"}, SIGABRT},
    {"a tasklet that joins a unit of another: nothing is told", ABORT, joining_other_stream, {NULL}, 0},
    {"a cycle with a native thread",
     ABORT,
     cycle_with_native,
     {"deadlock: 1 unit is blocked", "ULT .* waits for mutex 0x[0-9a-f]+ held by native thread [0-9]+",
      "native thread [0-9]+ waits for mutex 0x[0-9a-f]+ held by primary ULT"},
     SIGABRT},
    {"a native mutex that another thread has: nothing is told", ABORT, native_mutex_of_thread, {NULL}, 0},
    {"a pool without a scheduler", ON, in_no_scheds_pool, {"deadlock", "is ready in pool [0-9]+, which no sched"}, -1},
    {"in ABT_finalize", ON, at_finalize, {"deadlock", NAME}, -1},
    {"on another stream", ON, other_stream, {"deadlock", NAME " waits for eventual 0x"}, -1},
    {"with a scheduler that never sleeps", ON, own_scheduler, {"deadlock", NAME " waits for eventual 0x"}, -1},
    {"a sleep: nothing is told", ON, sleep_long, {NULL}, 0},
    {"a unit that runs: nothing is told", ON, busy, {NULL}, 0},
    {"a wake that is expected: nothing is told", ON, expected_wake, {NULL}, 0},
    {"a native thread that is known: nothing is told", ON, known_native, {NULL}, 0},
    {"a native thread that has called: nothing is told", ON, native_that_has_called, {NULL}, 0},
    {"a native thread that has not: nothing is told", ABORT, native_that_has_not, {NULL}, 0},
    {"a native thread that wakes and ends: nothing is told", ABORT, native_that_ends, {NULL}, 0},
    {"a native thread that blocks all signals: nothing is told", ABORT, native_without_signals, {NULL}, 0},
    {"a native thread that never does: what is likely",
     ABORT,
     native_that_never_does,
     {"2 units have been blocked for [0-9]+ s, nothing runs", NAME " waits for eventual 0x", "1 native thread of the"},
     -1},
    {"a handler of a signal: nothing is told", ABORT, by_handler, {NULL}, 0},
    {"a blocking region: nothing is told", ABORT, in_region, {NULL}, 0},
    {"a driver: nothing is told", ON, driver, {NULL}, 0},
    {"no cycle: nothing is told", "ABT_DEADLOCK_CHECK=cycles", only_cycles, {NULL}, 0},
    {"forks", ON, forks, {NULL}, 0},
    /* The last one: which thread has a native mutex is known of glibc's. */
    {"a native mutex held in a wait",
     ABORT,
     native_mutex_of_unit,
     {"deadlock: native thread [0-9]+ waits for native mutex 0x[0-9a-f]+, which it has itself",
      "ULT [0-9]+ .* waits for eventual 0x"},
     SIGABRT},
};

int main(void)
{
    watchdog_begin(0);
    if (is_emulated())
        skip_all("the emulator has native threads of its own in the process, which could wake units");
    ok_err(ABTX_expect_external_wake(-1), ABT_ERR_INV_ARG);
    run_children(children, (int)(sizeof(children) / sizeof(children[0])) - NUM_UNKNOWN);
    return done_testing();
}
