/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT is joined, and a mutex locked, by handles that were never set.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_thread_join: handle 0x[0-9a-f]+ is not of the kind ULT: no work unit has been there
 * says: libabt: ABT_mutex_lock: handle 0x[0-9a-f]+ is not of the kind mutex: the memory is not like one
 */
#include <abt.h>
#include <string.h>

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    union {
        char noise[256];
        ABT_mutex_memory memory;
    } some;
    memset(some.noise, 0xa5, sizeof(some.noise));
    ABT_thread thread;
    memset(&thread, 0x5a, sizeof(thread));
    ABT_thread_join(thread);
    ABT_mutex_lock(ABT_MUTEX_MEMORY_GET_HANDLE(&some.memory));
    return ABT_finalize();
}
