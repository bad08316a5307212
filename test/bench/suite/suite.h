/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of the benchmark suite share, ours and the peers'. A program measures one work per invocation, so
 * that maint/bench can interleave all of them:
 *
 *   program list                         one line for each work: name, TAB, series, TAB, and the number of streams: 1,
 *                                        2 or more (2), or any (*)
 *   program run WORK SERIES STREAMS MS   measures for about MS milliseconds and prints one line of JSON
 *
 * A work is named alike in all programs and checks its answer. BENCH_QUICK=1 in the environment makes large works
 * small.
 */
#ifndef ABT_TEST_BENCH_SUITE_H
#define ABT_TEST_BENCH_SUITE_H

#ifdef __cplusplus
extern "C" {
#endif

#define SUITE_MAX_STREAMS 64

/* The times of batches, per operation; one for each thread that measures. */
struct suite_samples {
    double *ns;
    long num, room;
};

struct suite_work {
    const char *work;
    const char *series;  /* which way of several, "" if there is one */
    const char *streams; /* "1", "2" for at least so many, or "*" for any number */
    void (*run)(const struct suite_work *work);
    long n;      /* for the work's own use */
    int variant; /* likewise */
};

/* From the command line. */
extern int suite_streams;
extern double suite_budget_ns;
extern int suite_quick;

double suite_now_ns(void);

/* For so many nanoseconds. */
void suite_sleep(long ns);
void suite_compute(long ns);

/* Ends the program: a wrong answer must not become a figure. */
void suite_expect(long got, long expected, const char *what);

/* Calls batch(arg), once to warm up and then again and again within the budget, and adds the time of each call divided
 * by operations. */
void suite_measure(struct suite_samples *samples, void (*batch)(void *), void *arg, double operations);

/* The same for batches that are long: no call to warm up, and at least one. */
void suite_measure_long(struct suite_samples *samples, void (*batch)(void *), void *arg, double operations);

/* Adds one figure. */
void suite_add(struct suite_samples *samples, double ns);

/* Prints minimum, average, maximum and median of all samples, and frees them. */
void suite_report(struct suite_samples *samples, int num);

/* For the common case of one measuring thread. */
void suite_run(void (*batch)(void *), void *arg, double operations);
void suite_run_long(void (*batch)(void *), void *arg, double operations);

/* Many units by one creator: the time of create(arg), or of join(arg) after it, or of both. */
enum suite_step { SUITE_CREATE, SUITE_JOIN, SUITE_BOTH };
void suite_run_steps(enum suite_step step, void (*create)(void *), void (*join)(void *), void *arg, double operations);

/* Bytes of memory that the process holds. */
long suite_resident(void);

int suite_main(int argc, char **argv, const struct suite_work *works, int num);

#ifdef __cplusplus
}
#endif

#endif
