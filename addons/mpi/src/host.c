/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <abt.h>

#include "host.h"

/*
 * What libabt exports to be read without the headers of its rooms, which a companion may not include: where it keeps
 * what, by name.
 */
extern const struct {
    char magic[16];
    uint32_t version, num;
    const struct {
        char name[32];
        uint32_t at, size;
    } * entries;
    const char *rt;
} ABTI_debug_layout;

const atomic_bool *abtmpi_host_up(void)
{
    static const atomic_bool unknown = true;
    uint32_t i = 0;

    while (i < ABTI_debug_layout.num && strcmp(ABTI_debug_layout.entries[i].name, "rt.up"))
        i++;
    bool is_known = ABTI_debug_layout.version == 1 && i < ABTI_debug_layout.num;
    return is_known ? (const atomic_bool *)(ABTI_debug_layout.rt + ABTI_debug_layout.entries[i].at) : &unknown;
}

void *abtmpi_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The name of a companion's file begins so; that of libabtomp may be libgomp.so.1. */
static bool host_is_companion(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return strncmp(name, "libabt", 6) == 0 || strncmp(name, "libgomp", 7) == 0;
}

/* Whether the object has been linked with libabt. */
static bool host_needs_libabt(const struct dl_phdr_info *object)
{
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t names = 0;

    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    }
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            names = entry->d_un.d_ptr;
    }
    if (names == 0)
        return false;
    if (names < object->dlpi_addr)
        names += object->dlpi_addr; /* some C libraries leave the address as it is in the file */
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_NEEDED && strcmp((const char *)(names + entry->d_un.d_val), "libabt.so.1") == 0)
            return true;
    }
    return false;
}

static int host_look_at(struct dl_phdr_info *object, size_t size, void *arg)
{
    int *ults = arg;

    (void)size;
    if (!host_needs_libabt(object))
        return 0;
    if (!host_is_companion(object->dlpi_name))
        *ults = HOST_ULTS;
    else if (*ults == HOST_NO_ULTS && !strstr(object->dlpi_name, "libabtmpi") && !strstr(object->dlpi_name, "libabtio"))
        *ults = HOST_MEMBERS;
    return 0;
}

int abtmpi_host_ults(void)
{
    const char *value = getenv("ABTMPI_ULTS");
    int ults = HOST_NO_ULTS;

    if (ABT_initialized() == ABT_SUCCESS || (value && strcmp(value, "1") == 0))
        return HOST_ULTS;
    dl_iterate_phdr(host_look_at, &ults);
    return ults;
}
