/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What do functions return, and what does a code mean? ABT_SUCCESS or a code that has a name.
 *
 *   cc errors.c $(pkg-config --cflags --libs argobots) -o errors
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a code, in memory that the caller frees. The length comes first, without the final zero. */
static char *name_of(int code)
{
    size_t length;
    char *name;
    if (ABT_error_get_str(code, NULL, &length) != ABT_SUCCESS)
        return NULL; /* there is no such code */
    name = malloc(length + 1);
    if (name)
        ABT_error_get_str(code, name, NULL);
    return name;
}

/* What a program may do with each call that is to succeed. */
static int must(int code, const char *what)
{
    if (code != ABT_SUCCESS) {
        char *name = name_of(code);
        printf("%s: %s\n", what, name ? name : "unknown code");
        free(name);
    }
    return code;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    char *name;
    int before, during, refused, is_right;

    before = ABT_initialized(); /* a library asks so whether its user has begun already */
    if (must(ABT_init(argc, argv), "ABT_init") != ABT_SUCCESS)
        return 1;
    during = ABT_initialized();
    printf("initialised before: %s, now: %s\n", before == ABT_SUCCESS ? "yes" : "no",
           during == ABT_SUCCESS ? "yes" : "no");
    /* There is no such kind of pool. What is refused changes nothing. */
    refused =
        must(ABT_pool_create_basic((ABT_pool_kind)99, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool), "a pool of kind 99");
    name = name_of(refused);
    is_right = name && strcmp(name, "ABT_ERR_INV_POOL_KIND") == 0;
    free(name);
    must(ABT_finalize(), "ABT_finalize");
    return before == ABT_SUCCESS || during != ABT_SUCCESS || !is_right;
}
