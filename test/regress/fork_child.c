/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with one stream forks: the child goes on with the library, whatever the thread that gives memory back was
 * doing at that moment; it does not have that thread, and must neither wait for it nor find a lock held that it held.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>

#include "emulated.h"
#include "regress.h"

enum { FEW = 60, NUM = 600, MANY = 5000, CHILD_SECONDS = 30 };

/* Many units at once, each with a stack; when they are freed, there are more free stacks than are kept. */
static void burst(int num)
{
    static ABT_thread threads[MANY];
    ABT_pool pool;

    must(ABT_self_get_last_pool(&pool));
    for (int i = 0; i < num; i++)
        must(ABT_thread_create(pool, unit_yields, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_thread_free_many(num, threads));
}

/* -1: the system does not tell. */
static int num_native_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    int num = 0;

    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        num += entry->d_name[0] != '.';
    closedir(dir);
    return num;
}

static void child_begins(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(CHILD_SECONDS);
}

/* Of a child that should say 0. It is ended when it hangs. */
static void await(pid_t child, const char *what)
{
    int status = -1;

    if (child < 0)
        bail_out("fork: %s", strerror(errno));
    if (waitpid(child, &status, 0) != child)
        bail_out("waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status))
        diag("signal %d", WTERMSIG(status));
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", what);
}

static void test_finalize(void)
{
    pid_t child = fork();

    if (child == 0) {
        child_begins();
        burst(10);
        _exit(ABT_finalize() == ABT_SUCCESS && ABT_initialized() == ABT_ERR_UNINITIALIZED ? 0 : 1);
    }
    await(child, "the child ends the library");
}

static void test_init_again(void)
{
    pid_t child = fork();

    if (child == 0) {
        child_begins();
        must(ABT_finalize());
        must(ABT_init(0, NULL));
        burst(NUM);
        _exit(ABT_finalize() == ABT_SUCCESS ? 0 : 1);
    }
    await(child, "the child ends the library and starts it again");
}

static void test_thread_again(void)
{
    pid_t child = fork();

    if (child == 0) {
        child_begins();
        int before = num_native_threads();
        burst(NUM);
        int after = num_native_threads();
        _exit(before < 0 || (before == 1 && after == 2) ? 0 : 1);
    }
    await(child, "the child gives memory back, too");
}

static pid_t forked;

static void fork_in_unit(void *arg)
{
    forked = fork();
    if (forked == 0)
        child_begins();
    must(ABT_self_yield());
}

static void test_in_unit(ABT_pool pool)
{
    ABT_thread thread = ult_in(pool, fork_in_unit, NULL);
    must(ABT_thread_free(&thread));
    if (forked == 0) {
        burst(NUM);
        _exit(ABT_finalize() == ABT_SUCCESS ? 0 : 1);
    }
    await(forked, "a unit forks, and the child's main function goes on");
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * What is free is given back when it has not been needed for a tenth of a second, or two: for that long we do nothing
 * but fork, and some of the forks come in the midst of it. Of the children some found a lock held then.
 */
static bool fork_for_a_while(int *children)
{
    enum { A_WHILE_MS = 350 };
    uint64_t end = now_ms() + A_WHILE_MS;

    for (; now_ms() < end; ++*children) {
        pid_t child = fork();
        if (child == 0) {
            child_begins();
            burst(FEW);
            _exit(0);
        }
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            diag("child %d hung or failed: status %d", *children, status);
            return false;
        }
    }
    return true;
}

static void test_many(void)
{
    int children = 0;
    bool good = true;

    for (int i = 0; i < 8 && good; i++) {
        burst(MANY);
        good = fork_for_a_while(&children);
    }
    ok(good, "%d children do their work", children);
}

/* With several streams the child can still do what has nothing to do with them. */
static void test_streams(void)
{
    ABT_xstream es = new_xstream();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_begins();
            char *text = malloc(100);
            bool is_up = ABT_initialized() == ABT_SUCCESS;
            free(text);
            if (i % 2 && is_up)
                execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
            _exit(is_up ? 0 : 1);
        }
        await(child, "a child of a program with two streams");
    }
    must(ABT_xstream_free(&es));
}

int main(void)
{
    if (is_emulated())
        skip_all("an emulator knows no threads of a child");
    if (!FORKS_WITH_THREADS)
        skip_all("a sanitizer's locks may be held in the child of a process with several threads");
    ABT_pool pool;

    regress_begin();
    must(setenv("ABT_MEM_MAX_NUM_STACKS", "32", 1));
    must(ABT_init(0, NULL));
    must(ABT_self_get_last_pool(&pool));
    int before = num_native_threads();
    burst(NUM);
    int after = num_native_threads();
    ok(before < 0 || after > before, "there is a thread that gives memory back (%d, %d)", before, after);
    test_finalize();
    test_init_again();
    test_thread_again();
    test_in_unit(pool);
    test_many();
    test_streams();
    must(ABT_finalize());
    return done_testing();
}
