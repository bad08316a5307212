/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/nodes.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"
#include "os/affinity.h"

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

/* What comes is of the next node. */
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

/* A file that is read from its begin to its end, without a use of the heap. */
struct nodes_file {
    int fd;
    bool failed;
    size_t at, end;
    char text[256];
};

/* Returns the character that is next in the file, or 0 at its end. */
static char file_char(struct nodes_file *file)
{
    if (file->at == file->end && !file->failed) {
        ssize_t size = read(file->fd, file->text, sizeof(file->text));
        file->failed = size < 0;
        file->at = 0;
        file->end = size > 0 ? (size_t)size : 0;
    }
    return file->at < file->end ? file->text[file->at] : '\0';
}

static bool file_skip(struct nodes_file *file, char expected)
{
    bool found = file_char(file) == expected;
    file->at += found;
    return found;
}

static bool file_number(struct nodes_file *file, int *number)
{
    long value = 0;
    if (!isdigit((unsigned char)file_char(file)))
        return false;
    for (char digit; isdigit((unsigned char)(digit = file_char(file))) && value <= NODES_MOST_NUMBER; file->at++)
        value = 10 * value + (digit - '0');
    *number = (int)value;
    return value <= NODES_MOST_NUMBER;
}

/*
 * Visits the numbers of a file with one line such as 0-3,8, which may have none. False: it is another. A visit that
 * returns false ends it, too.
 */
static bool visit_numbers(struct nodes_file *file, bool (*visit)(const char *directory, int number),
                          const char *directory)
{
    char begin = file_char(file);
    for (bool more = begin && begin != '\n'; more; more = file_skip(file, ',')) {
        int first, last;
        if (!file_number(file, &first))
            return false;
        last = first;
        if (file_skip(file, '-') && (!file_number(file, &last) || last < first))
            return false;
        for (int number = first; number <= last; number++) {
            if (!visit(directory, number))
                return false;
        }
    }
    (void)file_skip(file, '\n');
    return !file_char(file) && !file->failed;
}

/* The same of the file of that name in the directory. */
static bool visit_file(const char *directory, const char *name, bool (*visit)(const char *directory, int number))
{
    char path[512];
    int length = snprintf(path, sizeof(path), "%s/%s", directory, name);
    struct nodes_file file = {.fd = length < (int)sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1};
    if (file.fd < 0)
        return false;
    bool good = visit_numbers(&file, visit, directory);
    close(file.fd);
    return good;
}

static bool read_cpu(const char *directory, int cpu)
{
    (void)directory;
    fill_cpu(cpu);
    return true;
}

static bool read_node(const char *directory, int node)
{
    char name[64];
    snprintf(name, sizeof(name), "node%d/cpulist", node);
    bool good = visit_file(directory, name, read_cpu);
    fill_next();
    return good;
}

bool abti_nodes_read(const char *directory)
{
    nodes_forget();
    bool good = visit_file(directory, "has_cpu", read_node);
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

uint32_t abti_nodes_here_slow(void)
{
    return abti_nodes_of(abti_affinity_here());
}
