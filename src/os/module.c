/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This asks dl_iterate_phdr and not dladdr or dlsym, which wait for a thread that is in dlopen: that thread may wait
 * for this one, in a constructor.
 */
#include <link.h>
#include <string.h>
#include "base/text.h"
#include "os/module.h"

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

/* --- Functions that a file exports --- */

typedef ElfW(Sym) elf_symbol;

struct function_search {
    const char *file, *name;
    uintptr_t address; /* 0: not found */
};

/* The tables of a file that its dynamic section names. */
struct tables {
    const elf_symbol *symbols;
    const char *strings;
    const uint32_t *hashes;
};

/* Some machines' loaders put the address there, others the offset. */
static const void *table_at(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    uintptr_t at = entry->d_un.d_ptr;
    return (const void *)(at < info->dlpi_addr ? info->dlpi_addr + at : at);
}

static struct tables tables_of(const struct dl_phdr_info *info)
{
    struct tables tables = {NULL, NULL, NULL};
    const ElfW(Dyn) *entry = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = table_at(info, entry);
        else if (entry->d_tag == DT_STRTAB)
            tables.strings = table_at(info, entry);
        else if (entry->d_tag == DT_GNU_HASH)
            tables.hashes = table_at(info, entry);
    }
    return tables;
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/*
 * The table of hashes: the numbers of buckets, of the first symbol that has a hash, and of words of a filter; a shift;
 * the filter; for each bucket its first symbol, 0 if there is none; and the hash of each symbol, whose lowest bit says
 * that it is the last one of its bucket.
 */
static const elf_symbol *find_symbol(const struct tables *tables, const char *name)
{
    if (!tables->symbols || !tables->strings || !tables->hashes)
        return NULL;
    uint32_t num_buckets = tables->hashes[0], first = tables->hashes[1], hash = gnu_hash(name);
    const uint32_t *buckets = tables->hashes + 4 + tables->hashes[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = buckets + num_buckets;
    uint32_t at = num_buckets > 0 ? buckets[hash % num_buckets] : 0;
    for (bool is_last = at < first; !is_last; at++) {
        if ((chain[at - first] ^ hash) < 2 && strcmp(tables->strings + tables->symbols[at].st_name, name) == 0)
            return &tables->symbols[at];
        is_last = chain[at - first] & 1;
    }
    return NULL;
}

static int look_for_function(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct function_search *search = arg;
    (void)size;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!slash || strcmp(slash + 1, search->file) != 0)
        return 0;
    struct tables tables = tables_of(info);
    const elf_symbol *symbol = find_symbol(&tables, search->name);
    if (symbol && symbol->st_shndx != SHN_UNDEF)
        search->address = info->dlpi_addr + symbol->st_value;
    return search->address != 0;
}

void *abti_module_function(const char *file, const char *name)
{
    struct function_search search = {file, name, 0};
    dl_iterate_phdr(look_for_function, &search);
    return (void *)search.address;
}

/* --- Changes --- */

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
