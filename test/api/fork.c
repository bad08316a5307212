/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork() in a program with several streams: in the child the library begins anew, whoever has forked. A child ends with
 * 0 when all was right in it.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <abt_fork.h>
#include <abt_source.h>

#include "emulated.h"
#include "must.h"
#include "sanitizers.h"
#include "watchdog.h"

enum { NUM = 200, NUM_STREAMS = 3, CHILD_SECONDS = 60, RETURNS = 7 };

static ABT_xstream streams[NUM_STREAMS];
static ABT_pool pools[NUM_STREAMS];

/* A child that hangs is ended by the alarm. */
static void child_begins(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(CHILD_SECONDS);
}

static void await(pid_t child, int code, const char *what)
{
    int status = -1;

    if (child < 0 || waitpid(child, &status, 0) != child)
        bail_out("fork or waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status))
        diag("signal %d", WTERMSIG(status));
    ok(WIFEXITED(status) && WEXITSTATUS(status) == code, "%s (status %x)", what, status);
}

struct shared {
    ABT_mutex mutex;
    int count;
};

static void count(void *arg)
{
    struct shared *shared = arg;

    must(ABT_mutex_lock(shared->mutex));
    int old = shared->count;
    must(ABT_self_yield());
    shared->count = old + 1;
    must(ABT_mutex_unlock(shared->mutex));
}

/* Units of the pool run, with a mutex that is fought for. */
static bool works_in(ABT_pool pool)
{
    ABT_thread threads[NUM];
    struct shared shared = {.count = 0};

    must(ABT_mutex_create(&shared.mutex));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(pool, count, &shared, ABT_THREAD_ATTR_NULL, &threads[i]));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_free(&threads[i]));
    must(ABT_mutex_free(&shared.mutex));
    return shared.count == NUM;
}

static bool works(void)
{
    ABT_pool pool;
    int num;

    must(ABT_self_get_last_pool(&pool));
    must(ABT_xstream_get_num(&num));
    return num == 1 && works_in(pool);
}

ABTX_VOID_TASK(set, (atomic_bool *, flag))
{
    (void)abtx_here;
    atomic_store(flag, true);
}

/* Ends when another stream has run the task. */
ABTX_VOID_TASK(wait_for_other)
{
    atomic_bool flag = false;
    ABTX_FORK(set, other, &flag);
    while (!atomic_load(&flag))
        must(ABT_self_yield());
    ABTX_JOIN(set, other);
}

static bool works_on_streams(void)
{
    ABT_xstream more[NUM_STREAMS];
    bool good = true;

    for (int i = 0; i < NUM_STREAMS; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &more[i]));
    must(ABTX_fork_start(NUM_STREAMS, more));
    for (int i = 0; i < 10; i++)
        ABTX_RUN(wait_for_other);
    for (int i = 0; i < NUM_STREAMS; i++) {
        ABT_pool pool;
        must(ABT_xstream_get_main_pools(more[i], 1, &pool));
        good &= works_in(pool);
    }
    for (int i = 0; i < NUM_STREAMS; i++)
        must(ABT_xstream_free(&more[i]));
    return good;
}

static void end_child(void)
{
    bool good =
        works() && works_on_streams() && ABT_finalize() == ABT_SUCCESS && ABT_initialized() == ABT_ERR_UNINITIALIZED;
    if (good) {
        must(ABT_init(0, NULL));
        good = works();
        must(ABT_finalize());
    }
    _exit(good ? 0 : 1);
}

/* Keeps the streams busy, and their locks taken now and then. */
static _Atomic(bool) busy;

static void create_all_the_time(void *arg)
{
    ABT_pool pool = arg;

    while (busy) {
        ABT_thread threads[8];
        for (int i = 0; i < 8; i++)
            must(ABT_thread_create(pool, unit_yields, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
        must(ABT_thread_free_many(8, threads));
    }
}

static void test_primary(void)
{
    pid_t child = fork();

    if (child == 0) {
        child_begins();
        end_child();
    }
    await(child, 0, "the primary ULT forks: its child works, ends the library and begins again");

    child = fork();
    if (child == 0) {
        child_begins();
        execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
        _exit(1);
    }
    await(child, 3, "its child becomes another program");

    child = fork();
    if (child == 0) {
        child_begins();
        pid_t grandchild = works_on_streams() ? fork() : -1;
        int status = 1;
        if (grandchild == 0)
            end_child();
        _exit(grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild && status == 0 ? 0 : 1);
    }
    await(child, 0, "its child forks, too");
}

static void test_busy(void)
{
    ABT_thread threads[NUM_STREAMS];
    bool good = true;

    busy = true;
    for (int i = 0; i < NUM_STREAMS; i++)
        must(ABT_thread_create(pools[i], create_all_the_time, pools[(i + 1) % NUM_STREAMS], ABT_THREAD_ATTR_NULL,
                               &threads[i]));
    for (int i = 0; i < 40 && good; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            child_begins();
            _exit(works() ? 0 : 1);
        }
        good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    }
    busy = false;
    must(ABT_thread_free_many(NUM_STREAMS, threads));
    ok(good, "whatever the other streams were doing");
}

static pid_t forked;

static void fork_and_work(void *arg)
{
    forked = fork();
    if (forked == 0) {
        child_begins();
        end_child();
    }
}

static void fork_and_return(void *arg)
{
    forked = fork();
    if (forked == 0) {
        child_begins();
        if (!works())
            _exit(1);
    }
}

/* The function returns in the child, and the process ends with the handlers of atexit. */
static void set_status(void)
{
    if (forked == 0)
        _exit(RETURNS);
}

static void test_units(void)
{
    ABT_task task;
    ABT_pool mine;

    must(ABT_self_get_last_pool(&mine));
    ABT_thread thread = ult_in(pools[0], fork_and_work, NULL);
    must(ABT_thread_free(&thread));
    await(forked, 0, "a ULT of another stream forks");
    must(ABT_thread_create(pools[0], fork_and_return, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    await(forked, RETURNS, "its function returns in the child, which ends");
    must(ABT_thread_create(mine, fork_and_return, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    await(forked, RETURNS, "so it does in place");
    ABT_thread row[2];
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(mine, i ? fork_and_return : unit_yields, NULL, ABT_THREAD_ATTR_NULL, &row[i]));
    must(ABT_thread_free_many(2, row));
    await(forked, RETURNS, "and in a row");
    must(ABT_task_create(pools[0], fork_and_work, NULL, &task));
    must(ABT_task_free(&task));
    await(forked, 0, "a tasklet forks");
    must(ABT_task_create(pools[0], fork_and_return, NULL, &task));
    must(ABT_task_free(&task));
    await(forked, RETURNS, "its function returns in the child, which ends");
}

static void *fork_in_thread(void *arg)
{
    fork_and_work(arg);
    return NULL;
}

/* A forker forks the process, when it has tasks that nobody has taken, and idle streams have asked for them. */
ABTX_VOID_TASK(fork_amid_tasks)
{
    atomic_bool flag = false;
    ABTX_FORK(set, one, &flag);
    ABTX_FORK(set, two, &flag);
    forked = fork();
    if (forked == 0)
        child_begins();
    ABTX_JOIN(set, two);
    ABTX_JOIN(set, one);
    if (forked == 0)
        end_child();
}

static void test_forker(void)
{
    for (int i = 0; i < 5; i++) {
        ABTX_RUN(fork_amid_tasks);
        await(forked, 0, "a ULT that has forked tasks forks");
    }
    must(ABTX_fork_start(NUM_STREAMS, streams));
    ABTX_RUN(wait_for_other);
    pid_t child = fork();
    if (child == 0) {
        child_begins();
        end_child();
    }
    await(child, 0, "streams of the parent that waited for tasks are not waited for");
    ABTX_RUN(wait_for_other);
    must(ABTX_fork_stop());
}

static ABT_bool give_nothing(void *arg, struct abtx_work *work)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    return ABT_FALSE;
}

static void test_sources(void)
{
    struct abtx_source *source;
    atomic_int asked = 0;

    must(ABTX_source_open(give_nothing, &asked, 0, streams[0], &source));
    while (atomic_load(&asked) == 0)
        nap_ms(1);
    pid_t child = fork();
    if (child == 0) {
        child_begins();
        ABTX_source_close(source);
        _exit(0);
    }
    await(child, 0, "a source of a stream of the parent can be closed in the child");
    ABTX_source_close(source);
}

static void test_external(void)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, fork_in_thread, NULL));
    must(pthread_join(thread, NULL));
    await(forked, 0, "an external thread forks, and is the primary ULT in the child");
}

int main(void)
{
    if (is_emulated())
        skip_all("an emulator knows no threads of a child");
    if (!FORKS_WITH_THREADS)
        skip_all("a sanitizer's locks may be held in the child of a process with several threads");
    watchdog_begin(0);
    must(ABT_init(0, NULL));
    must(atexit(set_status));
    for (int i = 0; i < NUM_STREAMS; i++) {
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
        must(ABT_xstream_get_main_pools(streams[i], 1, &pools[i]));
    }
    forked = 1;
    test_primary();
    test_busy();
    test_units();
    test_external();
    test_forker();
    test_sources();
    for (int i = 0; i < NUM_STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return done_testing();
}
