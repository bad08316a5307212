/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A value in the environment that is more than a machine can have.
 * run: ABT_KEY_TABLE_SIZE=1000000
 * exit: 0
 * says: ABT_KEY_TABLE_SIZE=1000000 is too large, 65536 is used
 */
#include <abt.h>

int main(void)
{
    return ABT_init(0, NULL) != ABT_SUCCESS || ABT_finalize() != ABT_SUCCESS;
}
