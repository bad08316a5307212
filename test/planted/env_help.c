/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: None; the user wants to know which variables there are.
 * run: ABT_HELP=1 ABT_THREAD_STACKSIZE=64KiB
 * exit: 0
 * says: ABT_CHECK=no \(default: no; no \| yes \| abort\)
 * says: ABT_THREAD_STACKSIZE=65536 \(default: 16384; 512 to [0-9]+ bytes\)
 */
#include <abt.h>

int main(void)
{
    return ABT_init(0, NULL) != ABT_SUCCESS || ABT_finalize() != ABT_SUCCESS;
}
