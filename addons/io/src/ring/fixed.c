/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of memory and descriptors that are made known, and the calls that change it. */
#include "ring/fixed.h"

#include <errno.h>
#include <string.h>
#include "backend.h"

struct fixed_set abtioi_fixed = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Atomic(uint64_t) abtioi_fixed_version;

/* The kernel takes no more at a time. */
static const size_t most_size = (size_t)1 << 30;

/* The version that begins with a change of this. */
static uint64_t next_version_locked(unsigned what)
{
    uint64_t next = fixed_version() + 1;

    abtioi_assert(what < FIXED_ALL && abtioi_is_held(&abtioi_fixed.lock));
    abtioi_fixed.recent[next % FIXED_RECENT] = (uint16_t)what;
    atomic_store_explicit(&abtioi_fixed_version, next, memory_order_relaxed); /* relaxed: see fixed_version */
    return next;
}

/* Rings that hold what has been taken out release it at their streams' next event check: an idle one polls now. */
static void wake_holders_locked(void)
{
    for (struct fixed_table *table = abtioi_fixed.tables; table; table = table->next) {
        abtioi_assert(table->joined && table->xstream);
        ABTX_xstream_wake(table->xstream);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* The place of the range that begins there, or NULL. */
static struct fixed_memory *find_memory_locked(uintptr_t addr)
{
    abtioi_assert(abtioi_is_held(&abtioi_fixed.lock));
    for (int i = 0; i < FIXED_MEMORY; i++) {
        struct fixed_memory *memory = &abtioi_fixed.memory[i];
        if (memory->size > 0 && memory->addr == addr)
            return memory;
    }
    return NULL;
}

static int add_memory_locked(uintptr_t addr, size_t size)
{
    abtioi_assert(size > 0 && size <= most_size);
    if (find_memory_locked(addr))
        return -EEXIST;
    for (int i = 0; i < FIXED_MEMORY; i++) {
        struct fixed_memory *memory = &abtioi_fixed.memory[i];
        if (memory->size == 0) {
            *memory = (struct fixed_memory){addr, size, next_version_locked((unsigned)i)};
            return 0;
        }
    }
    return -ENOSPC;
}

int abtio_register_memory(void *addr, size_t size)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    if (!addr || size == 0 || size > UINTPTR_MAX - (uintptr_t)addr)
        return -EINVAL;
    if (size > most_size)
        return -EFBIG;
    pthread_mutex_lock(&abtioi_fixed.lock);
    int code = add_memory_locked((uintptr_t)addr, size);
    pthread_mutex_unlock(&abtioi_fixed.lock);
    return code;
}

int abtio_unregister_memory(void *addr)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    pthread_mutex_lock(&abtioi_fixed.lock);
    struct fixed_memory *memory = find_memory_locked((uintptr_t)addr);
    if (memory) {
        unsigned place = (unsigned)(memory - abtioi_fixed.memory);
        *memory = (struct fixed_memory){.changed = next_version_locked(place)};
        wake_holders_locked();
    }
    pthread_mutex_unlock(&abtioi_fixed.lock);
    return memory ? 0 : -ENOENT;
}

/* ---- Descriptors ----------------------------------------------------------------------------------------------- */

/* Puts a descriptor into the set, or takes it out: 0, or this error: it is so already. */
static int change_file(int fd, bool known, int error)
{
    abtioi_assert(fd >= 0 && fd < FIXED_FILES);
    pthread_mutex_lock(&abtioi_fixed.lock);
    struct fixed_file *file = &abtioi_fixed.files[fd];
    bool changes = file->known != known;
    if (changes)
        *file = (struct fixed_file){known, next_version_locked(FIXED_MEMORY + (unsigned)fd)};
    if (changes && !known)
        wake_holders_locked();
    pthread_mutex_unlock(&abtioi_fixed.lock);
    return changes ? 0 : error;
}

int abtio_register_file(int fd)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    if (fd < 0)
        return -EBADF;
    return fd < FIXED_FILES ? change_file(fd, true, -EEXIST) : -ENOSPC;
}

int abtio_unregister_file(int fd)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    return fd >= 0 && fd < FIXED_FILES ? change_file(fd, false, -ENOENT) : -ENOENT;
}

/* ---- For the rest of the library ------------------------------------------------------------------------------- */

static void add_counts(struct fixed_counts *sum, const struct fixed_counts *counts)
{
    /* relaxed: they are of some moment, and the sum is the caller's */
    sum->memory += atomic_load_explicit(&counts->memory, memory_order_relaxed);
    sum->files += atomic_load_explicit(&counts->files, memory_order_relaxed);     /* relaxed: as above */
    sum->refused += atomic_load_explicit(&counts->refused, memory_order_relaxed); /* relaxed: as above */
}

void abtioi_fixed_leave(struct fixed_table *table)
{
    if (!table->joined)
        return;
    pthread_mutex_lock(&abtioi_fixed.lock);
    struct fixed_table **link = &abtioi_fixed.tables;
    while (*link && *link != table)
        link = &(*link)->next;
    if (*link) { /* else it is one of the parent, in a child of fork() */
        *link = table->next;
        add_counts(&abtioi_fixed.ended, &table->counts);
    }
    pthread_mutex_unlock(&abtioi_fixed.lock);
    table->joined = false;
}

void abtioi_fixed_tell(abtio_info *info)
{
    struct fixed_counts sum = {0};

    pthread_mutex_lock(&abtioi_fixed.lock);
    add_counts(&sum, &abtioi_fixed.ended);
    for (struct fixed_table *table = abtioi_fixed.tables; table; table = table->next)
        add_counts(&sum, &table->counts);
    pthread_mutex_unlock(&abtioi_fixed.lock);
    info->num_in_memory = sum.memory;
    info->num_on_files = sum.files;
    info->num_refused = sum.refused;
}

/* Rings are gone. */
static void fixed_empty(void)
{
    abtioi_assert(abtioi_is_held(&abtioi_fixed.lock));
    memset(abtioi_fixed.memory, 0, sizeof(abtioi_fixed.memory));
    memset(abtioi_fixed.files, 0, sizeof(abtioi_fixed.files));
    memset(&abtioi_fixed.ended, 0, sizeof(abtioi_fixed.ended));
    abtioi_fixed.tables = NULL;
    atomic_store_explicit(&abtioi_fixed_version, 0, memory_order_relaxed); /* relaxed: nobody looks at it */
}

void abtioi_fixed_end(void)
{
    pthread_mutex_lock(&abtioi_fixed.lock);
    if (fixed_version() != 0)
        fixed_empty();
    pthread_mutex_unlock(&abtioi_fixed.lock);
}

void abtioi_fixed_before_fork(void)
{
    pthread_mutex_lock(&abtioi_fixed.lock);
}

void abtioi_fixed_after_fork(void)
{
    pthread_mutex_unlock(&abtioi_fixed.lock);
}

void abtioi_fixed_forget(void)
{
    pthread_mutex_init(&abtioi_fixed.lock, NULL);
    abtioi_fixed_end();
}
