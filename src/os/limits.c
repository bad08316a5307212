/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/limits.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/vm.h"

/* Reads the first bytes of a file, as text, which is empty when there is no such file. */
static void read_file(const char *name, char *text, size_t size)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

static unsigned long count_lines(const char *name)
{
    char text[4096];
    unsigned long lines = 0;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof(text))) > 0;) {
        for (ssize_t i = 0; i < n; i++)
            lines += text[i] == '\n';
    }
    if (fd >= 0)
        close(fd);
    return lines;
}

/* The guard of a stack splits its mapping, which costs two. */
static bool are_mappings_used_up(void)
{
    char text[32];
    read_file("/proc/sys/vm/max_map_count", text, sizeof(text));
    unsigned long most = strtoul(text, NULL, 10);
    return most > 0 && count_lines("/proc/self/maps") + 2 >= most;
}

/* Whether `used` pages and `size` bytes are more than the limit allows. */
static bool is_over(int resource, uint64_t used, size_t size)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           used * abti_vm_page_size() + size > limit.rlim_cur;
}

/* Gives, in pages, all address space and the part of it that is data. */
static void read_usage(uint64_t *all, uint64_t *data)
{
    char text[256], *at = text;
    uint64_t numbers[6] = {0};
    read_file("/proc/self/statm", text, sizeof(text));
    for (int i = 0; i < 6; i++)
        numbers[i] = strtoul(at, &at, 10);
    *all = numbers[0];
    *data = numbers[5];
}

const char *abti_limits_blame(size_t size)
{
    uint64_t all, data;
    read_usage(&all, &data);
    if (are_mappings_used_up())
        return "the number of mappings, vm.max_map_count";
    if (is_over(RLIMIT_AS, all, size))
        return "the address space, RLIMIT_AS (ulimit -v)";
    if (is_over(RLIMIT_DATA, data, size))
        return "the size of data, RLIMIT_DATA (ulimit -d)";
    void *trial = abti_vm_map(size);
    abti_vm_unmap(trial, size);
    return trial ? "none that can be seen now" : "the system's memory, see vm.overcommit_memory";
}
