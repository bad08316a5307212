/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT recurses until its stack is full.
 * exit: nonzero
 * says: stack overflow
 */
#include <abt.h>
#include <string.h>

/* Volatile: each call needs its frame. */
static int recurse(volatile char *above)
{
    volatile char frame[512];
    memset((char *)frame, above[0], sizeof(frame));
    return recurse(frame) + frame[1];
}

static void overflows(void *arg)
{
    recurse(arg);
}

int main(int argc, char **argv)
{
    static char first;
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_thread thread;
    ABT_thread_create_on_xstream(xstream, overflows, &first, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}
