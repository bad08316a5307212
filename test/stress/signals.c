/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way to wait, under a hail of signals: each native thread gets SIGALRM a thousand times a second while it waits
 * and while it wakes others, with handlers that restart system calls and with such that do not. No wait may end because
 * of a signal, and no wake-up may be lost.
 */
#include "stress.h"

#include <errno.h>
#include <sys/time.h>

enum { EXTERNALS = 3, ULTS = 4, WORKERS = EXTERNALS + ULTS, STREAMS = 2, MAX_TARGETS = 16 };

static ABT_xstream streams[STREAMS];
static ABT_pool pools[STREAMS];
static double case_end;
static atomic_int wrong;
static atomic_long rounds;

#define check(cond) check_at((cond), #cond, __LINE__)

static void check_at(bool holds, const char *cond, int line)
{
    if (holds)
        return;
    if (atomic_fetch_add(&wrong, 1) < 10)
        diag("line %d: %s does not hold", line, cond);
}

static bool is_external(int id)
{
    return id < EXTERNALS;
}

static struct timespec in_ms(long ms)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += ms * 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

static bool is_over(const struct timespec *deadline)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return ts.tv_sec > deadline->tv_sec || (ts.tv_sec == deadline->tv_sec && ts.tv_nsec >= deadline->tv_nsec);
}

/* A ULT lets others run, and now and then everybody takes a while, so that the others sleep. */
static void dawdle(struct rng *rng, int id)
{
    jitter(rng);
    if (one_in(rng, 16))
        nap_us(150);
    else if (!is_external(id) && one_in(rng, 2))
        must(ABT_self_yield());
}

/* --- The signals --- */

static pthread_t targets[MAX_TARGETS];
static int num_targets;
static pthread_mutex_t targets_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long signals;
static atomic_bool stop_hail;

static void on_signal(int sig)
{
    atomic_fetch_add(&signals, 1);
}

static void handle_signals(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaction(SIGALRM, &action, NULL);
}

static void add_target(pthread_t thread)
{
    pthread_mutex_lock(&targets_lock);
    targets[num_targets++] = thread;
    pthread_mutex_unlock(&targets_lock);
}

static void remove_targets(int left)
{
    pthread_mutex_lock(&targets_lock);
    num_targets = left;
    pthread_mutex_unlock(&targets_lock);
}

/* The timer's signals go to some thread; this one sends others to all, and ends a run that hangs. */
static void *hail(void *arg)
{
    double limit = now() + WATCHDOG_SECONDS + 2 * *(double *)arg;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; !atomic_load(&stop_hail); i++) {
        nap_us(1000);
        if (i % 64 == 0)
            handle_signals(i % 128 ? SA_RESTART : 0);
        pthread_mutex_lock(&targets_lock);
        for (int j = 0; j < num_targets; j++)
            pthread_kill(targets[j], SIGALRM);
        pthread_mutex_unlock(&targets_lock);
        if (now() > limit)
            watchdog_bites(0);
    }
    return NULL;
}

/* --- All meet, round after round, until it is time to end --- */

static ABT_barrier meeting;
static atomic_long last_round, arrivals;

/* The same answer for everybody: whether this was the last round. The first of them decides before it comes. */
static bool meet(int id, long round)
{
    if (id == 0 && now() > case_end)
        atomic_store(&last_round, round);
    atomic_fetch_add(&arrivals, 1);
    must(ABT_barrier_wait(meeting));
    check(atomic_load(&arrivals) >= WORKERS * round);
    return atomic_load(&last_round) == round;
}

static void barrier_begin(void)
{
    atomic_store(&arrivals, 0);
    atomic_store(&last_round, -1);
}

static void barrier_work(int id, struct rng *rng)
{
    for (long round = 1; !meet(id, round); round++) {
        dawdle(rng, id);
        if (id == 0)
            atomic_fetch_add(&rounds, 1);
    }
}

/* --- Mutex --- */

static ABT_mutex mutex;
static int inside;
static long count;
static atomic_long counted;

static void mutex_begin(void)
{
    count = 0;
    atomic_store(&counted, 0);
}

static void mutex_work(int id, struct rng *rng)
{
    while (now() < case_end) {
        must(ABT_mutex_lock(mutex));
        check(inside++ == 0);
        count++;
        dawdle(rng, id);
        check(inside-- == 1);
        must(ABT_mutex_unlock(mutex));
        atomic_fetch_add(&counted, 1);
        atomic_fetch_add(&rounds, 1);
        jitter(rng);
    }
}

static void mutex_end(void)
{
    check(count == atomic_load(&counted));
}

/* --- Condition variable: each wake-up has its token, for each token somebody wakes up --- */

static ABT_cond cond;
static int waiting, tokens;
static bool closed;

static void cond_begin(void)
{
    waiting = tokens = 0;
    closed = false;
}

static void cond_signal_all(int id, struct rng *rng)
{
    for (bool end = false; !end;) {
        dawdle(rng, id);
        end = now() > case_end;
        must(ABT_mutex_lock(mutex));
        if (end) {
            closed = true;
            must(ABT_cond_broadcast(cond));
        } else if (waiting > 0 && one_in(rng, 4)) {
            tokens += waiting;
            waiting = 0;
            must(ABT_cond_broadcast(cond));
        } else if (waiting > 0) {
            waiting--;
            tokens++;
            must(ABT_cond_signal(cond));
        }
        must(ABT_mutex_unlock(mutex));
    }
}

static void cond_work(int id, struct rng *rng)
{
    if (id == 0 || id == EXTERNALS) {
        cond_signal_all(id, rng);
        return;
    }
    must(ABT_mutex_lock(mutex));
    while (!closed) {
        waiting++;
        must(ABT_cond_wait(cond, mutex));
        check(tokens > 0 || closed);
        tokens--;
        atomic_fetch_add(&rounds, 1);
    }
    must(ABT_mutex_unlock(mutex));
}

/* With a deadline: no time-out before its time, no success without a signal. */
static long sent, received;

static void timed_begin(void)
{
    cond_begin();
    sent = received = 0;
}

static void timed_work(int id, struct rng *rng)
{
    while (now() < case_end) {
        dawdle(rng, id);
        must(ABT_mutex_lock(mutex));
        if (id == 0 || id == EXTERNALS) {
            sent++;
            must(ABT_cond_signal(cond));
        } else {
            struct timespec deadline = in_ms(1 + (long)below(rng, 3));
            int code = ABT_cond_timedwait(cond, mutex, &deadline);
            if (code == ABT_SUCCESS)
                check(++received <= sent);
            else
                check(code == ABT_ERR_COND_TIMEDOUT && is_over(&deadline));
            atomic_fetch_add(&rounds, 1);
        }
        must(ABT_mutex_unlock(mutex));
    }
}

/* --- Readers and writers --- */

static ABT_rwlock rwlock;
static long cells[2];

static void rwlock_work(int id, struct rng *rng)
{
    while (now() < case_end) {
        if (one_in(rng, 3)) {
            must(ABT_rwlock_wrlock(rwlock));
            cells[0]++;
            dawdle(rng, id);
            check(++cells[1] == cells[0]);
        } else {
            must(ABT_rwlock_rdlock(rwlock));
            long before = cells[1];
            dawdle(rng, id);
            check(cells[0] == before && cells[1] == before);
        }
        must(ABT_rwlock_unlock(rwlock));
        atomic_fetch_add(&rounds, 1);
        jitter(rng);
    }
}

/* --- Eventual and future --- */

static ABT_eventual eventual;

static void eventual_wait(struct rng *rng, long round)
{
    void *value = NULL;
    if (one_in(rng, 3)) {
        struct timespec deadline = in_ms(1);
        while (ABT_eventual_timedwait(eventual, &value, &deadline) != ABT_SUCCESS) {
            check(is_over(&deadline));
            deadline = in_ms(1);
        }
    } else {
        must(ABT_eventual_wait(eventual, &value));
    }
    check(value && *(long *)value == round);
}

static void eventual_work(int id, struct rng *rng)
{
    for (long round = 1;; round += 2) {
        if (id == 1) {
            dawdle(rng, id);
            must(ABT_eventual_set(eventual, &round, sizeof(round)));
        } else {
            eventual_wait(rng, round);
        }
        if (meet(id, round))
            return;
        if (id == 1) {
            must(ABT_eventual_reset(eventual));
            atomic_fetch_add(&rounds, 1);
        }
        meet(id, round + 1);
    }
}

static ABT_future future;
static atomic_int set;

static void future_work(int id, struct rng *rng)
{
    for (long round = 1;; round += 2) {
        dawdle(rng, id);
        atomic_fetch_add(&set, 1);
        must(ABT_future_set(future, NULL));
        must(ABT_future_wait(future));
        check(atomic_load(&set) == WORKERS);
        if (meet(id, round))
            break;
        if (id == 1) {
            atomic_store(&set, 0);
            must(ABT_future_reset(future));
            atomic_fetch_add(&rounds, 1);
        }
        meet(id, round + 1);
    }
    atomic_store(&set, 0);
}

static void future_end(void)
{
    must(ABT_future_reset(future));
}

/* --- The barrier of native threads: one ULT of each stream takes part --- */

static ABT_xstream_barrier native_meeting;

static void native_work(int id, struct rng *rng)
{
    const int members = EXTERNALS + STREAMS;
    for (long round = 1; id < members; round++) {
        jitter(rng);
        if (one_in(rng, 8))
            nap_us(100);
        if (id == 0 && now() > case_end)
            atomic_store(&last_round, round);
        atomic_fetch_add(&arrivals, 1);
        must(ABT_xstream_barrier_wait(native_meeting));
        check(atomic_load(&arrivals) >= members * round);
        if (id == 0)
            atomic_fetch_add(&rounds, 1);
        if (atomic_load(&last_round) == round)
            return;
    }
}

/* --- Joining --- */

struct child {
    int naps;
    ABT_thread other; /* to be joined by the child, a tasklet */
    atomic_bool done;
};

static void be_child(void *arg)
{
    struct child *child = arg;
    if (child->naps)
        nap_us(child->naps);
    if (child->other != ABT_THREAD_NULL)
        must(ABT_thread_join(child->other));
    atomic_store(&child->done, true);
}

static void join_work(int id, struct rng *rng)
{
    while (now() < case_end) {
        struct child child = {.naps = one_in(rng, 2) ? (int)below(rng, 200) : 0, .other = ABT_THREAD_NULL};
        ABT_thread unit;
        must(ABT_thread_create(pools[(id + 1) % STREAMS], be_child, &child, ABT_THREAD_ATTR_NULL, &unit));
        if (id == 0 && one_in(rng, 2)) {
            /* A tasklet waits for it, on the other stream; one at a time, or they wait for each other. */
            struct child waiter = {.other = unit};
            ABT_thread tasklet;
            must(ABT_task_create(pools[id % STREAMS], be_child, &waiter, &tasklet));
            must(ABT_task_free(&tasklet));
            check(atomic_load(&waiter.done) && atomic_load(&child.done));
        }
        must(one_in(rng, 2) ? ABT_thread_join(unit) : ABT_SUCCESS);
        must(ABT_thread_free(&unit));
        check(atomic_load(&child.done));
        if (id == 1 && one_in(rng, 16)) {
            ABT_xstream es;
            must(ABT_xstream_create(ABT_SCHED_NULL, &es));
            must(ABT_xstream_free(&es));
        }
        atomic_fetch_add(&rounds, 1);
    }
}

/* --- Popping --- */

static ABT_pool offered;
static atomic_long offers, taken;
static atomic_int offering; /* those who have not made their last offer */

static void count_taken(void *arg)
{
    atomic_fetch_add(&taken, 1);
}

static void pop_begin(void)
{
    atomic_store(&offering, WORKERS - 2);
}

static void pop_work(int id, struct rng *rng)
{
    while (id > 1 && now() < case_end) {
        dawdle(rng, id);
        atomic_fetch_add(&offers, 1);
        must(ABT_task_create(offered, count_taken, NULL, NULL));
        if (atomic_load(&offers) - atomic_load(&taken) > 1000)
            nap_us(1000);
    }
    atomic_fetch_sub(&offering, id > 1);
    while (id <= 1 && (atomic_load(&offering) > 0 || atomic_load(&taken) < atomic_load(&offers))) {
        double secs = one_in(rng, 2) ? 0.002 : 0.02, start = now();
        ABT_unit unit;
        must(ABT_pool_pop_wait(offered, &unit, secs));
        if (unit == ABT_UNIT_NULL)
            check(now() - start >= secs * 0.999);
        else
            must(ABT_pool_push(pools[id], unit));
        atomic_fetch_add(&rounds, 1);
    }
}

static void pop_end(void)
{
    for (int i = 0; i < 20000 && atomic_load(&taken) < atomic_load(&offers); i++)
        nap_us(1000);
    check(atomic_load(&taken) == atomic_load(&offers));
}

/* --- All of it --- */

static const struct {
    const char *name;
    void (*begin)(void);
    void (*work)(int id, struct rng *rng);
    void (*end)(void);
} cases[] = {
    {"mutex", mutex_begin, mutex_work, mutex_end},
    {"condition variable", cond_begin, cond_work, NULL},
    {"condition variable with a deadline", timed_begin, timed_work, NULL},
    {"rwlock", NULL, rwlock_work, NULL},
    {"eventual", barrier_begin, eventual_work, NULL},
    {"future", barrier_begin, future_work, future_end},
    {"barrier", barrier_begin, barrier_work, NULL},
    {"barrier of streams", barrier_begin, native_work, NULL},
    {"join", NULL, join_work, NULL},
    {"pop with a deadline", pop_begin, pop_work, pop_end},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

struct worker {
    int id, number;
    pthread_t native;
    ABT_thread ult;
};

static void work(void *arg)
{
    struct worker *worker = arg;
    struct rng rng = rng_make((uint64_t)(worker->number * WORKERS + worker->id));
    cases[worker->number].work(worker->id, &rng);
}

static void *work_external(void *arg)
{
    work(arg);
    return NULL;
}

static void run_case(int number, double seconds)
{
    struct worker workers[WORKERS];
    int left = num_targets;
    long before = atomic_load(&signals);
    atomic_store(&rounds, 0);
    atomic_store(&wrong, 0);
    if (cases[number].begin)
        cases[number].begin();
    case_end = now() + seconds;
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.id = i, .number = number};
        if (is_external(i)) {
            must(pthread_create(&workers[i].native, NULL, work_external, &workers[i]));
            add_target(workers[i].native);
        } else {
            must(ABT_thread_create(pools[i % STREAMS], work, &workers[i], ABT_THREAD_ATTR_NULL, &workers[i].ult));
        }
    }
    for (int i = EXTERNALS; i < WORKERS; i++)
        must(ABT_thread_free(&workers[i].ult));
    remove_targets(left);
    for (int i = 0; i < EXTERNALS; i++)
        pthread_join(workers[i].native, NULL);
    if (cases[number].end)
        cases[number].end();
    is_int(atomic_load(&wrong), 0, "%s: %ld rounds, %ld signals", cases[number].name, atomic_load(&rounds),
           atomic_load(&signals) - before);
}

static void tell_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

int main(void)
{
    double seconds = tap_seconds(4);
    struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    pthread_t hailer;
    setenv("ABT_THREAD_STACKSIZE", "131072", 1); /* the handlers run on them */
    stress_begin();
    alarm(0);
    handle_signals(SA_RESTART);
    must(ABT_init(0, NULL));
    add_target(pthread_self());
    for (int i = 0; i < STREAMS; i++) {
        pthread_t thread;
        ABT_thread ult;
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
        must(ABT_xstream_get_main_pools(streams[i], 1, &pools[i]));
        must(ABT_thread_create(pools[i], tell_thread, &thread, ABT_THREAD_ATTR_NULL, &ult));
        must(ABT_thread_free(&ult));
        add_target(thread);
    }
    must(ABT_mutex_create(&mutex));
    must(ABT_cond_create(&cond));
    must(ABT_rwlock_create(&rwlock));
    must(ABT_eventual_create(sizeof(long), &eventual));
    must(ABT_future_create(WORKERS, NULL, &future));
    must(ABT_barrier_create(WORKERS, &meeting));
    must(ABT_xstream_barrier_create(EXTERNALS + STREAMS, &native_meeting));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &offered));
    must(pthread_create(&hailer, NULL, hail, &seconds));
    setitimer(ITIMER_REAL, &every_ms, NULL);

    for (int i = 0; i < CASES; i++)
        run_case(i, seconds / CASES);

    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&stop_hail, true);
    pthread_join(hailer, NULL);
    must(ABT_pool_free(&offered));
    must(ABT_xstream_barrier_free(&native_meeting));
    must(ABT_barrier_free(&meeting));
    must(ABT_future_free(&future));
    must(ABT_eventual_free(&eventual));
    must(ABT_rwlock_free(&rwlock));
    must(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return done_testing();
}
