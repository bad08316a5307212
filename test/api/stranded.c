/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_finalize with blocked units: it is said what they wait for, with or without ABT_CHECK. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "common.h"
#include "watchdog.h"

static ABT_mutex mutex;
static ABT_eventual eventual;

static void suspends(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_self_suspend());
    must(ABT_mutex_unlock(mutex));
}

static void locks(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_unlock(mutex));
}

static void waits(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static ABT_thread suspended;

static void joins(void *arg)
{
    must(ABT_thread_join(suspended));
}

static void create(ABT_pool pool, void (*func)(void *), ABT_thread *thread)
{
    must(ABT_thread_create(pool, func, NULL, ABT_THREAD_ATTR_NULL, thread));
}

/* What a native thread reads of the child until some words have come. */
static char words[8192];
static size_t len;

static bool hear(int fd, const char *what)
{
    while (!strstr(words, what)) {
        ssize_t n = read(fd, words + len, sizeof(words) - 1 - len);
        if (n <= 0)
            return false;
        len += (size_t)n;
        words[len] = '\0';
    }
    return true;
}

static void *wake(void *arg)
{
    char byte;
    if (read(*(int *)arg, &byte, 1) == 1) {
        must(ABT_eventual_set(eventual, NULL, 0));
        must(ABT_thread_resume(suspended));
    }
    return NULL;
}

/* It ends when a native thread, which is told by way of `fd`, has woken the units. */
static void finalize_late(int fd)
{
    pthread_t thread;

    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    must(ABT_eventual_create(0, &eventual));
    create(main_pool(), suspends, &suspended);
    create(main_pool(), locks, NULL);
    create(main_pool(), waits, NULL);
    create(main_pool(), joins, NULL);
    must(pthread_create(&thread, NULL, wake, &fd));
    must(ABT_finalize());
    must(pthread_join(thread, NULL));
}

/* Nobody waits for a unit that is blocked out of a pool of two schedulers. */
static void finalize_at_once(int fd)
{
    ABT_sched sched;
    ABT_pool pool = main_pool();

    must(ABT_eventual_create(0, &eventual));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    create(pool, waits, NULL);
    must(ABT_self_yield());
    must(ABT_finalize());
}

static void init_and_finalize_at_once(int fd)
{
    must(ABT_init(0, NULL));
    finalize_at_once(fd);
}

static void sleeps(void *arg)
{
    must(ABTX_self_sleep(1500000000));
}

static void finalize_sleeping(int fd)
{
    must(ABT_init(0, NULL));
    create(main_pool(), sleeps, NULL);
    must(ABT_finalize());
}

struct child {
    pid_t pid;
    int says, hears;
};

static struct child begin(const char *check, void (*act)(int fd))
{
    int out[2], in[2];

    must(pipe(out));
    must(pipe(in));
    fflush(stdout);
    len = 0;
    words[0] = '\0';
    pid_t child = fork();
    if (child == 0) {
        must(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}));
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        close(in[1]);
        must(setenv("ABT_USE_LOG", "0", 1)); /* a log goes the same way */
        must(setenv("ABT_CHECK", check, 1));
        act(in[0]);
        _exit(0);
    }
    close(out[1]);
    close(in[0]);
    return (struct child){child, out[0], in[1]};
}

/* Tells the child to go on, and waits for its end. */
static int end(struct child *child)
{
    int status;

    if (write(child->hears, "", 1) != 1)
        diag("the child has gone");
    (void)!hear(child->says, "until it has closed its end");
    close(child->hears);
    close(child->says);
    waitpid(child->pid, &status, 0);
    return status;
}

static void test_late(const char *check)
{
    struct child child = begin(check, finalize_late);

    /* The last of the units is told last. */
    ok(hear(child.says, "waits for the end of"), "ABT_CHECK=%s: what finalize waits for is said", check);
    ok(strstr(words, "libabt: ABT_finalize: 4 blocked work units, "), "there are four");
    ok(strstr(words, " waits to be resumed") != NULL, "one is suspended");
    ok(strstr(words, " waits for mutex 0x") != NULL, "one waits for a mutex");
    ok(strstr(words, " waits for eventual 0x") != NULL, "one waits for an eventual");
    bool has_creator = strstr(words, ", created by the primary ULT,") && strstr(words, " held by ULT ");
    is_int(has_creator, check[0] == '1', "creators and owners are told if they are known");
    int status = end(&child);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ends when they are woken");
    char *again = strstr(words, "ABT_finalize");
    ok(again && !strstr(again + 1, "ABT_finalize"), "and nothing is said twice");
}

static void test_abort(void)
{
    struct child child = begin("abort", finalize_late);
    ok(hear(child.says, "waits for the end of"), "ABT_CHECK=abort: what finalize waits for is said");
    int status;
    waitpid(child.pid, &status, 0);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "and the program ends");
    close(child.hears);
    close(child.says);
}

static void test_at_once(void)
{
    struct child child = begin("0", init_and_finalize_at_once);
    ok(hear(child.says, " waits for eventual 0x"), "a unit that finalize does not wait for is told");
    ok(strstr(words, "libabt: ABT_finalize: 1 blocked work unit, which never end"), "it never ends");
    int status;
    waitpid(child.pid, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "finalize returns");
    close(child.hears);
    close(child.says);
}

static void test_sleeping(void)
{
    struct child child = begin("1", finalize_sleeping);
    int status;
    waitpid(child.pid, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a unit that sleeps ends");
    ok(!hear(child.says, "libabt"), "and nothing is said of it");
    close(child.hears);
    close(child.says);
}

int main(void)
{
    watchdog_begin(0);
    signal(SIGPIPE, SIG_IGN);
    test_late("0");
    test_late("1");
    test_abort();
    test_at_once();
    test_sleeping();
    return done_testing();
}
