/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What memory costs: how long creations take one by one, starting the library and streams, bytes for each unit, and
 * guards. Figures with a limit are marked OVER when they miss it.
 */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "stress/memory.h"

enum { ROUNDS = 15, UNITS = 1000 };

static int over;

static void report(const char *what, double value, const char *unit, double limit)
{
    printf("%-66s %10.2f %-5s", what, value, unit);
    if (limit > 0) {
        printf(" at most %g%s", limit, value > limit ? "  OVER" : "");
        over += value > limit;
    }
    printf("\n");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(values[0]), by_value);
    return values[n / 2];
}

static void nothing(void *arg)
{
    (void)arg;
}

static ABT_pool pool;
static ABT_thread units[100000];

static void find_pool(void)
{
    ABT_xstream es;
    CHECK(ABT_self_get_xstream(&es));
    CHECK(ABT_xstream_get_main_pools(es, 1, &pool));
}

/* --- How long a creation takes: a histogram by powers of two --- */

struct histogram {
    const char *name;
    long bins[40]; /* bin i: less than 2^i ns, and no less than half of that */
    long num;
};

static void note(struct histogram *h, double ns)
{
    int bin = 0;
    while (bin < 39 && ns >= (double)(1l << bin))
        bin++;
    h->bins[bin]++;
    h->num++;
}

/* ns that all but one in `one_in` take less than, to the next power of two. */
static double quantile(const struct histogram *h, long one_in)
{
    long above = h->num / one_in;
    for (int bin = 39; bin >= 0; bin--) {
        above -= h->bins[bin];
        if (above < 0)
            return (double)(1l << bin);
    }
    return 0;
}

static void print_histogram(const struct histogram *h, double limit_us)
{
    char text[128];

    printf("%s\n", h->name);
    for (int bin = 0; bin < 40; bin++) {
        if (h->bins[bin] > 0)
            printf("    under %10.3f us %12ld\n", (double)(1l << bin) / 1e3, h->bins[bin]);
    }
    snprintf(text, sizeof(text), "    99.99 %% are under");
    report(text, quantile(h, 10000) / 1e3, "us", limit_us);
}

/* Nothing of ours happens in these: what the machine does to any program. */
static void time_nothing(struct histogram *h, long n)
{
    for (long i = 0; i < n; i++) {
        double start = bench_now_ns();
        __asm__ volatile("" : : : "memory");
        note(h, bench_now_ns() - start);
    }
}

/* All of them are outstanding at once, so that magazines, runs and chunks are gone through. */
static void time_creations(struct histogram *h, ABT_thread_attr attr, int at_once, int rounds)
{
    for (int r = -1; r < rounds; r++) {
        for (int i = 0; i < at_once; i++) {
            double start = bench_now_ns();
            ABT_thread_create(pool, nothing, NULL, attr, &units[i]);
            double ns = bench_now_ns() - start;
            if (r >= 0)
                note(h, ns);
        }
        CHECK(ABT_thread_free_many(at_once, units));
    }
}

static void run_histograms(void)
{
    static struct histogram none = {.name = "two looks at the clock, for comparison"},
                            warm = {.name = "create, 1,000 outstanding"},
                            many = {.name = "create, 100,000 outstanding"},
                            custom = {.name = "create with a stack of 64 KiB, 1,000 outstanding"};
    ABT_thread_attr attr;

    CHECK(ABT_init(0, NULL));
    find_pool();
    CHECK(ABT_thread_attr_create(&attr));
    CHECK(ABT_thread_attr_set_stacksize(attr, 65536));
    time_nothing(&none, 1000000);
    time_creations(&warm, ABT_THREAD_ATTR_NULL, UNITS, 1000);
    time_creations(&many, ABT_THREAD_ATTR_NULL, 100000, 10);
    time_creations(&custom, attr, UNITS, 1000);
    CHECK(ABT_thread_attr_free(&attr));
    CHECK(ABT_finalize());
    print_histogram(&none, 0);
    print_histogram(&warm, 20);
    print_histogram(&many, 20);
    print_histogram(&custom, 20);
}

/* --- Starting --- */

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void run_start_up(void)
{
    double us[ROUNDS];
    long faults = 0, first = page_faults();

    double start = bench_now_ns();
    CHECK(ABT_init(0, NULL));
    CHECK(ABT_finalize());
    double once = (bench_now_ns() - start) / 1e3;
    first = page_faults() - first;
    for (int r = 0; r < ROUNDS; r++) {
        faults = page_faults();
        start = bench_now_ns();
        CHECK(ABT_init(0, NULL));
        CHECK(ABT_finalize());
        us[r] = (bench_now_ns() - start) / 1e3;
        faults = page_faults() - faults;
    }
    report("ABT_init + ABT_finalize, the first time", once, "us", 0);
    report("    page faults, those of the code among them", (double)first, "", 100);
    report("ABT_init + ABT_finalize", median(us, ROUNDS), "us", 150);
    report("    page faults", (double)faults, "", 100);
}

static void *native_nothing(void *arg)
{
    return arg;
}

static void run_streams(void)
{
    double ours[10 * ROUNDS], native[10 * ROUNDS];

    CHECK(ABT_init(0, NULL));
    for (int r = -1; r < 10 * ROUNDS; r++) {
        pthread_t thread;
        ABT_xstream es;
        double start = bench_now_ns();
        if (pthread_create(&thread, NULL, native_nothing, NULL) || pthread_join(thread, NULL))
            exit(1);
        double middle = bench_now_ns();
        CHECK(ABT_xstream_create(ABT_SCHED_NULL, &es));
        CHECK(ABT_xstream_join(es));
        CHECK(ABT_xstream_free(&es));
        ours[r < 0 ? 0 : r] = (bench_now_ns() - middle) / 1e3;
        native[r < 0 ? 0 : r] = (middle - start) / 1e3;
    }
    CHECK(ABT_finalize());
    double pthread_us = median(native, 10 * ROUNDS), stream_us = median(ours, 10 * ROUNDS);
    report("a pthread: create + join", pthread_us, "us", 0);
    report("a stream: create + join + free", stream_us, "us", 0);
    report("    as a multiple", stream_us / pthread_us, "x", 1.5);
}

/* --- Bytes --- */

static void suspend_once(void *arg)
{
    (void)arg;
    CHECK(ABT_self_suspend());
}

static void create_all(int num, void (*body)(void *))
{
    for (int i = 0; i < num; i++)
        CHECK(ABT_thread_create(pool, body, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
}

static void yield_until_blocked(void)
{
    size_t left;

    do {
        CHECK(ABT_self_yield());
        CHECK(ABT_pool_get_size(pool, &left));
    } while (left > 0);
}

static void resume_and_free_all(int num)
{
    for (int i = 0; i < num; i++)
        CHECK(ABT_thread_resume(units[i]));
    CHECK(ABT_thread_free_many(num, units));
}

static void run_bytes(void)
{
    enum { NUM = 100000 };

    memset(units, 0, sizeof(units));
    CHECK(ABT_init(0, NULL));
    find_pool();
    long before = resident_kib();
    create_all(NUM, suspend_once);
    long created = resident_kib();
    yield_until_blocked();
    long blocked = resident_kib();
    resume_and_free_all(NUM);
    CHECK(ABT_finalize());
    report("a ULT that has not run", (double)(created - before) * 1024 / NUM, "bytes", 128);
    report("a ULT that is blocked", (double)(blocked - before) * 1024 / NUM, "bytes", 128 + (double)getpagesize());
}

/* --- Giving back --- */

static void touch_and_suspend(void *arg)
{
    char room[6 * 1024];

    memset(room, 1, sizeof(room));
    __asm__ volatile("" : : "r"(room) : "memory");
    suspend_once(arg);
}

static void run_giving_back(void)
{
    enum { NUM = 20000, STEP_US = 10000 };
    const double limit = 1.1;
    double seconds = 0;

    memset(units, 0, sizeof(units));
    CHECK(ABT_init(0, NULL));
    find_pool();
    long before = resident_kib();
    create_all(NUM, touch_and_suspend);
    yield_until_blocked();
    long most = resident_kib();
    resume_and_free_all(NUM);
    double start = bench_now_ns();
    while ((double)resident_kib() > limit * (double)before && seconds < 10) {
        usleep(STEP_US);
        seconds = (bench_now_ns() - start) / 1e9;
    }
    report("20,000 ULTs that have ended: memory, when they were there", (double)most / (double)before, "x", 0);
    report("    now", (double)resident_kib() / (double)before, "x", limit);
    report("    seconds until then", seconds, "s", 1);
    CHECK(ABT_finalize());
}

/* --- Guards and custom stacks --- */

static void once_more(void *arg)
{
    (void)arg;
    ABT_thread_yield();
}

static double cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ns for a unit to be created, to run and to be freed; with yields, each on a stack of its own. */
static double create_free(void (*func)(void *), ABT_thread_attr attr)
{
    enum { REPEAT = 40 };
    double start = cpu_ns();
    for (int r = 0; r < REPEAT; r++) {
        for (int i = 0; i < UNITS; i++)
            ABT_thread_create(pool, func, NULL, attr, &units[i]);
        ABT_thread_free_many(UNITS, units);
    }
    return (cpu_ns() - start) / REPEAT / UNITS;
}

static double best_with(const char *check, void (*func)(void *), size_t stacksize)
{
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    double best = 1e30;

    setenv("ABT_STACK_OVERFLOW_CHECK", check, 1);
    CHECK(ABT_init(0, NULL));
    unsetenv("ABT_STACK_OVERFLOW_CHECK");
    find_pool();
    if (stacksize > 0) {
        CHECK(ABT_thread_attr_create(&attr));
        CHECK(ABT_thread_attr_set_stacksize(attr, stacksize));
    }
    for (int r = 0; r < 5; r++) {
        double ns = create_free(func, attr);
        best = ns < best ? ns : best;
    }
    if (stacksize > 0)
        CHECK(ABT_thread_attr_free(&attr));
    CHECK(ABT_finalize());
    return best;
}

/* Interleaved, and the best of each: the machine only ever adds. */
static void compare_guards(const char *what, void (*func)(void *))
{
    double with = 1e30, without = 1e30;
    char text[128];

    for (int r = 0; r < ROUNDS; r++) {
        double ns = best_with("none", func, 0);
        without = ns < without ? ns : without;
        ns = best_with("auto", func, 0);
        with = ns < with ? ns : with;
    }
    snprintf(text, sizeof(text), "%s, no guards", what);
    report(text, without, "ns", 0);
    snprintf(text, sizeof(text), "%s, guards", what);
    report(text, with, "ns", 0);
    report("    more", 100 * (with - without) / without, "%", 2);
}

int main(void)
{
    bench_stay_on_one_core();
    run_start_up(); /* first: that is what it measures */
    run_streams();
    run_giving_back();
    run_bytes();
    compare_guards("create + run + join + free", nothing);
    compare_guards("the same, each on a stack of its own", once_more);
    report("the same, each on a stack of its own of 64 KiB", best_with("auto", once_more, 65536), "ns", 0);
    report("the same, of 2 MiB", best_with("auto", once_more, 2 << 20), "ns", 0);
    report("the same, of 32 MiB: a mapping each", best_with("auto", once_more, 32 << 20), "ns", 0);
    run_histograms();
    return over > 0 ? 1 : 0;
}
