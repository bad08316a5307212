/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what libabt and the machine offer. See usage(). */
#include <abt.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int usage(FILE *fp, int status)
{
    fputs("usage: abt-info               versions, build options, what the machine offers, variables\n"
          "       abt-info --version     versions only\n"
          "       abt-info --self-test   makes, joins, locks and wakes for ten seconds\n",
          fp);
    return status;
}

static void print_version(void)
{
    printf("libabt %s, interface %s\n", ABTX_VERSION, ABT_VERSION);
}

static void print_answer(const char *what, int is_there)
{
    printf("  %-12s %s\n", what, is_there ? "yes" : "no");
}

/* A call that the system knows fails by another error than this, or not at all. */
static int is_known(long number, long a, long b)
{
    errno = 0;
    return syscall(number, a, b, 0L, 0L, 0L, 0L) >= 0 || (errno != ENOSYS && errno != EPERM);
}

#ifdef SYS_io_uring_setup
/* Makes a ring: emulators and filters refuse it later than they look at arguments. */
static int has_io_uring(void)
{
    char params[256] = {0}; /* the kernel's struct io_uring_params, which is shorter */
    long fd = syscall(SYS_io_uring_setup, 1L, params);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}
#endif

static int has_guards(void)
{
    long page = sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int works = memory != MAP_FAILED && mprotect(memory, (size_t)page, PROT_NONE) == 0;
    if (memory != MAP_FAILED)
        munmap(memory, (size_t)page);
    return works;
}

static int has_huge_pages(void)
{
    char line[128];
    long pages = 0;
    FILE *fp = fopen("/proc/meminfo", "r");
    while (fp && fgets(line, sizeof(line), fp))
        sscanf(line, "HugePages_Free: %ld", &pages);
    if (fp)
        fclose(fp);
    return pages > 0;
}

/* A number at the beginning of a file, and the one behind it, unless `second` is NULL. False if they are not there. */
static int read_numbers(const char *path, long *first, long *second)
{
    FILE *fp = fopen(path, "r");
    int got = !fp ? 0 : second ? fscanf(fp, "%ld %ld", first, second) : fscanf(fp, "%ld", first);
    if (fp)
        fclose(fp);
    return got == (second ? 2 : 1);
}

/* The CPUs' worth of time that is allowed by a file cpu.max, "QUOTA PERIOD" or "max PERIOD"; 0: no limit. */
static double quota_of(const char *path)
{
    long quota = 0, period = 0;
    return read_numbers(path, &quota, &period) && period > 0 ? (double)quota / (double)period : 0;
}

/* The same of version 1 of cgroups, as a container sees its own. */
static double quota_of_version_1(void)
{
    long quota = 0, period = 0;
    return read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota, NULL) && quota > 0 &&
                   read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period, NULL) && period > 0
               ? (double)quota / (double)period
               : 0;
}

/* The least that this process's cgroup and those above it allow; 0: no limit. */
static double cpu_quota(void)
{
    char group[1024] = "", path[1100];
    double least = quota_of_version_1();
    FILE *fp = fopen("/proc/self/cgroup", "r");
    while (fp && fgets(path, sizeof(path), fp))
        if (strncmp(path, "0::/", 4) == 0)
            sscanf(path + 3, "%1023[^\n]", group);
    if (fp)
        fclose(fp);
    for (char *slash = group; slash; *slash = 0) { /* the group, those above it, and the root */
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
        double quota = quota_of(path);
        if (quota > 0 && (least <= 0 || quota < least))
            least = quota;
        slash = strrchr(group, '/');
        if (!slash)
            break;
    }
    return least;
}

/* How many CPUs there are, how many of them and how much of their time this process may use, and what follows. */
static void print_cpus(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), streams = cpus;
    double quota = cpu_quota();
    cpu_set_t set;
    printf("  %-12s %ld\n", "CPUs", cpus);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        streams = CPU_COUNT(&set);
        printf("  %-12s %ld\n", "may run on", streams);
    }
    if (quota > 0) {
        long whole = (long)quota + (quota > (double)(long)quota);
        printf("  %-12s %.2f CPUs, by a cgroup\n", "quota", quota);
        streams = whole < streams ? whole : streams;
    }
    printf("  %-12s %ld at most\n", "streams", streams);
}

static void print_machine(void)
{
    printf("This machine:\n");
#ifdef SYS_futex
    print_answer("futex", is_known(SYS_futex, 0, 1 | 128));
#endif
#ifdef SYS_membarrier
    print_answer("membarrier", is_known(SYS_membarrier, 0, 0));
#endif
#ifdef SYS_io_uring_setup
    print_answer("io_uring", has_io_uring());
#endif
    print_answer("guard pages", has_guards());
    print_answer("huge pages", has_huge_pages());
    print_cpus();
}

/* ---- The self-test ---- */

static ABT_mutex mutex;
static ABT_eventual start;
static long sum;

static void adds(void *arg)
{
    ABT_eventual_wait(start, NULL);
    ABT_mutex_lock(mutex);
    sum += *(int *)arg;
    ABT_self_yield();
    ABT_mutex_unlock(mutex);
}

static int test_round(ABT_pool *pools)
{
    enum { UNITS = 64 };
    ABT_thread units[UNITS];
    int one = 1, failed = 0;

    sum = 0;
    ABT_eventual_reset(start);
    for (int i = 0; i < UNITS; i++)
        failed |= ABT_thread_create(pools[i % 2], adds, &one, ABT_THREAD_ATTR_NULL, &units[i]) != ABT_SUCCESS;
    ABT_eventual_set(start, NULL, 0);
    for (int i = 0; i < UNITS && !failed; i++)
        failed |= ABT_thread_free(&units[i]) != ABT_SUCCESS;
    return failed || sum != UNITS;
}

static int self_test(int argc, char **argv)
{
    ABT_xstream streams[2];
    ABT_pool pools[2];
    time_t end = time(NULL) + 10;
    long rounds = 0;
    int failed = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS || ABT_mutex_create(&mutex) != ABT_SUCCESS ||
        ABT_eventual_create(0, &start) != ABT_SUCCESS || ABT_self_get_xstream(&streams[0]) != ABT_SUCCESS ||
        ABT_xstream_create(ABT_SCHED_NULL, &streams[1]) != ABT_SUCCESS) {
        printf("self-test: the library does not start\n");
        return 1;
    }
    for (int i = 0; i < 2; i++)
        ABT_xstream_get_main_pools(streams[i], 1, &pools[i]);
    for (; !failed && time(NULL) < end; rounds++)
        failed = test_round(pools);
    ABT_xstream_free(&streams[1]);
    ABT_eventual_free(&start);
    ABT_mutex_free(&mutex);
    ABT_finalize();
    printf("self-test: %ld rounds on two streams, %s\n", rounds, failed ? "FAILED" : "ok");
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return usage(stderr, 2);
    if (argc == 2 && strcmp(argv[1], "--self-test") == 0)
        return self_test(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout, 0);
    if (argc == 2 && strcmp(argv[1], "--version") != 0)
        return usage(stderr, 2);
    print_version();
    if (argc == 2)
        return 0;
    print_machine();
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_info_print_config(stdout);
    return ABT_finalize();
}
