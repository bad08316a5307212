/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether maint/check --arch runs the test under qemu, which is slow and not a whole system. */
#ifndef TEST_EMULATED_H
#define TEST_EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

/*
 * What qemu-user 7.2 has not got: children of a fork cannot make threads, programs that a test starts are another
 * machine's, limits of memory are not kept (RLIMIT_AS: who asks until there is no more gets all of the machine's), and
 * each thread that has ended leaves some memory of the emulator's behind, 280 KiB on AArch64.
 */
static inline bool is_emulated(void)
{
    return getenv("ABT_TEST_EMULATED") != NULL;
}

#endif
