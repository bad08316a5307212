/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/nodes.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"

/* No kernel of today has more. CPUs with higher numbers count to the first node. */
enum { NODES_MOST_CPUS = 8192 };

/* A text of nodes or CPUs has no larger number. */
enum { NODES_MOST_NUMBER = 1 << 20 };

/* Only abti_nodes_init and what it calls writes these. */
uint32_t abti_num_nodes = 1;
static uint8_t node_marks[NODES_MOST_CPUS]; /* the node of each CPU, plus one; 0: it has none */

/* --- Making the map --- */

static struct {
    uint32_t num;  /* nodes with a CPU, so far */
    bool has_cpus; /* the node that is being filled has one */
} nodes_filled;

static void nodes_forget(void)
{
    if (nodes_filled.num > 0 || nodes_filled.has_cpus)
        memset(node_marks, 0, sizeof(node_marks));
    nodes_filled.num = 0;
    nodes_filled.has_cpus = false;
    abti_num_nodes = 1;
}

/* The node that is being filled has the CPU, unless one before has it, too: then that one has other memory. */
static void fill_cpu(int cpu)
{
    if (cpu < 0 || cpu >= NODES_MOST_CPUS || node_marks[cpu])
        return;
    node_marks[cpu] = (uint8_t)(nodes_filled.num % ABTI_NODES_MOST + 1);
    nodes_filled.has_cpus = true;
}

/* The rest is of the next node. */
static void fill_next(void)
{
    nodes_filled.num += nodes_filled.has_cpus;
    nodes_filled.has_cpus = false;
}

static void fill_end(void)
{
    abti_assert(!nodes_filled.has_cpus);
    abti_num_nodes = nodes_filled.num < 1 ? 1 : nodes_filled.num < ABTI_NODES_MOST ? nodes_filled.num : ABTI_NODES_MOST;
}

/* --- From the system's files --- */

/* Returns what is behind the number with which the text begins. NULL: there is none, or it is too large. */
static const char *take_number(const char *text, int *number)
{
    char *end = NULL;
    long value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
    *number = (int)value;
    return value <= NODES_MOST_NUMBER ? end : NULL;
}

/*
 * Visits the numbers of a line such as 0-3,8, which may have none. False: it is another. A visit that returns false
 * ends it, too.
 */
static bool visit_numbers(const char *at, bool (*visit)(const char *directory, int number), const char *directory)
{
    for (bool more = *at && *at != '\n'; more; at += more) {
        int first, last;
        if (!(at = take_number(at, &first)))
            return false;
        last = first;
        if (*at == '-' && (!(at = take_number(at + 1, &last)) || last < first))
            return false;
        for (int number = first; number <= last; number++) {
            if (!visit(directory, number))
                return false;
        }
        more = *at == ',';
    }
    return !*at || (*at == '\n' && !at[1]);
}

/* The same of the file of that name in the directory, if there is room for it in `text`: without a use of the heap. */
static bool visit_file(const char *directory, const char *name, bool (*visit)(const char *directory, int number),
                       char *text, size_t size)
{
    snprintf(text, size, "%s/%s", directory, name);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = -1;
    while (fd >= 0 && (got = read(fd, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    return got == 0 && length < size - 1 && visit_numbers(text, visit, directory);
}

static bool read_cpu(const char *directory, int cpu)
{
    (void)directory;
    fill_cpu(cpu);
    return true;
}

static bool read_node(const char *directory, int node)
{
    static char text[1 << 15]; /* one thread at a time reads */
    char name[64];
    snprintf(name, sizeof(name), "node%d/cpulist", node);
    bool good = visit_file(directory, name, read_cpu, text, sizeof(text));
    fill_next();
    return good;
}

bool abti_nodes_read(const char *directory)
{
    char text[512];
    nodes_forget();
    bool good = visit_file(directory, "has_cpu", read_node, text, sizeof(text));
    if (good)
        fill_end();
    else
        nodes_forget();
    return good;
}

/* --- From elsewhere --- */

static void fill_range(const struct abti_cpu_range *range, int64_t shift)
{
    for (int k = 0; k < range->num; k++) {
        int64_t cpu = (int64_t)range->first + shift + (int64_t)k * range->stride;
        if (cpu >= 0 && cpu < NODES_MOST_CPUS)
            fill_cpu((int)cpu);
    }
}

static void nodes_from_list(const struct abti_cpu_list *list)
{
    for (uint64_t i = 0; i < list->num_entries && i < NODES_MOST_CPUS; i++) {
        struct abti_cpu_entry entry = abti_cpu_list_entry(list, i);
        for (size_t k = 0; k < entry.num_ranges; k++)
            fill_range(&entry.ranges[k], entry.shift);
        fill_next();
    }
    fill_end();
}

/*
 * The system is first asked whose memory the process may use, since that is one call, and the files of one node are
 * eight, which take 13 us. Where there is one such node all CPUs are equally far from memory.
 */
static void nodes_from_system(void)
{
    if (!abti_affinity_has_one_node() && !abti_nodes_read("/sys/devices/system/node"))
        nodes_forget();
}

void abti_nodes_restrict(const int *cpus, size_t num)
{
    uint8_t renamed[ABTI_NODES_MOST + 1] = {0};
    uint8_t used = 0;
    for (size_t i = 0; i < num; i++) {
        if (cpus[i] >= 0 && cpus[i] < NODES_MOST_CPUS)
            renamed[node_marks[cpus[i]]] = 1;
    }
    renamed[0] = 0; /* CPUs of which nothing is known have no node, and keep none */
    for (int mark = 1; mark <= ABTI_NODES_MOST; mark++)
        renamed[mark] = renamed[mark] ? ++used : 0;
    for (int cpu = 0; cpu < NODES_MOST_CPUS; cpu++)
        node_marks[cpu] = renamed[node_marks[cpu]];
    abti_num_nodes = used > 0 ? used : 1;
}

void abti_nodes_init(bool wanted, const struct abti_cpu_list *list)
{
    struct abti_cpuset allowed;
    nodes_forget();
    if (wanted && list)
        nodes_from_list(list);
    else if (wanted)
        nodes_from_system();
    if (list || abti_num_nodes == 1 || abti_affinity_get(pthread_self(), &allowed) != 0)
        return;
    abti_nodes_restrict(allowed.cpus, allowed.num);
    abti_cpuset_fini(&allowed);
}

/* --- Asking --- */

uint32_t abti_nodes_of(int cpu)
{
    return cpu >= 0 && cpu < NODES_MOST_CPUS && node_marks[cpu] ? node_marks[cpu] - 1u : 0;
}
