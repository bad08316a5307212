/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MIN_BATCHES = 3, MAX_BATCHES = 100000, PATIENCE = 8 };

int suite_streams = 1;
double suite_budget_ns;
int suite_quick;

double suite_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

void suite_sleep(long ns)
{
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

void suite_compute(long ns)
{
    double end = suite_now_ns() + (double)ns;
    while (suite_now_ns() < end)
        ;
}

void suite_expect(long got, long expected, const char *what)
{
    if (got == expected)
        return;
    fprintf(stderr, "wrong answer: %s is %ld, not %ld\n", what, got, expected);
    exit(1);
}

void suite_add(struct suite_samples *samples, double ns)
{
    if (samples->num == samples->room) {
        samples->room = samples->room ? 2 * samples->room : 256;
        samples->ns = realloc(samples->ns, (size_t)samples->room * sizeof(double));
        if (!samples->ns) {
            perror("realloc");
            exit(1);
        }
    }
    samples->ns[samples->num++] = ns;
}

static void measure(struct suite_samples *samples, void (*batch)(void *), void *arg, double operations, int least)
{
    double start = suite_now_ns(), now = start;
    for (long i = 0; i < MAX_BATCHES && (i < least || now - start < suite_budget_ns); i++) {
        if (i > 0 && now - start > PATIENCE * suite_budget_ns)
            break;
        double before = now;
        batch(arg);
        now = suite_now_ns();
        suite_add(samples, (now - before) / operations);
    }
}

void suite_measure(struct suite_samples *samples, void (*batch)(void *), void *arg, double operations)
{
    batch(arg);
    measure(samples, batch, arg, operations, MIN_BATCHES);
}

void suite_measure_long(struct suite_samples *samples, void (*batch)(void *), void *arg, double operations)
{
    measure(samples, batch, arg, operations, 1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void suite_report(struct suite_samples *samples, int num)
{
    struct suite_samples all = {NULL, 0, 0};
    double sum = 0;

    for (int i = 0; i < num; i++) {
        for (long k = 0; k < samples[i].num; k++) {
            suite_add(&all, samples[i].ns[k]);
            sum += samples[i].ns[k];
        }
        free(samples[i].ns);
        samples[i] = (struct suite_samples){NULL, 0, 0};
    }
    if (all.num == 0) {
        fprintf(stderr, "nothing measured\n");
        exit(1);
    }
    qsort(all.ns, (size_t)all.num, sizeof(double), by_value);
    printf("{\"ns\": %.4f, \"min\": %.4f, \"avg\": %.4f, \"max\": %.4f, \"batches\": %ld}\n", all.ns[all.num / 2],
           all.ns[0], sum / (double)all.num, all.ns[all.num - 1], all.num);
    fflush(stdout);
    free(all.ns);
}

void suite_run(void (*batch)(void *), void *arg, double operations)
{
    struct suite_samples samples = {NULL, 0, 0};
    suite_measure(&samples, batch, arg, operations);
    suite_report(&samples, 1);
}

void suite_run_long(void (*batch)(void *), void *arg, double operations)
{
    struct suite_samples samples = {NULL, 0, 0};
    suite_measure_long(&samples, batch, arg, operations);
    suite_report(&samples, 1);
}

void suite_run_steps(enum suite_step step, void (*create)(void *), void (*join)(void *), void *arg, double operations)
{
    struct suite_samples samples = {NULL, 0, 0};
    double start = suite_now_ns(), end = start;

    for (long i = 0; i < MAX_BATCHES && (i <= MIN_BATCHES || end - start < suite_budget_ns); i++) {
        double begin = suite_now_ns();
        create(arg);
        double made = suite_now_ns();
        join(arg);
        end = suite_now_ns();
        double times[] = {[SUITE_CREATE] = made - begin, [SUITE_JOIN] = end - made, [SUITE_BOTH] = end - begin};
        if (i > 0) /* the first one warms up */
            suite_add(&samples, times[step] / operations);
    }
    suite_report(&samples, 1);
}

long suite_resident(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) {
        perror("/proc/self/statm");
        exit(1);
    }
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static int list(const struct suite_work *works, int num)
{
    for (int i = 0; i < num; i++)
        printf("%s\t%s\t%s\n", works[i].work, works[i].series, works[i].streams);
    return 0;
}

int suite_main(int argc, char **argv, const struct suite_work *works, int num)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list(works, num);
    if (argc != 6 || strcmp(argv[1], "run") != 0) {
        fprintf(stderr, "usage: %s list | run WORK SERIES STREAMS MILLISECONDS\n", argv[0]);
        return 2;
    }
    suite_streams = atoi(argv[4]);
    suite_budget_ns = atof(argv[5]) * 1e6;
    suite_quick = getenv("BENCH_QUICK") != NULL;
    if (suite_streams < 1 || suite_streams > SUITE_MAX_STREAMS)
        return 2;
    for (int i = 0; i < num; i++) {
        if (strcmp(works[i].work, argv[2]) == 0 && strcmp(works[i].series, argv[3]) == 0) {
            works[i].run(&works[i]);
            return 0;
        }
    }
    fprintf(stderr, "%s: no work %s, %s\n", argv[0], argv[2], argv[3]);
    return 2;
}
