/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This asks dl_iterate_phdr and not dladdr, which waits for a thread that is in dlopen: that thread may wait for this
 * one.
 */
#include <link.h>
#include "base/text.h"
#include "image/module.h"

struct module_search {
    uintptr_t code;
    struct abti_module *module;
};

static bool module_contains(const struct dl_phdr_info *info, uintptr_t code)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && code - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module_search *search = arg;
    (void)size;
    if (!module_contains(info, search->code))
        return 0;
    struct abti_module *module = search->module;
    abti_text_copy(module->file, sizeof(module->file), info->dlpi_name ? info->dlpi_name : "");
    module->base = info->dlpi_addr;
    return 1;
}

bool abti_module_of(uintptr_t code, struct abti_module *module)
{
    struct module_search search = {code, module};
    return dl_iterate_phdr(look_at_module, &search);
}

static int read_changes(struct dl_phdr_info *info, size_t size, void *changes)
{
    (void)size;
    *(uint64_t *)changes = info->dlpi_adds + info->dlpi_subs;
    return 1; /* each file says the same */
}

uint64_t abti_module_changes(void)
{
    uint64_t changes = 0;
    dl_iterate_phdr(read_changes, &changes);
    return changes;
}
