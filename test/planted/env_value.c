/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A value in the environment that the library does not understand.
 * run: ABT_STACK_OVERFLOW_CHECK=maybe ABT_SCHED_EVENT_FREQ=often ABT_KEY_TABLE_SIZE=1e3
 * exit: 0
 * says: ABT_SCHED_EVENT_FREQ=often is not understood, 50 is used
 * says: ABT_KEY_TABLE_SIZE=1e3 is understood in part, 1 is used
 * says: ABT_STACK_OVERFLOW_CHECK=maybe is not understood, [a-z]+ is used
 */
#include <abt.h>

int main(void)
{
    return ABT_init(0, NULL) != ABT_SUCCESS || ABT_finalize() != ABT_SUCCESS;
}
