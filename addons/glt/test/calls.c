/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each function of glt.h does what the header says. Built with the shared library and header-only, of two files; over
 * other libraries too, where schedulers cannot be managed and a unit may run on any thread.
 */
#include "calls.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "watchdog.h"

#ifdef GLT_MASSIVETHREADS
enum { WORKERS_STEAL = 1 };
#else
enum { WORKERS_STEAL = 0 };
#endif

enum { THREADS = 4, POOLS = 2, UNITS = 64, ROUNDS = 100 };

static atomic_int count;

static void count_up(void *arg)
{
    atomic_fetch_add(&count, *(int *)arg);
}

/* ---- Threads and units --------------------------------------------------------------------------------------------
 */

static void threads(void)
{
    glt_team_t *team = glt_get_team();
    int id = -1;

    is_int(glt_get_num_threads(), THREADS, "GLT_NUM_THREADS");
    is_int(glt_get_thread_num(), 0, "who calls glt_init is thread 0");
    glt_workunit_get_thread_id(&id);
    is_int(id, 0, "glt_workunit_get_thread_id");
    is_int(team->num_xstreams, THREADS, "the team's threads");
    is_int(team->num_pools, POOLS, "GLT_NUM_POOLS");
    ok(team->team[THREADS - 1] != GLT_THREAD_NULL, "the team's handles");
    ok(team->pools[0] != team->pools[1], "the team's pools");
    is_ptr(second_team(), team, "another file has the same team");
    ok(!glt_can_event_functions() && glt_can_future_functions() && !glt_can_malleability(), "what can be done");
    glt_thread_enable();
    glt_thread_enable_id(1);
    glt_thread_disable();
    glt_thread_disable_id(1);
    is_int(glt_get_num_threads(), THREADS, "the number of threads is fixed");
    double before = glt_get_wtime();
    ok(before > 0 && glt_get_wtime() >= before, "glt_get_wtime");
}

static void units(void)
{
    GLT_ult *ults = glt_ult_malloc(UNITS);
    GLT_tasklet *tasklets = glt_tasklet_malloc(UNITS);
    int one = 1;

    glt_start();
    count = 0;
    for (int i = 0; i < UNITS; i++) {
        if (i % 2) {
            glt_ult_create(count_up, &one, &ults[i]);
            glt_tasklet_create(count_up, &one, &tasklets[i]);
        } else {
            glt_ult_create_to(count_up, &one, &ults[i], i);
            glt_tasklet_create_to(count_up, &one, &tasklets[i], i);
        }
    }
    for (int i = 0; i < UNITS; i++) {
        glt_ult_join(&ults[i]);
        glt_tasklet_join(&tasklets[i]);
    }
    glt_end();
    is_int(count, 2 * UNITS, "all units have run");
    ok(ults[0] == GLT_ULT_NULL && tasklets[0] == GLT_TASKLET_NULL, "a join leaves a null handle");
    glt_ult_free(&ults[0]);
    glt_tasklet_free(&tasklets[0]);
    ok(ults[0] == GLT_ULT_NULL && tasklets[0] == GLT_TASKLET_NULL, "nothing is freed twice");
    glt_ult_create(count_up, &one, &ults[0]);
    glt_tasklet_create(count_up, &one, &tasklets[0]);
    glt_ult_free(&ults[0]);
    glt_tasklet_free(&tasklets[0]);
    is_int(count, 2 * UNITS + 2, "a free of what is not null joins");
    is_int(second_units(UNITS), UNITS, "units of another file");
    free(ults);
    free(tasklets);
}

struct place {
    int pool;
    bool migrate;
    bool right;
};

/* Runs on a thread of the right pool, and after the migration on one of the other pool. */
static void look_where(void *arg)
{
    struct place *place = arg;

    place->right = true;
    for (int i = 0; i < ROUNDS; i++) {
        if (place->migrate) {
            glt_ult_migrate_self_to(place->pool + 1);
            place->pool = (place->pool + 1) % POOLS;
        }
        if (glt_get_thread_num() % POOLS != place->pool)
            place->right = false;
        glt_yield();
    }
}

static void places(void)
{
    GLT_ult ults[UNITS];
    struct place places[UNITS];
    bool right = true;

    for (int i = 0; i < UNITS; i++) {
        places[i] = (struct place){.pool = i % THREADS % POOLS, .migrate = i >= UNITS / 2};
        glt_ult_create_to(look_where, &places[i], &ults[i], i % THREADS);
    }
    for (int i = 0; i < UNITS; i++) {
        glt_ult_join(&ults[i]);
        right &= places[i].right;
    }
    ok(right || WORKERS_STEAL, "units run on the threads of their pools, and migrate");
}

static GLT_ult partner;
static atomic_int turns[2];

static void yield_turns(void *arg)
{
    for (; turns[0] < ROUNDS; turns[0]++)
        glt_yield_to(partner);
}

static void leave(void *arg)
{
    GLT_ult self;
    GLT_ult_id id;

    glt_ult_self(&self);
    glt_ult_get_id(&id, self);
    *(GLT_ult_id *)arg = id + 1;
    glt_ult_exit();
    *(GLT_ult_id *)arg = 0;
}

static void look_at_self(void *arg)
{
    glt_tasklet_self((GLT_tasklet *)arg);
}

static void run_on(void *arg)
{
    atomic_store(&count, 1);
    for (;;)
        glt_yield();
}

static void selves(void)
{
    GLT_ult ult;
    GLT_tasklet tasklet, seen = GLT_TASKLET_NULL, unused;
    GLT_ult_id id = 0;

    glt_ult_create(leave, &id, &ult);
    glt_ult_join(&ult);
    ok(id != 0, "a ULT has a number, and ends by glt_ult_exit");
    glt_tasklet_create(look_at_self, &seen, &tasklet);
    unused = tasklet;
    glt_tasklet_join(&tasklet);
    ok(seen == unused, "glt_tasklet_self");
    glt_ult_self(&partner);
    glt_ult_create(yield_turns, NULL, &ult);
    for (; turns[1] < ROUNDS && turns[0] < ROUNDS; turns[1]++)
        glt_yield();
    glt_ult_join(&ult);
    is_int(turns[0], ROUNDS, "glt_yield_to");
    count = 0;
    glt_ult_create_to(run_on, NULL, &ult, 1);
    while (atomic_load(&count) == 0)
        glt_yield();
    glt_ult_cancel(ult);
    glt_ult_join(&ult);
    pass("a ULT that is cancelled ends");
    glt_tasklet_create(look_at_self, &seen, &tasklet);
    glt_tasklet_cancel(tasklet);
    glt_tasklet_join(&tasklet);
    pass("a tasklet that is cancelled ends");
}

/* ---- Synchronisation -----------------------------------------------------------------------------------------------
 */

static struct {
    GLT_mutex mutex;
    GLT_cond cond;
    GLT_barrier barrier;
    GLT_future future;
    GLT_key key;
    int sum, here, go;
} shared;

static void add_locked(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (*(int *)arg == 1)
            glt_mutex_lock(shared.mutex);
        else if (*(int *)arg == 2)
            glt_mutex_spinlock(shared.mutex);
        else
            while (glt_mutex_trylock(shared.mutex) != 0)
                glt_yield();
        shared.sum++;
        glt_mutex_unlock(shared.mutex);
    }
}

static void wait_for_go(void *arg)
{
    glt_barrier_wait(&shared.barrier);
    glt_mutex_lock(shared.mutex);
    shared.here++;
    while (shared.go == 0)
        glt_cond_wait(shared.cond, shared.mutex);
    if (shared.go == 1)
        shared.go = 0; /* a signal's */
    shared.here--;
    glt_mutex_unlock(shared.mutex);
}

/* Waits until that number of units are in wait_for_go. */
static void await_here(int here)
{
    for (bool there = false; !there; glt_yield()) {
        glt_mutex_lock(shared.mutex);
        there = shared.here == here;
        glt_mutex_unlock(shared.mutex);
    }
}

static void mutexes(void)
{
    GLT_ult ults[UNITS];
    static int ways[] = {1, 2, 3};

    glt_mutex_create(&shared.mutex);
    /* A ULT that waits with its thread must not wait for one of that thread: one a thread. */
    for (int i = 0; i < THREADS; i++)
        glt_ult_create_to(add_locked, &ways[i % 3], &ults[i], i);
    for (int i = 0; i < THREADS; i++)
        glt_ult_join(&ults[i]);
    is_int(shared.sum, THREADS * ROUNDS, "a mutex");
    glt_mutex_lock(shared.mutex);
    ok(glt_mutex_trylock(shared.mutex) != 0, "it is locked");
    glt_mutex_unlock(shared.mutex);

    glt_cond_create(&shared.cond);
    glt_barrier_create(UNITS, &shared.barrier);
    for (int i = 0; i < UNITS; i++)
        glt_ult_create_to(wait_for_go, NULL, &ults[i], i);
    await_here(UNITS);
    glt_mutex_lock(shared.mutex);
    shared.go = 1;
    glt_cond_signal(shared.cond);
    glt_mutex_unlock(shared.mutex);
    await_here(UNITS - 1);
    glt_mutex_lock(shared.mutex);
    shared.go = 2;
    glt_cond_broadcast(shared.cond);
    glt_mutex_unlock(shared.mutex);
    for (int i = 0; i < UNITS; i++)
        glt_ult_join(&ults[i]);
    is_int(shared.here, 0, "a barrier and a condition variable");
    glt_barrier_free(&shared.barrier);
    glt_cond_free(&shared.cond);
    glt_mutex_free(&shared.mutex);
    ok(shared.barrier == GLT_BARRIER_NULL && shared.cond == GLT_COND_NULL && shared.mutex == GLT_MUTEX_NULL,
       "they are freed");
}

static void wait_for_value(void *arg)
{
    void *value = NULL;

    glt_future_wait(shared.future, &value);
    *(int *)arg = *(int *)value;
}

static void end_value(void *value)
{
    atomic_fetch_add(&count, *(int *)value);
}

static void keep_value(void *arg)
{
    void *value = arg;

    glt_key_get(shared.key, &value);
    if (value == NULL)
        glt_key_set(shared.key, arg);
    glt_yield();
    glt_key_get(shared.key, &value);
    if (value == arg)
        atomic_fetch_add(&count, 1);
}

static void values(void)
{
    GLT_ult ults[UNITS];
    int got[UNITS], value = 42, thousand = 1000, right = 0;
    GLT_timer timer;
    double seconds = -1;

    glt_future_create(sizeof(int), &shared.future);
    for (int i = 0; i < UNITS; i++)
        glt_ult_create_to(wait_for_value, &got[i], &ults[i], i);
    glt_future_set(shared.future, &value, sizeof(value));
    for (int i = 0; i < UNITS; i++) {
        glt_ult_join(&ults[i]);
        right += got[i] == 42;
    }
    is_int(right, UNITS, "a future");
    glt_future_free(&shared.future);

    count = 0;
    glt_key_create(end_value, &shared.key);
    for (int i = 0; i < UNITS; i++)
        glt_ult_create_to(keep_value, &thousand, &ults[i], i);
    for (int i = 0; i < UNITS; i++)
        glt_ult_join(&ults[i]);
    is_int(count, UNITS * 1001, "each unit has a value, which a destructor gets");
    glt_key_free(&shared.key);

    glt_timer_create(&timer);
    glt_timer_start(timer);
    usleep(1000);
    glt_timer_stop(timer);
    glt_timer_get_secs(timer, &seconds);
    ok(seconds >= 0.001, "a timer: %f", seconds);
    glt_timer_free(&timer);
}

/* ---- Schedulers, errors --------------------------------------------------------------------------------------------
 */

static int frequency = -1;

static int sched_begin(GLT_sched sched, GLT_sched_config config)
{
    glt_scheduler_config_read(config, 1, &frequency);
    glt_scheduler_set_data(sched, &frequency);
    return GLT_SUCCESS;
}

static void sched_run(GLT_sched sched)
{
}

static void schedulers(void)
{
    GLT_sched_def def = {.type = GLT_SCHED_TYPE_ULT, .init = sched_begin, .run = sched_run};
    GLT_sched_config_var var = {.idx = 0, .type = GLT_SCHED_CONFIG_INT};
    GLT_sched_config config;
    GLT_sched sched;
    GLT_bool stop = GLT_TRUE;
    GLT_ult ult;
    void *data = NULL;
    size_t size = 7, total = 7;
    int pools[] = {0, 1}, one = 1;

    if (!glt_can_manage_scheduler()) {
        glt_scheduler_create(&def, 2, pools, NULL, &sched);
        glt_scheduler_free(&sched);
        ok(sched == GLT_SCHED_NULL, "a scheduler that is none");
        return;
    }
    glt_scheduler_config_create(&config, var, 12, GLT_sched_config_var_end);
    glt_scheduler_create(&def, 2, pools, config, &sched);
    is_int(frequency, 12, "a scheduler of one's own, with a configuration");
    glt_scheduler_get_data(sched, &data);
    is_ptr(data, &frequency, "its data");
    count = 0;
    glt_ult_create_to(count_up, &one, &ult, 0);
    glt_scheduler_get_total_size(sched, &total);
    glt_ult_join(&ult);
    glt_scheduler_get_size(sched, &size);
    ok(size == 0 && total < 7, "its size: %zu, %zu", size, total);
    glt_scheduler_has_to_stop(sched, &stop);
    is_int(stop, GLT_FALSE, "it goes on");
    glt_scheduler_finish(sched);
    glt_scheduler_exit(sched);
    glt_scheduler_has_to_stop(sched, &stop);
    is_int(stop, GLT_TRUE, "it has to stop");
    glt_scheduler_free(&sched);
    ok(sched == GLT_SCHED_NULL, "it is freed");
    glt_scheduler_config_free(&config);

    glt_scheduler_config_create(&config, GLT_sched_config_var_end);
    glt_scheduler_create_basic(GLT_SCHED_BASIC, 1, pools, config, &sched);
    ok(sched != GLT_SCHED_NULL, "a predefined scheduler");
    glt_scheduler_free(&sched);
    glt_scheduler_config_free(&config);
}

/* The stderr of a child that calls a function with that setting. It ends by the signal, or by 0. */
static void says(const char *what, void (*function)(void), const char *name, const char *setting, int sig,
                 const char *text)
{
    int ends[2], status = 0;
    char said[1024] = "";
    size_t len = 0;

    if (pipe(ends) != 0)
        bail_out("pipe");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        setenv(name, setting, 1);
        signal(SIGABRT, SIG_DFL);
        function();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], said + len, sizeof(said) - 1 - len)) > 0;)
        len += (size_t)n;
    close(ends[0]);
    waitpid(pid, &status, 0);
    ok(sig ? WIFSIGNALED(status) && WTERMSIG(status) == sig : WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "%s: it ends as it should (%d)", what, status);
    ok(text == NULL ? said[0] == '\0' : strstr(said, text) != NULL, "%s: it says what it should: %s", what, said);
}

static void fail_to_unlock(void)
{
    glt_mutex_unlock(GLT_MUTEX_NULL);
}

static void ask_for_events(void)
{
    int id = 0;

    glt_event_add_callback(GLT_EVENT_ADD_XSTREAM, NULL, NULL, NULL, NULL, &id);
    glt_event_del_callback(GLT_EVENT_ADD_XSTREAM, id);
    if (id != -1)
        abort();
}

static void begin(void)
{
    glt_init(0, NULL);
    glt_finalize();
}

static volatile int negative = -1;

static void ask_for_handles(void)
{
    if (glt_ult_malloc(negative) != NULL)
        _exit(1);
}

static void begin_twice(void)
{
    for (int i = 0; i < 3; i++)
        begin();
}

static void errors(void)
{
    char text[64] = "";
    size_t length = 0;

    says("a wrong handle", fail_to_unlock, "GLT_ERRORS", "", SIGABRT, "GLT: glt_mutex_unlock: ");
    says("ignored", fail_to_unlock, "GLT_ERRORS", "ignore", 0, NULL);
    says("events", ask_for_events, "GLT_ERRORS", "", 0, "GLT: there are no events");
    says("more pools than threads", begin, "GLT_NUM_POOLS", "5", SIGABRT,
         "GLT: GLT_NUM_POOLS=5 is not a number from 1 to 4");
    says("no number", begin, "GLT_NUM_THREADS", "4x", SIGABRT, "GLT: GLT_NUM_THREADS=4x is not");
    /* Sanitizers end a program that asks for too much. */
    if (!UNDER_ASAN && !UNDER_TSAN) {
        says("out of memory", ask_for_handles, "GLT_ERRORS", "", SIGABRT, "GLT: glt_ult_malloc: out of memory");
        says("out of memory, ignored", ask_for_handles, "GLT_ERRORS", "ignore", 0, NULL);
    }
    says("three times", begin_twice, "GLT_NUM_THREADS", "3", 0, NULL);
    glt_get_error_str(1, text, &length);
    ok(strlen(text) > 0 && length == strlen(text), "glt_get_error_str: %s", text);
    glt_get_error_str(123456, text, &length);
    is_str(text, "unknown code", "a code that there is not");
}

int main(int argc, char **argv)
{
    watchdog_begin(0);
    setenv("GLT_NUM_THREADS", "4", 1);
    setenv("GLT_NUM_POOLS", "2", 1);
    errors();
    glt_init(argc, argv);
    threads();
    units();
    places();
    selves();
    mutexes();
    values();
    schedulers();
    glt_finalize();
    return done_testing();
}
