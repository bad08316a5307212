/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With which library do I run? The header has its version, and the library tells how it was built and what the
 * environment has set.
 *
 *   cc config.c $(pkg-config --cflags --libs argobots) -o config
 */
#include <abt.h>
#include <stdio.h>

#if ABT_NUMVERSION < ABT_CALC_VERSION(1, 1, 0, ABT_RELEASE_TYPE_PATCH, 0)
#error "this program needs version 1.1 of the interface"
#endif

static const char *says(ABT_info_query_kind kind)
{
    ABT_bool value = ABT_FALSE; /* the type that the header names for these kinds */
    return ABT_info_query_config(kind, &value) == ABT_SUCCESS && value ? "yes" : "no";
}

int main(int argc, char **argv)
{
    size_t stack = 0;
    unsigned streams = 0;
    int unknown, has_checks;
    ABT_bool checks = ABT_FALSE;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    printf("interface " ABT_VERSION "\n");
#ifdef ABTX_VERSION
    printf("libabt " ABTX_VERSION "\n");
#endif
    printf("tools can be registered (ABT_TOOL=1): %s, binding to CPUs: %s\n", says(ABT_INFO_QUERY_KIND_ENABLED_TOOL),
           says(ABT_INFO_QUERY_KIND_ENABLED_AFFINITY));
    ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &stack);
    ABT_info_query_config(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS, &streams);
    printf("a stack has %zu bytes unless something else is said; streams: %u\n", stack, streams);
    has_checks = ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR, &checks) == ABT_SUCCESS && checks;
    unknown = ABT_info_query_config((ABT_info_query_kind)999, &stack);
    ABT_info_print_config(stdout); /* all of it, for people: in a report of a bug, say */
    ABT_finalize();
    return stack == 0 || streams == 0 || (has_checks && unknown == ABT_SUCCESS);
}
