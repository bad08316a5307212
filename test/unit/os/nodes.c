/* SPDX-License-Identifier: BSD-3-Clause */
/* NUMA nodes: from files like those of Linux, and from lists. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deny.h"
#include "os/affinity.h"
#include "os/nodes.h"
#include "tap.h"

enum { ROOM = 16384, MOST_FILES = 512 };

static char top[64] = "/tmp/nodes.XXXXXX", made[MOST_FILES][96];
static int num_made;

static void remember(const char *path)
{
    if (num_made == MOST_FILES)
        bail_out("too many files");
    snprintf(made[num_made++], sizeof(made[0]), "%s", path);
}

static void write_file(const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    remember(path);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        bail_out("no file");
}

static void write_node(int node, const char *cpus)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/node%d", top, node);
    remember(path);
    if (mkdir(path, 0700) != 0)
        bail_out("no directory");
    snprintf(path, sizeof(path), "node%d/cpulist", node);
    write_file(path, cpus);
}

/* Reads what has been written, which goes then. */
static bool read_all(void)
{
    bool good = abti_nodes_read(top);
    while (num_made > 0) {
        if (remove(made[--num_made]) != 0)
            bail_out("a file stays");
    }
    return good;
}

static bool are_in(uint32_t node, int first, int last)
{
    for (int cpu = first; cpu <= last; cpu++) {
        if (abti_nodes_of(cpu) != node)
            return false;
    }
    return true;
}

static void test_sockets(void)
{
    write_file("has_cpu", "0\n");
    write_node(0, "0-7\n");
    ok(read_all() && abti_num_nodes == 1, "one node");
    ok(are_in(0, 0, 8) && abti_nodes_here() == 0, "in which all are");

    write_file("has_cpu", "0-1\n");
    write_node(0, "0-7,16-23\n");
    write_node(1, "8-15,24-31\n");
    ok(read_all() && abti_num_nodes == 2, "two sockets");
    ok(are_in(0, 0, 7) && are_in(1, 8, 15) && are_in(0, 16, 23) && are_in(1, 24, 31), "each with two ranges");
    ok(abti_nodes_of(-1) == 0 && abti_nodes_of(32) == 0 && abti_nodes_of(1 << 30) == 0, "what is not known is first");
}

/* Of 8 nodes: CPU c is in node c modulo 8, as some firmware numbers them, so that lists are long. */
static void test_many_cpus(int num)
{
    static char text[ROOM];
    bool good = true;
    write_file("has_cpu", "0-7\n");
    for (int node = 0; node < 8; node++) {
        size_t length = 0;
        for (int cpu = node; cpu < num; cpu += 8)
            length += (size_t)snprintf(text + length, ROOM - length, "%s%d", cpu == node ? "" : ",", cpu);
        snprintf(text + length, ROOM - length, "\n");
        write_node(node, text);
    }
    ok(read_all() && abti_num_nodes == 8, "8 nodes of %d CPUs together", num);
    for (int cpu = 0; cpu < num; cpu++)
        good = good && abti_nodes_of(cpu) == (uint32_t)cpu % 8;
    ok(good, "each has its own");
}

static void test_gaps(void)
{
    write_file("has_cpu", "0,2,8\n");
    write_node(0, "0-2,4\n");
    write_node(2, "8-11\n");
    write_node(8, "100,9000\n");
    ok(read_all() && abti_num_nodes == 3, "nodes are numbered without gaps");
    ok(are_in(0, 0, 7) && are_in(1, 8, 11) && are_in(2, 100, 100), "CPUs that are offline count to the first");

    write_file("has_cpu", "0-3\n");
    write_node(0, "0-3\n");
    write_node(1, "\n");
    write_node(2, "0-3\n");
    write_node(3, "4-7\n");
    write_node(4, "\n");
    ok(read_all() && abti_num_nodes == 2, "nodes without CPUs, or with those of another, do not count");
    ok(are_in(0, 0, 3) && are_in(1, 4, 7), "the others do");

    write_file("has_cpu", "0-1");
    write_node(0, "");
    write_node(1, "3");
    ok(read_all() && abti_num_nodes == 1, "an empty file, and no end of a line");
}

static void test_many_nodes(void)
{
    char text[16];
    write_file("has_cpu", "0-99\n");
    for (int node = 0; node < 100; node++) {
        snprintf(text, sizeof(text), "%d\n", node);
        write_node(node, text);
    }
    ok(read_all() && abti_num_nodes == ABTI_NODES_MOST, "100 nodes are as many as there can be");
    ok(are_in(0, 0, 0) && are_in(63, 63, 63) && are_in(0, 64, 64), "some are one");
}

static void test_malformed(void)
{
    static const char *const texts[] = {"x\n",    "0-\n", "3-1\n", "0,,1\n",           "0-1-2\n", "-1\n",
                                        "0 1\n",  ",\n",  "0\n1",  "99999999999999\n", "0,1x\n",  "0-99999999999\n",
                                        "0,\n\n", "1 -2"};
    for (size_t i = 0; i < ABTI_ARRAY_LEN(texts); i++) {
        write_file("has_cpu", "0-1\n");
        write_node(0, "0\n");
        write_node(1, texts[i]);
        ok(!read_all() && abti_num_nodes == 1 && are_in(0, 0, 4), "malformed %d: one node", (int)i);
        write_file("has_cpu", texts[i]);
        write_node(0, "0\n");
        ok(!read_all() && abti_num_nodes == 1, "and of the nodes");
    }
    write_file("has_cpu", "0-1\n");
    write_node(0, "0-3\n");
    ok(!read_all() && abti_num_nodes == 1, "a node without a file: one node");
    ok(!read_all() && abti_num_nodes == 1, "no files: one node");
    ok(!abti_nodes_read("/nowhere") && abti_num_nodes == 1, "no directory: one node");
}

/* What an affinity mask or a cgroup leaves of 8 nodes of 4 CPUs. */
static uint32_t left_of(const int *cpus, size_t num)
{
    char text[32];
    write_file("has_cpu", "0-7\n");
    for (int node = 0; node < 8; node++) {
        snprintf(text, sizeof(text), "%d-%d\n", 4 * node, 4 * node + 3);
        write_node(node, text);
    }
    if (!read_all() || abti_num_nodes != 8)
        bail_out("8 nodes");
    abti_nodes_restrict(cpus, num);
    return abti_num_nodes;
}

static void test_restricted(void)
{
    is_int(left_of((int[]){9, 10}, 2), 1, "the CPUs of one node");
    ok(are_in(0, 0, 31), "which is the first then");
    is_int(left_of((int[]){8, 9, 21, 22}, 4), 2, "those of two nodes");
    ok(are_in(0, 8, 11) && are_in(1, 20, 23), "which keep their order");
    is_int(left_of((int[]){0, 4, 8, 12, 16, 20, 24, 28}, 8), 8, "one of each node");
    ok(are_in(7, 28, 31), "nothing changes");
    is_int(left_of((int[]){100, 9000, -1}, 3), 1, "those of none");
    is_int(left_of(NULL, 0), 1, "no CPUs");
}

static uint32_t listed(const char *text)
{
    struct abti_cpu_list *list = NULL;
    if (abti_parse_cpu_list(text, &list) != 0)
        bail_out("list");
    abti_nodes_init(true, list);
    free(list);
    return abti_num_nodes;
}

static void test_lists(void)
{
    is_int(listed("{0:8},{8:8}"), 2, "a list of two nodes");
    ok(are_in(0, 0, 7) && are_in(1, 8, 15), "with their CPUs");
    is_int(listed("{0:64}:16:64"), 16, "16 nodes of 1024 CPUs");
    ok(are_in(15, 960, 1023), "the last has the last ones");
    is_int(listed("{0:512:2},{1:512:2}"), 2, "odd and even CPUs");
    ok(are_in(1, 1023, 1023) && are_in(0, 1022, 1022), "far up, too");
    is_int(listed("0"), 1, "one CPU is one node");
    is_int(listed("{-5:3},{-1:2},{1:1048575:3}"), 2, "what is no CPU does not matter");
    is_int(listed("0:1000000"), ABTI_NODES_MOST, "nor does a million of nodes");
    abti_nodes_init(false, NULL);
    ok(abti_num_nodes == 1 && are_in(0, 0, 1023), "all is one node if nodes are not wanted");
    abti_nodes_init(true, NULL);
    ok(abti_num_nodes >= 1 && abti_nodes_here() < abti_num_nodes, "this machine has nodes, and we are in one");
    ok(abti_affinity_here() >= -1, "on some CPU, if the system says so");
}

/*
 * Where the kernel does not say whose memory the process may use the files do. It is asked in a process of its own,
 * which gets another answer from then on.
 */
static void test_refused(void)
{
    enum { GOOD, BAD, NO_FILTERS };
    int status = -1;
    abti_nodes_init(true, NULL);
    uint32_t num = abti_num_nodes;
    pid_t pid = fork();

    if (pid == 0) {
        if (!deny(EPERM, "mempolicy"))
            _exit(NO_FILTERS);
        abti_nodes_init(true, NULL);
        _exit(abti_affinity_has_one_node() || abti_num_nodes != num ? BAD : GOOD);
    }
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    if (ended && WEXITSTATUS(status) == NO_FILTERS)
        skip(1, "the system allows no filters");
    else
        ok(ended && WEXITSTATUS(status) == GOOD, "%d nodes, also by their files alone", (int)num);
}

int main(void)
{
    if (!mkdtemp(top))
        bail_out("no directory for files");
    test_sockets();
    test_many_cpus(64);
    test_many_cpus(1024);
    test_many_cpus(4096);
    test_gaps();
    test_many_nodes();
    test_malformed();
    test_restricted();
    test_lists();
    test_refused();
    rmdir(top);
    return done_testing();
}
