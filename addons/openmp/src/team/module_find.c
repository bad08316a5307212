/* SPDX-License-Identifier: BSD-3-Clause */
/* By the C library's table for unwinding, which is read without a lock: some nanoseconds. */
#include "team/relay.h"

#include <dlfcn.h>

uint64_t abtomp_module_of(void (*fn)(void *))
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)fn, &found) != 0)
        return 0;
    uintptr_t begin = (uintptr_t)found.dlfo_map_start;
    return abtomp_module_mix(begin, (uintptr_t)found.dlfo_map_end - begin, (uintptr_t)found.dlfo_eh_frame - begin);
}
