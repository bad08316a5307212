/* Binding through hwloc, in builds that have it. What it cannot do is left to the kernel, see os/affinity. */
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/build.h"
#include "os/affinity.h"
#include "os/topo.h"
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

int main(void)
{
    if (abti_affinity_get(pthread_self(), &all) != 0 || all.num == 0)
        skip_all("the kernel does not tell the CPUs of a thread");
    ok(binds_with("HWLOC_SYNTHETIC", "core:1 pu:1"),
       "the kernel binds where the environment speaks of a small machine");
    ok(binds_with("HWLOC_SYNTHETIC", "core:512 pu:2"), "and of a large one");
    test_bind();
    abti_cpuset_fini(&all);
    return done_testing();
}
