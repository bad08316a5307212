/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_NATIVE_THREADS_H
#define TEST_NATIVE_THREADS_H

#include <dirent.h>

/* How many native threads the process has. */
static inline int count_native_threads(void)
{
    int num = 0;
    DIR *directory = opendir("/proc/self/task");
    for (const struct dirent *entry; directory && (entry = readdir(directory)) != NULL;)
        num += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return num;
}

#endif
