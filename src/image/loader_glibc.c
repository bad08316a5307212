/* SPDX-License-Identifier: BSD-3-Clause */
#include "image/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(((struct link_map *)NULL)->l_next) == sizeof(uint64_t), "looked at as a word");

/* NULL: a static program has none. Some machines' loaders put the address there, others the offset. */
static const char *strings_of(const struct link_map *map)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            return (const char *)(entry->d_un.d_ptr < map->l_addr ? map->l_addr + entry->d_un.d_ptr
                                                                  : entry->d_un.d_ptr);
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool loader_needs(const struct link_map *map, const struct link_map *other)
{
    const char *strings = strings_of(map);
    for (const ElfW(Dyn) *entry = map->l_ld; strings && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strcmp(base_name(strings + entry->d_un.d_val), base_name(other->l_name)) == 0)
            return true;
    return false;
}

static bool is_needed(const struct link_map *other)
{
    const struct link_map *map = other->l_prev;
    while (map && !loader_needs(map, other))
        map = map->l_prev;
    return map != NULL;
}

/*
 * Finds the last library of the list that was loaded with the program, if no library has been loaded since. The loader
 * itself and the libraries before it in the list were loaded with the program. A library behind the loader was if a
 * library before it in the list needs it. The loader holds a lock while it calls this function, so that the list does
 * not change.
 */
static int find_last(struct dl_phdr_info *info, size_t size, void *last_)
{
    struct link_map **last = last_, *map = _r_debug.r_map;
    (void)info;
    (void)size;
    while (map && map->l_addr != _r_debug.r_ldbase)
        map = map->l_next;
    while (map && map->l_next && is_needed(map->l_next))
        map = map->l_next;
    *last = map && !map->l_next ? map : NULL;
    return 1;
}

/* Libraries that are there from the start are never unloaded. */
const uint64_t *abti_loader_next(void)
{
    struct link_map *last = NULL;
    dl_iterate_phdr(find_last, &last);
    return last ? (const uint64_t *)(const void *)&last->l_next : NULL;
}

static int read_count(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(uint64_t *)count = info->dlpi_adds;
    return 1;
}

uint64_t abti_loader_count(void)
{
    uint64_t count = 0;
    dl_iterate_phdr(read_count, &count);
    return count;
}
