/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/*
 * TSan looks at nothing in the functions that read the loader's list, nor do they call functions of the C library,
 * which it looks at, too. The loader writes a record before it puts it into the list, takes it out before it frees it,
 * and holds the lock of dl_iterate_phdr both times (glibc's dl_load_write_lock). TSan sees that it allocates and frees
 * the records, but not its locks.
 */

/* NULL: a static program has none. Some machines' loaders put the address there, others the offset. */
ABTI_NO_SANITIZE static const char *strings_of(const struct link_map *map)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            return (const char *)(entry->d_un.d_ptr < map->l_addr ? map->l_addr + entry->d_un.d_ptr
                                                                  : entry->d_un.d_ptr);
    return NULL;
}

ABTI_NO_SANITIZE static const char *base_name(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at; at++)
        if (*at == '/')
            name = at + 1;
    return name;
}

ABTI_NO_SANITIZE static bool same_base_name(const char *a, const char *b)
{
    a = base_name(a);
    b = base_name(b);
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

ABTI_NO_SANITIZE static bool loader_needs(const struct link_map *map, const struct link_map *other)
{
    const char *strings = strings_of(map);
    for (const ElfW(Dyn) *entry = map->l_ld; strings && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && same_base_name(strings + entry->d_un.d_val, other->l_name))
            return true;
    return false;
}

ABTI_NO_SANITIZE static bool is_needed(const struct link_map *other)
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
ABTI_NO_SANITIZE static int find_last(struct dl_phdr_info *info, size_t size, void *last_)
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
void *const *abti_loader_next(void)
{
    struct link_map *last = NULL;
    dl_iterate_phdr(find_last, &last);
    return last ? (void *const *)(const void *)&last->l_next : NULL;
}
