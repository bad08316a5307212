/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the example programs that lie beside this one, on one execution stream and on all cores, checks what they answer
 * and prints a table. The last column is the same job without the library: by OpenMP where that is fit for it and
 * there, otherwise by plain sequential code. Exit status 1 when any answer is wrong.
 */
#include "team.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xs_grid.h"

enum { MAX_SECONDS = 120, PLAIN_PERIOD = 5 };

struct job {
    const char *label;
    const char *command;   /* the program and its arguments, to which -e is added */
    const char *published; /* answer */
    const char *openmp;    /* the same job in OpenMP, or NULL */
    int has_sequential;
    int on_request; /* only with --long */
};

static const struct job jobs[] = {
    {"UTS T1", "uts -t T1", "4130071/10/3305118", NULL, 1, 0},
    {"UTS T3", "uts -t T3", "4112897/1572/3599034", NULL, 1, 0},
    {"UTS T5", "uts -t T5", "4147582/20/2181318", NULL, 1, 0},
    {"UTS T2", "uts -t T2", "4117769/81/2342762", NULL, 1, 0},
    {"UTS T1L", "uts -t T1L", "102181082/13/81746377", NULL, 1, 1},
    {"N-Queens 8", "nqueens -n 8", "92", "openmp 8", 1, 0},
    {"N-Queens 9", "nqueens -n 9", "352", "openmp 9", 1, 0},
    {"N-Queens 10", "nqueens -n 10", "724", "openmp 10", 1, 0},
    {"N-Queens 11", "nqueens -n 11", "2680", "openmp 11", 1, 0},
    {"N-Queens 12", "nqueens -n 12", "14200", "openmp 12", 1, 0},
    {"N-Queens 13", "nqueens -n 13", "73712", "openmp 13", 1, 0},
    {"N-Queens 13, cut", "nqueens -n 13 -c 5", "73712", NULL, 1, 0},
    {"nested loops", "nested", "500049500000", "openmp", 1, 0},
    {"lookups, random", "xs -b 0", XS_CHECKSUM, NULL, 1, 0},
    {"lookups, energy", "xs", XS_CHECKSUM, "openmp xs", 1, 0},
    {"custom scheduler", "custom_sched", "80000:40000:20000", NULL, 0, 0},
    {"custom pool", "custom_pool", "3323", NULL, 1, 0},
    {"external threads", "external", "664579", NULL, 1, 0},
    {"server, epoll", "server", "1370457600", NULL, 0, 0},
};

struct result {
    char answer[64];
    long units;
    double seconds;
};

static char directory[4096];

/* Says on the standard error how long a job has been running: in place on a terminal, else a line now and then. */
static void show_progress(const char *label, const char *how, int seconds)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s, %s: %d s ", label, how, seconds);
    else if (seconds == 1 || seconds % PLAIN_PERIOD == 0)
        fprintf(stderr, "%s, %s: running for %d s\n", label, how, seconds);
}

static void end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%60s\r", "");
}

/* In the child: becomes the program. */
static void execute(const char *command, const char *more, int out)
{
    char line[256], path[4352], *args[16];
    int num = 0;

    snprintf(line, sizeof(line), "%s %s", command, more);
    for (char *word = strtok(line, " "); word && num < 15; word = strtok(NULL, " "))
        args[num++] = word;
    args[num] = NULL;
    snprintf(path, sizeof(path), "%s/%s", directory, args[0]);
    dup2(out, STDOUT_FILENO);
    alarm(MAX_SECONDS); /* a program that hangs is ended by a signal */
    execv(path, args);
    _exit(127);
}

/* Runs a program to its end and reads what it reports. An answer that starts with an exclamation mark is none. */
static void run(const struct job *job, const char *command, const char *more, const char *how, struct result *result)
{
    char text[512];
    size_t length = 0;
    ssize_t got = 1;
    int fds[2], status = 0, seconds = 0;

    if (pipe(fds) != 0)
        abort();
    pid_t child = fork();
    if (child == 0)
        execute(command, more, fds[1]);
    close(fds[1]);
    while (got > 0) {
        struct pollfd input = {fds[0], POLLIN, 0};
        if (poll(&input, 1, 1000) == 0) {
            show_progress(job->label, how, ++seconds);
            continue;
        }
        got = read(fds[0], text + length, sizeof(text) - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    close(fds[0]);
    waitpid(child, &status, 0);
    if (seconds > 0)
        end_progress();

    memset(result, 0, sizeof(*result));
    if (WIFSIGNALED(status))
        snprintf(result->answer, sizeof(result->answer), "!%s", strsignal(WTERMSIG(status)));
    else if (sscanf(text, "%*[^:]: answer %63s published %*s units %ld seconds %lf", result->answer, &result->units,
                    &result->seconds) != 3 ||
             WEXITSTATUS(status) > 1)
        snprintf(result->answer, sizeof(result->answer), "!exit status %d", WEXITSTATUS(status));
}

static int is_built(const char *command)
{
    char path[4352];
    snprintf(path, sizeof(path), "%s/%.*s", directory, (int)strcspn(command, " "), command);
    return access(path, X_OK) == 0;
}

static int num_run; /* jobs */

/* Runs a job up to three times and prints its line. Gives 1 when an answer is wrong. */
static int run_job(const struct job *job, int num_cores)
{
    struct result one, all, other = {"", 0, 0};
    const struct result *shown = &one;
    const char *how = NULL;
    char streams[32];

    if (!is_built(job->command)) {
        printf("%-17s not built: what it needs was not found by configure\n", job->label);
        return 0;
    }
    num_run++;
    snprintf(streams, sizeof(streams), "-e %d", num_cores);
    run(job, job->command, "-e 1", "1 stream", &one);
    run(job, job->command, streams, "all cores", &all);
    if (job->openmp && is_built(job->openmp))
        run(job, job->openmp, "", how = "OpenMP", &other);
    else if (job->has_sequential)
        run(job, job->command, "-e 0", how = "sequential", &other);

    /* The line shows the first wrong answer. */
    if (strcmp(shown->answer, job->published) == 0)
        shown = &all;
    if (strcmp(shown->answer, job->published) == 0 && how)
        shown = &other;
    int ok = strcmp(shown->answer, job->published) == 0;
    printf("%-17s %-21s %-21s %-5s %8ld %9.4f %9.4f %8.0f ", job->label, shown->answer, job->published,
           ok ? "ok" : "WRONG", one.units, one.seconds, all.seconds,
           one.units ? 1e9 * one.seconds / (double)one.units : 0);
    if (how)
        printf("%9.4f %s\n", other.seconds, how);
    else
        printf("%9s\n", "-");
    fflush(stdout);
    return !ok;
}

static void print_head(int num_cores)
{
    char heading[32];
    printf("Real programs on libabt: each runs on 1 execution stream (ES), then on %d, then without the library.\n"
           "Its answer is compared with what is published. UTS, the unbalanced tree search, counts a tree whose\n"
           "shape nobody knows beforehand: its answer is nodes/depth/leaves. N-Queens counts solutions.\n"
           "Lookups are those of cross sections: their answer is a checksum.\n\n",
           num_cores);
    snprintf(heading, sizeof(heading), "%d ES, s", num_cores);
    printf("%-17s %-21s %-21s %-5s %8s %9s %9s %8s %9s\n", "job", "answer", "published", "check", "units", "1 ES, s",
           heading, "ns/unit", "other, s");
}

int main(int argc, char **argv)
{
    int num_cores = team_num_cores(), num_wrong = 0;
    int with_long = argc == 2 && strcmp(argv[1], "--long") == 0;

    if (argc > 1 && !with_long) {
        fprintf(stderr, "usage: %s [--long]\n", argv[0]);
        return 2;
    }
    const char *slash = strrchr(argv[0], '/');
    snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    setenv("OMP_WAIT_POLICY", "passive", 0); /* by far the better one for nested loops */

    print_head(num_cores);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        if (with_long || !jobs[i].on_request)
            num_wrong += run_job(&jobs[i], num_cores);
    }
    printf("\nns/unit: on 1 ES, with the work that the unit does. other: the same job without the library.\n");
    if (num_wrong > 0)
        printf("Verdict: %d of %d jobs are WRONG.\n", num_wrong, num_run);
    else
        printf("Verdict: all %d jobs gave the right answers, on 1 and on %d execution streams.\n", num_run, num_cores);
    return num_wrong > 0;
}
