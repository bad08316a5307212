/* SPDX-License-Identifier: BSD-3-Clause */
/* Binding through hwloc, in builds that have it. What it cannot do is left to the kernel, see os/affinity. */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"
#include "base/build.h"
#include "os/affinity.h"
#include "os/topo.h"
#include "sanitizers.h"
#include "tap.h"

static struct abti_cpuset all;

static bool is_bound_to(const int *cpus, size_t num)
{
    struct abti_cpuset set;

    if (abti_affinity_get(pthread_self(), &set) != 0)
        return false;
    bool same = set.num == num && memcmp(set.cpus, cpus, num * sizeof(*cpus)) == 0;
    abti_cpuset_fini(&set);
    return same;
}

static void test_bind(void)
{
    pthread_t self = pthread_self();
    int last = all.cpus[all.num - 1], strange[] = {last, INT_MAX}, negative[] = {last, -1};

    is_int(abti_topo_bind(self, &last, 1), ABTI_BUILD_HWLOC, "the last CPU");
    ok(is_bound_to(ABTI_BUILD_HWLOC ? &last : all.cpus, ABTI_BUILD_HWLOC ? 1 : all.num), "done if it says so");
    is_int(abti_topo_bind(self, all.cpus, all.num), ABTI_BUILD_HWLOC, "all that there were");
    ok(is_bound_to(all.cpus, all.num), "they are back");
    ok(!abti_topo_bind(self, strange, 2) && !abti_topo_bind(self, negative, 2), "what is no CPU");
    ok(!abti_topo_bind(self, NULL, 0), "no CPU at all");
    ok(is_bound_to(all.cpus, all.num), "nothing has changed");
}

/* In a process of its own, in which hwloc is made to describe another machine. */
static bool binds_with(const char *name, const char *value)
{
    int status = -1, last = all.cpus[all.num - 1];
    pid_t pid = fork();

    if (pid == 0) {
        setenv(name, value, 1);
        bool refused = !abti_topo_bind(pthread_self(), &last, 1);
        _exit(!(refused && abti_affinity_set(pthread_self(), &last, 1) == 0 && is_bound_to(&last, 1)));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* --- Without memory --- */

static bool limit_to(rlim_t size)
{
    struct rlimit limit = {.rlim_cur = size, .rlim_max = RLIM_INFINITY};

    return setrlimit(RLIMIT_AS, &limit) == 0;
}

/* Bytes of address space in use. */
static rlim_t in_use(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Takes all that malloc can still give, but for so many small blocks. */
static void use_up(int spared)
{
    enum { MOST = 16 };
    void *blocks[MOST];

    for (int i = 0; i < spared && i < MOST; i++)
        blocks[i] = malloc(i % 2 ? 64 : 24);
    for (size_t size = 1 << 20; size >= 16; size /= 2) {
        for (void *volatile taken = &size; taken;)
            taken = malloc(size);
    }
    for (int i = 0; i < spared && i < MOST; i++)
        free(blocks[i]);
}

static bool is_bound_alone(int cpu)
{
    cpu_set_t set[8]; /* the kernel may want room for more CPUs than one has */

    return sched_getaffinity(0, sizeof(set), set) == 0 && CPU_COUNT_S(sizeof(set), set) == 1 &&
           CPU_ISSET_S((size_t)cpu, sizeof(set), set);
}

/* In a process of its own, with so much address space left, so many small blocks, and nothing else. */
static bool binds_in(rlim_t room, int blocks)
{
    int status = -1, last = all.cpus[all.num - 1];
    pid_t pid = fork();

    if (pid == 0) {
        rlim_t used = in_use();
        if (used == 0 || !limit_to(used))
            _exit(2);
        use_up(blocks);
        _exit(!(limit_to(used + room) && abti_affinity_set(pthread_self(), &last, 1) == 0 && is_bound_alone(last)));
    }
    bool good = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    if (!good)
        diag("not with %zu bytes and %d blocks, status %d", (size_t)room, blocks, status);
    return good;
}

/* Nothing has been loaded so far. */
static bool loads_in_little(void)
{
    enum { STEP = 256 << 10, MOST = 16 << 20 };
    rlim_t room = 0;

    while (room <= MOST && binds_in(room, 0))
        room += STEP;
    return room > MOST;
}

static bool binds_in_little(void)
{
    enum { MOST = 16 };
    int blocks = 0;

    while (blocks <= MOST && binds_in(0, blocks))
        blocks++;
    return blocks > MOST;
}

int main(void)
{
    if (abti_affinity_get(pthread_self(), &all) != 0 || all.num == 0)
        skip_all("the kernel does not tell the CPUs of a thread");
    ok(binds_with("HWLOC_SYNTHETIC", "core:1 pu:1"),
       "the kernel binds where the environment speaks of a small machine");
    ok(binds_with("HWLOC_SYNTHETIC", "core:512 pu:2"), "and of a large one");
    bool starves = !UNDER_ASAN && !UNDER_TSAN && !is_emulated();
    if (!starves)
        skip(1, "a sanitizer and an emulator give up without memory");
    else
        ok(loads_in_little(), "the kernel binds where there is too little memory to load the topology");
    test_bind();
    if (!starves)
        skip(1, "a sanitizer and an emulator give up without memory");
    else
        ok(binds_in_little(), "or to bind by it");
    abti_cpuset_fini(&all);
    return done_testing();
}
