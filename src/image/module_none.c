/* SPDX-License-Identifier: BSD-3-Clause */
/* Where dl_iterate_phdr is missing. */
#include <dlfcn.h>
#include <stdio.h>
#include "image/module.h"

bool abti_module_of(uintptr_t code, struct abti_module *module)
{
    Dl_info info;
    if (!dladdr((void *)code, &info) || !info.dli_fname)
        return false;
    snprintf(module->file, sizeof(module->file), "%s", info.dli_fname);
    module->base = (uintptr_t)info.dli_fbase;
    return true;
}

uint64_t abti_module_changes(void)
{
    return 0;
}
