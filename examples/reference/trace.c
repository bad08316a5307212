/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I look at a part of my program on a time line? By a trace that is started and stopped around it. The file is
 * opened by Perfetto (ui.perfetto.dev) or chrome://tracing. ABT_TRACE=file in the environment traces the whole program.
 *
 *   cc trace.c $(pkg-config --cflags --libs argobots) -o trace
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { UNITS = 5 };

static void works(void *arg)
{
    (void)arg;
    ABT_self_yield();
}

static void work(ABT_pool pool)
{
    ABT_thread units[UNITS];
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, works, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/trace-XXXXXX";
    FILE *file;
    ABT_pool pool;
    int descriptor, code, first = EOF;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    descriptor = mkstemp(name);
    if (descriptor < 0)
        return 1;
    close(descriptor);

    work(pool); /* is not traced, and pays nothing */
    code = ABTX_trace_start(name);
    work(pool);
    ABTX_trace_stop(); /* the file is complete now */
    work(pool);

    file = fopen(name, "r");
    if (file) {
        first = fgetc(file);
        fseek(file, 0, SEEK_END);
        printf("a trace of %ld bytes\n", ftell(file));
        fclose(file);
    }
    unlink(name); /* a program keeps it, of course */
    ABT_finalize();
    /* ABT_ERR_FEATURE_NA: the library was configured without. Else it is JSON: an array or an object. */
    return code != ABT_ERR_FEATURE_NA && first != '[' && first != '{';
}
