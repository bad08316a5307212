/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: The name of a variable is misspelt, and another one has no effect.
 * run: ABT_PRINT_CONFIG=1 ABT_THREAD_STACK_SIZE=65536 ABT_CACHE_LINE_SIZE=128
 * exit: 0
 * says: ABT_(THREAD_STACK_SIZE is no variable of the library|CACHE_LINE_SIZE has no effect)
 * says: ABT_(THREAD_STACK_SIZE is no variable of the library|CACHE_LINE_SIZE has no effect)
 */
#include <abt.h>

int main(void)
{
    return ABT_init(0, NULL) != ABT_SUCCESS || ABT_finalize() != ABT_SUCCESS;
}
