/* SPDX-License-Identifier: BSD-3-Clause */
/* By a walk over all modules, where the C library has nothing better: a microsecond and more. */
#include "team/relay.h"

#include <link.h>

struct module_walk {
    uintptr_t at;
    uint64_t module;
};

static int module_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module_walk *walk = arg;
    uintptr_t end = 0, data = 0;
    bool is_it = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_DYNAMIC)
            data = part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        end = part->p_vaddr + part->p_memsz;
        is_it = is_it || walk->at - (info->dlpi_addr + part->p_vaddr) < part->p_memsz;
    }
    if (is_it)
        walk->module = abtomp_module_mix(info->dlpi_addr, end, data);
    return is_it;
}

uint64_t abtomp_module_of(void (*fn)(void *))
{
    struct module_walk walk = {.at = (uintptr_t)fn};
    (void)dl_iterate_phdr(module_visit, &walk);
    return walk.module;
}
