/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to be preloaded into the programs of the tests, see test/deny.h:
 *
 *   LD_PRELOAD=deny.so TEST_DENY=ERROR,CALL[,CALL]... PROGRAM [ARGUMENT]...
 *
 * ERROR is a number. Programs that do not lie in a directory test/ are left alone: they are what starts a test. A
 * program ends with 77 where the system allows no filters.
 */
#include "../deny.h"

#include <stdio.h>

static bool is_test(void)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    return strstr(path, "/test/") != NULL;
}

__attribute__((constructor)) static void deny_given(void)
{
    const char *given = getenv("TEST_DENY");
    if (!given || !is_test())
        return;
    char *calls_given;
    unsigned error = (unsigned)strtoul(given, &calls_given, 10);
    if (*calls_given != ',' || !deny(error, calls_given + 1)) {
        perror("deny");
        _exit(77);
    }
}
