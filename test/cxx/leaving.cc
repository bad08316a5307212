/* SPDX-License-Identifier: BSD-3-Clause */
// An exception that leaves a unit's function ends the program, with the function named. Nobody else's handler gets it.
#include <abt.h>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.hh"
#include "watchdog.h"

extern "C" void careless(void *);
extern "C" void careless(void *)
{
    throw std::runtime_error("nobody wants me");
}

static ABT_pool pool;

static void begin()
{
    ABT_xstream primary;
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&primary));
    must(ABT_xstream_get_main_pools(primary, 1, &pool));
}

static void in_place()
{
    ABT_thread thread;
    must(ABT_thread_create(pool, careless, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static void on_its_own()
{
    ABT_thread thread;
    must(ABT_thread_create(pool, careless, NULL, ABT_THREAD_ATTR_NULL, &thread));
    ABT_thread_yield();
    must(ABT_thread_free(&thread));
}

static void in_a_row()
{
    ABT_thread threads[3];
    for (ABT_thread &thread : threads)
        must(ABT_thread_create(pool, careless, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free_many(3, threads));
}

static void as_tasklet()
{
    ABT_task task;
    must(ABT_task_create(pool, careless, NULL, &task));
    must(ABT_task_free(&task));
}

static void elsewhere()
{
    ABT_xstream es;
    ABT_thread thread;
    must(ABT_xstream_create(ABT_SCHED_NULL, &es));
    must(ABT_thread_create_on_xstream(es, careless, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
}

static int sched_init(ABT_sched, ABT_sched_config)
{
    return ABT_SUCCESS;
}

static void sched_run(ABT_sched sched)
{
    ABT_unit next;
    ABT_pool own;
    must(ABT_sched_get_pools(sched, 1, 0, &own));
    try {
        for (;;) {
            must(ABT_pool_pop(own, &next));
            if (next != ABT_UNIT_NULL)
                must(ABT_xstream_run_unit(next, own));
        }
    } catch (...) {
        std::fputs("caught by the scheduler\n", stderr);
    }
}

// A tasklet on the stack of a scheduler that catches everything.
static void on_a_catcher()
{
    ABT_sched_def def = {};
    ABT_sched sched;
    ABT_pool own;
    ABT_xstream es;
    ABT_task task;
    def.type = ABT_SCHED_TYPE_ULT;
    def.init = sched_init;
    def.run = sched_run;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &own));
    must(ABT_sched_create(&def, 1, &own, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    must(ABT_task_create(own, careless, NULL, &task));
    must(ABT_task_free(&task));
}

static std::string words;

// What wait() says of a child that does this; `words` are its last.
static int run_child(void (*act)())
{
    int fds[2], status = 0;
    if (pipe(fds))
        std::abort();
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGABRT, SIG_DFL);
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        begin();
        try {
            act();
        } catch (...) {
            std::fputs("caught by the joiner\n", stderr);
        }
        _exit(0);
    }
    close(fds[1]);
    words.clear();
    char part[512];
    for (ssize_t n; (n = read(fds[0], part, sizeof(part))) > 0;)
        words.append(part, static_cast<std::size_t>(n));
    close(fds[0]);
    waitpid(child, &status, 0);
    return status;
}

static bool said(const char *text)
{
    if (words.find(text) != std::string::npos)
        return true;
    std::fprintf(stderr, "# no \"%s\" in:\n# %s\n", text, words.c_str());
    return false;
}

static void test(void (*act)(), const char *kind, const char *what)
{
    int status = run_child(act);
    std::string line = std::string("libabt: an exception leaves the function of ") + kind;
    bool right = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    right = said(line.c_str()) && said("careless") && said("nobody wants me") && right;
    ok(right && words.find("caught by") == std::string::npos, what);
}

int main()
{
    watchdog_begin(0);
    test(in_place, "ULT", "a ULT in place");
    test(on_its_own, "ULT", "a ULT on a stack of its own");
    test(in_a_row, "ULT", "a ULT of a row");
    test(as_tasklet, "tasklet", "a tasklet");
    test(elsewhere, "ULT", "a ULT on another stream");
    test(on_a_catcher, "tasklet", "a tasklet that is run by a scheduler which catches everything");
    return done_testing();
}
