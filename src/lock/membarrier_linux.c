/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/membarrier.h"

#include <linux/membarrier.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/atomic.h"

static _Atomic(bool) is_ready; /* relaxed, everywhere: the system orders nothing by it */

bool abti_membarrier_is_ready(void)
{
    return abti_load_relaxed(&is_ready);
}

bool abti_membarrier_init(void)
{
    bool is_there = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    abti_store_relaxed(&is_ready, is_there);
    return is_there;
}

/* The directory of threads has a link for each of them, beside two that each directory has. */
__attribute__((constructor)) static void init_alone(void)
{
    struct stat threads;
    if (stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 3)
        (void)abti_membarrier_init();
}

bool abti_membarrier(void)
{
    if (ABTI_LIKELY(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0))
        return true;
    abti_store_relaxed(&is_ready, false);
    return false;
}
