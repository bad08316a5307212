#include "os/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

_Static_assert(sizeof(((struct link_map *)NULL)->l_next) == sizeof(uint64_t), "looked at as a word");

/* The loader holds a lock while it calls this: the list does not change. */
static int find_last(struct dl_phdr_info *info, size_t size, void *last_)
{
    struct link_map **last = last_;
    (void)info;
    (void)size;
    while (*last && (*last)->l_next)
        *last = (*last)->l_next;
    return 1;
}

/* Libraries that are there from the start are never unloaded; the loader itself stands last among them. */
const uint64_t *abti_loader_next(void)
{
    static const char here;
    Dl_info info;
    struct link_map *own = NULL, *last;
    if (!dladdr1(&here, &info, (void **)&own, RTLD_DL_LINKMAP))
        return NULL;
    last = own;
    dl_iterate_phdr(find_last, &last);
    if (!last || (last != own && last->l_addr != _r_debug.r_ldbase))
        return NULL;
    return (const uint64_t *)(const void *)&last->l_next;
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
