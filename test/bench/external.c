/*
 * External pthreads on our mutex, cond and barrier, beside pthread's own objects in the same run: wall and CPU time of
 * the same work, in interleaved rounds, and the ratio of the medians. Threads that are not more than the cores get one
 * each: left to the system, two often share a core, where they never meet, and what is compared is where they were put.
 * Options: the number of rounds; a number of threads, and a work by the beginning of its name, to measure nothing else.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include "bench.h"

enum { MAX_THREADS = 256, MAX_ROUNDS = 101 };

/* One kind of objects. */
struct kind {
    void (*lock)(void), (*unlock)(void);
    void (*wait)(void), (*signal)(void), (*broadcast)(void);
    void (*meet)(void);
};

static ABT_mutex abt_mutex;
static ABT_cond abt_cond;
static ABT_barrier abt_barrier;
static pthread_mutex_t native_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t native_cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t native_barrier;

static void abt_lock(void)
{
    ABT_mutex_lock(abt_mutex);
}

static void abt_unlock(void)
{
    ABT_mutex_unlock(abt_mutex);
}

static void abt_wait(void)
{
    ABT_cond_wait(abt_cond, abt_mutex);
}

static void abt_signal(void)
{
    ABT_cond_signal(abt_cond);
}

static void abt_broadcast(void)
{
    ABT_cond_broadcast(abt_cond);
}

static void abt_meet(void)
{
    ABT_barrier_wait(abt_barrier);
}

static void native_lock(void)
{
    pthread_mutex_lock(&native_mutex);
}

static void native_unlock(void)
{
    pthread_mutex_unlock(&native_mutex);
}

static void native_wait(void)
{
    pthread_cond_wait(&native_cond, &native_mutex);
}

static void native_signal(void)
{
    pthread_cond_signal(&native_cond);
}

static void native_broadcast(void)
{
    pthread_cond_broadcast(&native_cond);
}

static void native_meet(void)
{
    pthread_barrier_wait(&native_barrier);
}

static const struct kind abt = {abt_lock, abt_unlock, abt_wait, abt_signal, abt_broadcast, abt_meet};
static const struct kind native = {native_lock,   native_unlock,    native_wait,
                                   native_signal, native_broadcast, native_meet};

/* What the threads of one measurement share. */
static struct {
    const struct kind *kind;
    void *(*body)(void *);
    int threads;
    long each; /* operations of one thread */
    long count, tokens, generation;
    int here;
} run;

static void *locks(void *arg)
{
    for (long n = run.each; n > 0; n--) {
        run.kind->lock();
        run.count++;
        run.kind->unlock();
    }
    return arg;
}

/* Half of the threads make tokens and the others take them; alone, a thread does both. */
static void *signals(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (long n = run.each; n > 0; n--) {
        run.kind->lock();
        if (me % 2 == 0) {
            run.tokens++;
            run.kind->signal();
        }
        if (me % 2 == 1 || run.threads == 1) {
            while (run.tokens == 0)
                run.kind->wait();
            run.tokens--;
        }
        run.kind->unlock();
    }
    return arg;
}

/* The last one to come wakes the others. */
static void *broadcasts(void *arg)
{
    for (long n = run.each; n > 0; n--) {
        run.kind->lock();
        long mine = run.generation;
        if (++run.here == run.threads) {
            run.here = 0;
            run.generation++;
            run.kind->broadcast();
        }
        while (mine == run.generation)
            run.kind->wait();
        run.kind->unlock();
    }
    return arg;
}

static void *meets(void *arg)
{
    for (long n = run.each; n > 0; n--)
        run.kind->meet();
    return arg;
}

static void *begin(void *arg)
{
    if (run.threads <= bench_cpus())
        bench_stay_on_core((int)(intptr_t)arg);
    return run.body(arg);
}

static double cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

static void measure(const struct kind *kind, void *(*body)(void *), int threads, long total, double *wall, double *cpu)
{
    pthread_t ids[MAX_THREADS];
    run.kind = kind;
    run.body = body;
    run.threads = threads;
    run.each = total / threads;
    run.tokens = run.here = 0;
    *wall = bench_now_ns();
    *cpu = cpu_ns();
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, begin, (void *)(intptr_t)i)) {
            perror("pthread_create");
            exit(1);
        }
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    *wall = (bench_now_ns() - *wall) / (double)(run.each * threads);
    *cpu = (cpu_ns() - *cpu) / (double)(run.each * threads);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), by_value);
    return values[n / 2];
}

static const char *only = "";

static int compare(const char *name, void *(*body)(void *), int threads, long total, int rounds)
{
    double wall[2][MAX_ROUNDS], cpu[2][MAX_ROUNDS];
    if (strncmp(name, only, strlen(only)) != 0)
        return 0;
    for (int r = 0; r < rounds; r++) {
        measure(&abt, body, threads, total, &wall[0][r], &cpu[0][r]);
        measure(&native, body, threads, total, &wall[1][r], &cpu[1][r]);
    }
    double w0 = median(wall[0], rounds), w1 = median(wall[1], rounds);
    double c0 = median(cpu[0], rounds), c1 = median(cpu[1], rounds);
    bool over = w0 > 1.2 * w1 || (threads == MAX_THREADS && c0 > c1);
    printf("%-16s %4d threads %9.1f %9.1f %6.2f   %9.1f %9.1f %6.2f%s\n", name, threads, w0, w1, w0 / w1, c0, c1,
           c0 / c1, over ? "  OVER" : "");
    fflush(stdout);
    return over;
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 2, 64, 256};
    int rounds = bench_rounds(argc, argv, 9), only_count = argc > 2 ? atoi(argv[2]) : 0, over = 0;
    only = argc > 3 ? argv[3] : "";
    if (rounds > MAX_ROUNDS)
        rounds = MAX_ROUNDS;
    (void)bench_cpus();
    CHECK(ABT_init(argc, argv));
    CHECK(ABT_mutex_create(&abt_mutex));
    CHECK(ABT_cond_create(&abt_cond));
    printf("%-29s %9s %9s %6s   %9s %9s %6s\n", "ns per operation", "wall", "pthread", "ratio", "CPU", "pthread",
           "ratio");
    for (int i = 0; i < 4; i++) {
        int n = counts[i];
        if (only_count && n != only_count)
            continue;
        CHECK(ABT_barrier_create((uint32_t)n, &abt_barrier));
        pthread_barrier_init(&native_barrier, NULL, (unsigned)n);
        over += compare("mutex", locks, n, 2000000, rounds);
        over += compare("cond, signal", signals, n, 1000000, rounds);
        over += compare("cond, broadcast", broadcasts, n, 40000, rounds);
        over += compare("barrier", meets, n, 40000, rounds);
        pthread_barrier_destroy(&native_barrier);
        CHECK(ABT_barrier_free(&abt_barrier));
    }
    CHECK(ABT_cond_free(&abt_cond));
    CHECK(ABT_mutex_free(&abt_mutex));
    CHECK(ABT_finalize());
    return over > 0;
}
