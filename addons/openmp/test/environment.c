/* SPDX-License-Identifier: BSD-3-Clause */
/* What variables have for an effect: each case is run by this program, with its variable, and what it prints is read.
 */
#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "emulated.h"
#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

/* -- The cases -- */

static void open_region(void)
{
    int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
    members++;
    printf("members %d\n", members);
}

enum { TOO_MANY = 32768 };

static void open_too_many(void)
{
    int members = 0;
#pragma omp parallel num_threads(TOO_MANY)
    __atomic_fetch_add(&members, 1, __ATOMIC_RELAXED);
    printf("members %d\n", members);
}

static void open_teams(void)
{
    int teams = 0;
#pragma omp teams reduction(+ : teams)
    teams++;
    printf("teams %d\n", teams);
}

/* The initial task does not wait for it. */
static void make_task(void)
{
#pragma omp task priority(1)
    printf("ran\n");
}

enum { TASKS = 300000, MOST_KIB = 32 * 1024 };

static void print_growth(const struct rusage *before, int ran)
{
    struct rusage after;
    getrusage(RUSAGE_SELF, &after);
    long kib = after.ru_maxrss - before->ru_maxrss;
    if (kib > MOST_KIB)
        fprintf(stderr, "%ld KiB\n", kib);
    printf("%d of %d, %s memory\n", ran, TASKS, kib > MOST_KIB ? "much" : "little");
}

/* One member makes many tasks, each with an address of its own, or a priority, and does not wait for them. */
static void make_dependent_tasks(void)
{
    static char addresses[TASKS];
    struct rusage before;
    int ran = 0;
    memset(addresses, 1, sizeof(addresses));
    getrusage(RUSAGE_SELF, &before);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < TASKS; i++)
#pragma omp task depend(out : addresses[i]) shared(ran)
        __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
    print_growth(&before, ran);
}

static void make_tasks_with_priorities(void)
{
    struct rusage before;
    int ran = 0;
    getrusage(RUSAGE_SELF, &before);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < TASKS; i++)
#pragma omp task priority(i % 7) shared(ran)
        __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
    print_growth(&before, ran);
}

/* Each task has a priority of its own, which is lower than that of its maker: so nearly all of them are ready at once.
 */
static void grow_tree(int level, int number, int *ran)
{
    enum { EACH = 40, WIDTH = EACH * EACH * EACH };
    __atomic_fetch_add(ran, 1, __ATOMIC_RELAXED);
    for (int i = 0; level > 0 && i < EACH; i++) {
#pragma omp task priority(level *WIDTH + number * EACH + i)
        grow_tree(level - 1, number * EACH + i, ran);
    }
}

static void make_tree(void)
{
    int ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    grow_tree(3, 0, &ran);
    printf("ran %d\n", ran);
}

/* Some priorities come twice; of these the older task is first. */
static void make_ordered_tasks(void)
{
    enum { NUM = 60, KINDS = 37 };
    int last = (KINDS + 1) * NUM, wrong = 0, ran = 0;
#pragma omp parallel num_threads(1)
    {
        for (int i = 0; i < NUM; i++) {
            int priority = 1 + i * 17 % KINDS, place = priority * NUM + NUM - i;
#pragma omp task priority(priority) shared(last, wrong, ran) firstprivate(place)
            {
                wrong += place >= last;
                last = place;
                ran++;
            }
        }
#pragma omp taskwait
    }
    printf("ran %d, wrong %d\n", ran, wrong);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"region", open_region},
             {"too many", open_too_many},
             {"teams", open_teams},
             {"task", make_task},
             {"tree", make_tree},
             {"order", make_ordered_tasks},
             {"dependent", make_dependent_tasks},
             {"priorities", make_tasks_with_priorities}};

/* -- Running them -- */

static char program[PATH_MAX], text[8192];

static int run_program(void *arg)
{
    const char **words = arg;
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setenv("OMP_AFFINITY_FORMAT", "level %L member %n of %N", 1);
    if (words[1])
        setenv(words[1], words[2], 1);
    execl(program, program, words[0], (char *)NULL);
    return 127;
}

/* Puts what it prints into `text`. Returns how it ends. */
static int run_case(const char *name, const char *variable, const char *value)
{
    const char *words[] = {name, variable, value};
    return child_run(run_program, words, text, sizeof(text));
}

static bool has_printed(const char *words)
{
    if (strstr(text, words))
        return true;
    fprintf(stderr, "# not \"%s\": %s\n", words, text);
    return false;
}

static void test_display(void)
{
    is_int(run_case("region", "OMP_DISPLAY_AFFINITY", "true"), 0, "affinity is displayed");
    ok(has_printed("level 1 member 0 of 3") && has_printed("level 1 member 1 of 3") &&
           has_printed("level 1 member 2 of 3"),
       "of each member, as it is in the region");
}

static void test_stacks(void)
{
    is_int(run_case("region", "OMP_STACKSIZE", "8k"), 0, "a size of stacks that is too small");
    ok(has_printed("OMP_STACKSIZE is ignored") && has_printed("members 3"), "is ignored, which is reported");
    ok(run_case("region", "OMP_STACKSIZE", "200000G") != 0, "one that is too large ends the program");
    ok(has_printed("the system gives no thread"), "which says why");
}

static void test_priorities(void)
{
    (void)run_case("order", "OMP_MAX_TASK_PRIORITY", "100");
    ok(has_printed("ran 60, wrong 0"), "tasks run by their priorities, the oldest one first");
    (void)run_case("tree", "OMP_MAX_TASK_PRIORITY", "1000000");
    ok(has_printed("ran 65641"), "many tasks with priorities of their own run");
}

static void test_sizes(void)
{
    (void)run_case("too many", NULL, NULL);
    ok(has_printed("libabtomp: a region has more members"), "a region that has more than there are numbers says so");
    (void)run_case("too many", "OMP_THREAD_LIMIT", "3");
    ok(has_printed("members 3"), "but where a limit allows only few");
}

static void test_memory(void)
{
    if (UNDER_ASAN || UNDER_TSAN) {
        skip(3, "a sanitizer needs memory for each task");
        return;
    }
    (void)run_case("dependent", NULL, NULL);
    ok(has_printed("300000 of 300000, little"), "tasks that have ended keep no memory by their dependences");
    (void)run_case("priorities", NULL, NULL);
    ok(has_printed("300000 of 300000, little"), "tasks with priorities that have no effect are bounded");
    (void)run_case("priorities", "OMP_MAX_TASK_PRIORITY", "5");
    ok(has_printed("300000 of 300000, little"), "and those with an effect");
}

/* What LLVM's variables are, as variables of OpenMP, in a program that has asked for libomp.so.5. */
static const struct {
    const char *name, *value, *words;
} of_llvm[] = {
    {"KMP_STACKSIZE", "1048576", "OMP_STACKSIZE = '1048576B'"},
    {"KMP_STACKSIZE", "2m", "OMP_STACKSIZE = '2097152B'"},
    {"KMP_BLOCKTIME", "0", "OMP_WAIT_POLICY = 'PASSIVE'"},
    {"KMP_BLOCKTIME", "infinite", "OMP_WAIT_POLICY = 'ACTIVE'"},
    {"KMP_LIBRARY", "turnaround", "OMP_WAIT_POLICY = 'ACTIVE'"},
    {"KMP_LIBRARY", "serial", "OMP_NUM_THREADS = '1'"},
    {"KMP_DEVICE_THREAD_LIMIT", "7", "OMP_THREAD_LIMIT = '7'"},
    {"KMP_TEAMS_THREAD_LIMIT", "7", "OMP_TEAMS_THREAD_LIMIT = '7'"},
    {"KMP_AFFINITY", "granularity=fine,compact,1,0", "OMP_PROC_BIND = 'CLOSE'"},
    {"KMP_AFFINITY", "Scatter", "OMP_PROC_BIND = 'SPREAD'"},
    {"KMP_AFFINITY", "explicit,proclist=[0]", "OMP_PLACES = '{0}'"},
    {"KMP_AFFINITY", "disabled", "OMP_PROC_BIND = 'FALSE'"},
    {"KMP_HW_SUBSET", "1c", "KMP_HW_SUBSET has no effect"},
};

static void test_llvm(void)
{
    char directory[PATH_MAX], library[PATH_MAX];
    strcpy(directory, program);
    *strrchr(directory, '/') = '\0';
    snprintf(library, sizeof(library), "%.2000s/../../../.libs/abtomp/libomp.so.5", directory);
    if (UNDER_ASAN || UNDER_TSAN || access(library, R_OK) != 0) {
        skip(3, "a sanitizer has to be loaded first");
        return;
    }
    int wrong = 0;
    setenv("OMP_DISPLAY_ENV", "true", 1);
    (void)run_case("region", "KMP_STACKSIZE", "2m");
    ok(!strstr(text, "KMP_") && !strstr(text, "2097152B"), "a program of gcc has none of LLVM's variables");
    setenv("LD_PRELOAD", library, 1);
    for (size_t i = 0; i < sizeof(of_llvm) / sizeof(of_llvm[0]); i++) {
        (void)run_case("region", of_llvm[i].name, of_llvm[i].value);
        if (!has_printed(of_llvm[i].words)) {
            diag("%s=%s", of_llvm[i].name, of_llvm[i].value);
            wrong++;
        }
    }
    is_int(wrong, 0, "LLVM's variables are read as those of OpenMP");
    setenv("KMP_STACKSIZE", "2m", 1);
    (void)run_case("region", "OMP_STACKSIZE", "3m");
    unsetenv("KMP_STACKSIZE");
    ok(has_printed("OMP_STACKSIZE = '3145728B'"), "which go before them");
    unsetenv("LD_PRELOAD");
    unsetenv("OMP_DISPLAY_ENV");
}

int main(int argc, char **argv)
{
    watchdog_begin(0);
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    if (is_emulated() || readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
        skip_all("an emulator cannot run the program itself");
    test_display();
    is_int(run_case("teams", "OMP_NUM_TEAMS", "3"), 0, "OMP_NUM_TEAMS");
    ok(has_printed("teams 3"), "says how many teams there are");
    is_int(run_case("task", "OMP_MAX_TASK_PRIORITY", "5"), 0, "a task of the initial task that nobody waits for");
    ok(has_printed("ran"), "runs");
    test_stacks();
    test_priorities();
    test_sizes();
    test_memory();
    test_llvm();
    return done_testing();
}
