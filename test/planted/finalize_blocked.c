/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: ABT_finalize waits for ULTs that nobody wakes. ABT_CHECK=abort ends the program when that has been said.
 * run: ABT_CHECK=abort
 * exit: nonzero
 * says: libabt: ABT_finalize: 3 blocked work units, which the primary execution stream waits for
 * says: ULT [0-9]+ \(suspends at .*\), created by the primary ULT, waits to be resumed
 * says: ULT [0-9]+ \(locks at .*\), created by the primary ULT, waits for mutex 0x[0-9a-f]+ held by ULT
 * says: ULT [0-9]+ \(waits at .*\), created by the primary ULT, waits for eventual 0x[0-9a-f]+
 */
#include <abt.h>
#include <unistd.h>

static ABT_mutex mutex;
static ABT_eventual eventual;

static void suspends(void *arg)
{
    (void)arg;
    ABT_mutex_lock(mutex);
    ABT_self_suspend();
}

static void locks(void *arg)
{
    (void)arg;
    ABT_mutex_lock(mutex);
}

static void waits(void *arg)
{
    (void)arg;
    ABT_eventual_wait(eventual, NULL);
}

int main(int argc, char **argv)
{
    alarm(10); /* for a library that does not find it */
    ABT_init(argc, argv);
    ABT_mutex_create(&mutex);
    ABT_eventual_create(0, &eventual);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_thread_create_on_xstream(xstream, suspends, NULL, ABT_THREAD_ATTR_NULL, NULL);
    ABT_thread_create_on_xstream(xstream, locks, NULL, ABT_THREAD_ATTR_NULL, NULL);
    ABT_thread_create_on_xstream(xstream, waits, NULL, ABT_THREAD_ATTR_NULL, NULL);
    return ABT_finalize();
}
