/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "os/affinity.h"
#include "tap.h"

#ifdef __linux__
enum { MANY = 1536, POSSIBLE = 2048 };
static bool is_large; /* the machine has so many CPUs, and the kernel could have more */

/* Replaces that of the system. It is called for the caller's own thread only. */
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
    memset(mask, 0, size);
    if (!is_large)
        return sched_getaffinity(0, size, mask) == 0 ? 0 : errno;
    if (size < POSSIBLE / 8)
        return EINVAL;
    for (size_t cpu = 0; cpu < MANY; cpu++)
        CPU_SET_S(cpu, size, mask);
    return 0;
}

static void test_large_machine(void)
{
    struct abti_cpuset set = {0};

    is_large = true;
    is_int((long)abti_affinity_num_allowed(), MANY, "1536 CPUs are counted");
    is_int(abti_affinity_get(pthread_self(), &set), 0, "and their set is read");
    ok(set.num == MANY && set.cpus[MANY - 1] == MANY - 1, "with the last one");
    abti_cpuset_fini(&set);
    is_large = false;
}
#else
static void test_large_machine(void)
{
}
#endif

static bool same(const struct abti_cpuset *set, const int *cpus, size_t num)
{
    return set->num == num && memcmp(set->cpus, cpus, num * sizeof(*cpus)) == 0;
}

static bool thread_has(const int *cpus, size_t num)
{
    struct abti_cpuset set;

    if (abti_affinity_get(pthread_self(), &set) != 0)
        return false;
    bool result = same(&set, cpus, num);
    abti_cpuset_fini(&set);
    return result;
}

static void test_thread(const struct abti_cpuset *allowed)
{
    pthread_t self = pthread_self();
    int last = allowed->cpus[allowed->num - 1];

    is_int(abti_affinity_set(self, &last, 1), 0, "bind to the last CPU");
    ok(thread_has(&last, 1), "it is the only one now");

    int messy[] = {last, -1, last, INT_MAX, 1 << 20, last};
    is_int(abti_affinity_set(self, messy, ABTI_ARRAY_LEN(messy)), 0, "repetitions and what is no CPU do not matter");
    ok(thread_has(&last, 1), "the CPU among them is set");

    is_int(abti_affinity_set(self, NULL, 0), -EINVAL, "no CPU at all");
    int beyond = (1 << 20) - 1;
    is_int(abti_affinity_set(self, &beyond, 1), -EINVAL, "a CPU that does not exist");
    ok(thread_has(&last, 1), "errors change nothing");

    is_int(abti_affinity_set(self, allowed->cpus, allowed->num), 0, "put the first set back");
    ok(thread_has(allowed->cpus, allowed->num), "it is back");
}

/* What the first entry of a list picks from the CPUs 10, 20, 30, 40. */
static void check_entry(const char *text, uint64_t rank, const int *cpus, size_t num)
{
    int numbers[] = {10, 20, 30, 40};
    struct abti_cpuset allowed = {.num = ABTI_ARRAY_LEN(numbers), .cpus = numbers}, set = {0};
    struct abti_cpu_list *list = NULL;

    if (abti_parse_cpu_list(text, &list) != 0)
        bail_out("list");
    struct abti_cpu_entry entry = abti_cpu_list_entry(list, rank);
    ok(abti_affinity_entry(&entry, &allowed, &set) == 0 && same(&set, cpus, num), "rank %d of '%s'", (int)rank, text);
    abti_cpuset_fini(&set);
    free(list);
}

static void test_entries(void)
{
    check_entry("0", 0, (int[]){10}, 1);
    check_entry("0", 3, (int[]){10}, 1);
    check_entry("5", 0, (int[]){20}, 1);
    check_entry("-1", 0, (int[]){40}, 1);
    check_entry("-4", 0, (int[]){10}, 1);
    check_entry("-2147483647", 0, (int[]){20}, 1);
    check_entry("{3,1,5}", 0, (int[]){20, 40}, 2);
    check_entry("{0:2}:2:2", 1, (int[]){30, 40}, 2);
    check_entry("{0:1048575}", 0, (int[]){10, 20, 30, 40}, 4);
    check_entry("0:3:-1", 2, (int[]){30}, 1);
}

static void test_allowed(const struct abti_cpuset *allowed)
{
    pthread_t self = pthread_self();

    is_int((long)abti_affinity_num_allowed(), (long)allowed->num, "as many as in the set");
    is_int(abti_affinity_set(self, allowed->cpus, 1), 0, "bind to the first CPU");
    is_int((long)abti_affinity_num_allowed(), 1, "one CPU");
    is_int(abti_affinity_set(self, allowed->cpus, allowed->num), 0, "put the first set back");
}

int main(void)
{
    struct abti_cpuset allowed = {0};

    ok(abti_affinity_num_online() >= 1, "some CPU is online");
    is_int(abti_affinity_get(pthread_self(), &allowed), 0, "get the set of this thread");
    ok(allowed.num >= 1, "it is not empty");
    for (size_t i = 1; i < allowed.num; i++)
        ok(allowed.cpus[i - 1] < allowed.cpus[i], "in ascending order");
    if (allowed.num) {
        test_thread(&allowed);
        test_allowed(&allowed);
    }
    test_entries();
    test_large_machine();
    abti_cpuset_fini(&allowed);
    ok(!allowed.cpus && !allowed.num, "an ended set is empty");
    return done_testing();
}
