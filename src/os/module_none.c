/* SPDX-License-Identifier: BSD-3-Clause */
/* Where dl_iterate_phdr is missing. */
#include <dlfcn.h>
#include "base/text.h"
#include "os/module.h"

bool abti_module_of(uintptr_t code, struct abti_module *module)
{
    Dl_info info;
    if (!dladdr((void *)code, &info) || !info.dli_fname)
        return false;
    abti_text_copy(module->file, sizeof(module->file), info.dli_fname);
    module->base = (uintptr_t)info.dli_fbase;
    return true;
}

void *abti_module_function(const char *file, const char *name)
{
    (void)file;
    return dlsym(RTLD_DEFAULT, name);
}

uint64_t abti_module_changes(void)
{
    return 0;
}
