/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks and members that wait at objects of libabt or in libabtio give their thread to tasks: what they wait for is
 * done by tasks that come later.
 */
#include <abt.h>
#include <abtio.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "must.h"
#include "tap.h"
#include "watchdog.h"

enum { TASKS = 8, ROUNDS = 30, MOST_TASKS = 400, US = 1000 };

static ABT_eventual eventuals[MOST_TASKS];
static int threads, wrong;
static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
#pragma omp threadprivate(wrong)

/* Regions may have fewer threads than this one. */
static int sum_of_wrong(void)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        sum += wrong;
        wrong = 0;
    }
    return sum;
}

static void begin(int num)
{
    for (int i = 0; i < num; i++)
        must(ABT_eventual_create(0, &eventuals[i]));
}

static void end(int num)
{
    for (int i = 0; i < num; i++)
        must(ABT_eventual_free(&eventuals[i]));
}

/* Waits, and looks whether it is where and what it was. */
static void wait_for(int i)
{
    int number = omp_get_thread_num(), size = omp_get_num_threads(), *address = &wrong;
    int most = omp_get_max_threads();
    must(ABT_eventual_wait(eventuals[i], NULL));
    wrong += number != omp_get_thread_num() || size != omp_get_num_threads() || address != &wrong ||
             most != omp_get_max_threads();
}

static void set(int i)
{
    must(ABT_eventual_set(eventuals[i], NULL, 0));
}

/* The first tasks wait for the last ones. Some have control variables of their own. */
static void tasks(int num)
{
    begin(num);
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        for (int i = 0; i < num; i++) {
#pragma omp task firstprivate(i)
            {
                if (i % 3 == 0)
                    omp_set_num_threads(10 + i);
                wait_for(i);
                wrong += i % 3 == 0 && omp_get_max_threads() != 10 + i;
            }
        }
        for (int i = 0; i < num; i++) {
#pragma omp task firstprivate(i)
            {
                wrong += omp_get_max_threads() >= 10;
                set(i);
            }
        }
    }
    end(num);
}

static void many_tasks(void)
{
    for (int i = 0; i < ROUNDS; i++)
        tasks(TASKS);
    is_int(sum_of_wrong(), 0, "%d threads: tasks wait for later ones", threads);
    tasks(MOST_TASKS);
    is_int(sum_of_wrong(), 0, "%d threads: so many that their maker has to run some in other programs", threads);
}

/* By dependences, priorities and groups; what waits has children. */
static void kinds_of_tasks(void)
{
    int sum = 0;
    begin(2 * TASKS);
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
        char token = 0;
        (void)token; /* only its address is used */
#pragma omp task depend(out : token) firstprivate(i) priority(1)
        wait_for(i);
#pragma omp task depend(in : token) shared(sum) firstprivate(i)
        {
#pragma omp taskgroup
            {
#pragma omp task firstprivate(i)
                wait_for(TASKS + i);
#pragma omp task firstprivate(i)
                set(TASKS + i);
            }
#pragma omp atomic
            sum++;
        }
#pragma omp task firstprivate(i)
        set(i);
    }
    end(2 * TASKS);
    is_int(sum, TASKS, "%d threads: dependences and groups of tasks that wait", threads);
    is_int(sum_of_wrong(), 0, "%d threads: they are where they were", threads);
}

/* Members wait, not in a task, for a task that one of them has made before. */
static void members(void)
{
    begin(TASKS);
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(threads)
        {
            int me = omp_get_thread_num();
#pragma omp task firstprivate(me)
            set(me);
            wait_for(me);
#pragma omp barrier
            must(ABT_eventual_reset(eventuals[me]));
        }
    }
    end(TASKS);
    is_int(sum_of_wrong(), 0, "%d threads: members wait for their own tasks", threads);
}

static void take(int kind)
{
    if (kind == 0)
        omp_set_lock(&lock);
    else
        omp_set_nest_lock(&nest_lock);
}

static void give(int kind)
{
    if (kind == 0)
        omp_unset_lock(&lock);
    else
        omp_unset_nest_lock(&nest_lock);
}

/* Who holds it waits for a task that a thread runs after one that wants the lock. */
static void locks(void)
{
    int counts[3] = {0};
    begin(3 * TASKS);
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 3 * TASKS; i++) {
#pragma omp task firstprivate(i) shared(counts)
        if (i % 3 == 2) {
#pragma omp critical
            {
                wait_for(i);
                counts[2]++;
            }
        } else {
            take(i % 3);
            wait_for(i);
            counts[i % 3]++;
            give(i % 3);
        }
#pragma omp task firstprivate(i)
        set(i);
    }
    end(3 * TASKS);
    for (int i = 0; i < 3; i++)
        is_int(counts[i], TASKS, "%d threads: a lock, a nestable lock, or critical, held in a wait", threads);
    is_int(sum_of_wrong(), 0, "%d threads: each wait is its own", threads);
}

/* Reads are under way at once: each gets its byte from a task that comes after all of them. */
static void reads(const abtio_config *config)
{
    int fds[TASKS][2], failed = 0;
    must(ABT_init(0, NULL));
    is_int(abtio_init(config), 0, "abtio_init");
    for (int i = 0; i < TASKS; i++)
        failed += socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]) != 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i) shared(fds)
            {
                char byte = 0;
                wrong += abtio_read(fds[i][0], &byte, 1, ABTIO_FOREVER) != 1 || byte != 'x';
            }
        }
        for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i) shared(fds)
            wrong += abtio_write(fds[i][1], "x", 1, ABTIO_FOREVER) != 1;
        }
    }
    for (int i = 0; i < TASKS; i++)
        failed += close(fds[i][0]) + close(fds[i][1]);
    is_int(failed + sum_of_wrong(), 0, "%d threads: reads in tasks, %s", threads,
           config->backend == ABTIO_BACKEND_THREADS ? "by threads" : "by what there is");
    is_int(abtio_finalize(), 0, "abtio_finalize");
    must(ABT_finalize());
}

/* Tasks that wait and tasks that do not, in trees, so that members wait for children on other threads. */
static int tree(int depth)
{
    int left = 0, right = 0;
    if (depth == 0) {
        must(ABTX_self_sleep(US));
        return 1;
    }
#pragma omp task shared(left) firstprivate(depth)
    left = tree(depth - 1);
#pragma omp task shared(right) firstprivate(depth)
    right = tree(depth - 1);
#pragma omp taskwait
    return left + right;
}

static void trees(void)
{
    int leaves = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    leaves = tree(8);
    is_int(leaves, 256, "%d threads: a tree whose leaves sleep", threads);
}

/* Of a ULT: what it is told, and how many members its region has. */
static void count_members(void *arg)
{
    int *counts = arg;
    counts[0] = omp_get_max_threads();
#pragma omp parallel
#pragma omp atomic
    counts[1]++;
}

/* The other streams have units of their own to run. */
static void shares_of_streams(void)
{
    ABT_thread ult;
    int counts[2] = {0}, share = omp_get_num_procs() / 2;
    ABT_xstream xstream = new_xstream();
    must(ABT_thread_create_on_xstream(xstream, count_members, counts, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    must(ABT_xstream_join(xstream));
    must(ABT_xstream_free(&xstream));
    is_int(counts[0], share > 0 ? share : 1, "a region in a ULT has the processors less those of other streams");
    is_int(counts[1], counts[0], "it has as many members as that");
}

/* Who holds a native mutex waits, and another task of its thread wants that. */
static int take_native(void *arg)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    setenv("ABT_DEADLOCK_CHECK", "abort", 1);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        {
            pthread_mutex_lock(&mutex);
            must(ABTX_self_sleep(US));
            pthread_mutex_unlock(&mutex);
        }
    }
    return 0;
}

/* The check for deadlocks tells it, and ends the program. */
static void native_mutexes(void)
{
    char text[4096];
    is_int(child_run(take_native, NULL, text, sizeof(text)), 128 + SIGABRT,
           "a native mutex held in such a wait ends the program under the check for deadlocks");
    ok(strstr(text, "waits for native mutex"), "which tells it");
}

/* One of two members has had no tasks, and waits. Its thread is the only one that is left for what it waits for. */
static void *member_without_tasks(void *arg)
{
    int done = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        wait_for(0);
    } else {
#pragma omp task shared(done)
        {
            set(0);
#pragma omp atomic write
            done = 1;
        }
        for (int seen = 0; !seen; usleep(US)) {
#pragma omp atomic read
            seen = done;
        }
    }
    ok(done, "the thread of a member that waits takes tasks, though it has had none");
    return arg;
}

static void waits_without_tasks(void)
{
    pthread_t root; /* whose members are new */
    begin(1);
    pthread_create(&root, NULL, member_without_tasks, NULL);
    pthread_join(root, NULL);
    end(1);
}

/* Members that are streams have no ranks of the program's, and do not count. */
static void ranks(void)
{
    int rank = -1, num = 0;
#pragma omp parallel num_threads(4)
#pragma omp task
    (void)omp_get_thread_num();
    ABT_xstream stream = new_xstream();
    must(ABT_xstream_get_rank(stream, &rank));
    must(ABT_xstream_get_num(&num));
    must(ABT_xstream_free(&stream));
    is_int(rank, 1, "the program's second stream has rank 1, whatever streams members are");
    is_int(num, 2, "and there are two");
}

/* As long as nobody has set up libabt a thread that has no tasks is no stream. */
static void streams(void)
{
    int before = 0, after = 0;
#pragma omp parallel num_threads(4) reduction(+ : before, after)
    {
        int rank;
        before += ABT_self_get_xstream_rank(&rank) == ABT_SUCCESS;
#pragma omp task
        (void)omp_get_thread_num();
        after += ABT_self_get_xstream_rank(&rank) == ABT_SUCCESS;
    }
    is_int(before, 0, "members that have no tasks are no streams");
    is_int(after, 4, "members that have tasks are");
}

static void all(int num)
{
    static const abtio_config configs[] = {{.backend = ABTIO_BACKEND_AUTO}, {.backend = ABTIO_BACKEND_THREADS}};
    threads = num;
    trees();
    many_tasks();
    kinds_of_tasks();
    members();
    locks();
    for (int i = 0; i < 2; i++)
        reads(&configs[i]);
}

int main(void)
{
    watchdog_begin(0);
    unsetenv("OMP_NUM_THREADS"); /* it has not been read yet */
    native_mutexes();
    streams();
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    omp_set_max_active_levels(2);
    must(ABT_init(0, NULL)); /* the thread is a stream of the program */
    shares_of_streams();
    waits_without_tasks();
    ranks();
    all(2);
    all(4);
    must(ABT_finalize());
    all(2); /* from now on libabtomp has made it one */
    all(1);
    all(4);
    all(3);
    return done_testing();
}
