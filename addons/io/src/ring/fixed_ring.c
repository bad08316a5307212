/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of rings: what is made known is put in, and submissions use what is there. */
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "ring/ring.h"

/* ---- The kernel's tables --------------------------------------------------------------------------------------- */

/* Makes a table of `num` empty places. Returns how many there are: all or none. */
static unsigned make_places(const struct ring *ring, unsigned call, unsigned num)
{
    struct io_uring_rsrc_register places = {.nr = num, .flags = IORING_RSRC_REGISTER_SPARSE};
    return syscall(SYS_io_uring_register, ring->fd, call, &places, sizeof(places)) < 0 ? 0 : num;
}

/* Puts something into a place, or takes it out. What operations under way use of it stays until they are done. */
static bool fixed_put(const struct ring *ring, unsigned call, unsigned place, const void *what)
{
    struct io_uring_rsrc_update2 update = {.offset = place, .data = (uintptr_t)what, .nr = 1};
    return syscall(SYS_io_uring_register, ring->fd, call, &update, sizeof(update)) == 1;
}

/* No table may have more places for files than the process may have. */
static unsigned most_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FIXED_FILES)
        return (unsigned)limit.rlim_cur;
    return FIXED_FILES;
}

/* ---- The table is made as the set is --------------------------------------------------------------------------- */

/* One that the kernel does not take out is not used any more all the same. */
static void renew_memory(struct ring *ring, unsigned place, const struct fixed_memory *memory)
{
    struct fixed_table *table = &ring->fixed;
    struct iovec none = {0}, range = {.iov_base = (void *)memory->addr, .iov_len = memory->size};

    abtioi_assert(place < FIXED_MEMORY && memory->size <= UINTPTR_MAX - memory->addr);
    abtioi_assert(table->begin[place] <= table->end[place]);
    if (table->end[place])
        fixed_put(ring, IORING_REGISTER_BUFFERS_UPDATE, place, &none);
    table->begin[place] = table->end[place] = 0;
    if (memory->size == 0)
        return;
    if (!table->tried_memory)
        table->num_memory = make_places(ring, IORING_REGISTER_BUFFERS2, FIXED_MEMORY);
    table->tried_memory = true;
    if (place < table->num_memory && fixed_put(ring, IORING_REGISTER_BUFFERS_UPDATE, place, &range)) {
        table->begin[place] = memory->addr;
        table->end[place] = memory->addr + memory->size;
    } else {
        fixed_count(&table->counts.refused);
    }
}

static void renew_file(struct ring *ring, unsigned fd, bool known)
{
    struct fixed_table *table = &ring->fixed;
    int none = -1, descriptor = (int)fd;
    uint64_t *word = &table->has_file[fd / 64], bit = UINT64_C(1) << fd % 64;

    abtioi_assert(fd < FIXED_FILES);
    if (*word & bit)
        fixed_put(ring, IORING_REGISTER_FILES_UPDATE2, fd, &none);
    *word &= ~bit;
    if (!known)
        return;
    if (!table->tried_files)
        table->num_files = make_places(ring, IORING_REGISTER_FILES2, most_files());
    table->tried_files = true;
    if (fd < table->num_files && fixed_put(ring, IORING_REGISTER_FILES_UPDATE2, fd, &descriptor))
        *word |= bit;
    else
        fixed_count(&table->counts.refused);
}

/* The version in which something has changed last. */
static uint64_t changed_locked(unsigned what)
{
    const struct fixed_set *set = &abtioi_fixed;
    abtioi_assert(what < FIXED_ALL && abtioi_is_held(&abtioi_fixed.lock));
    return what < FIXED_MEMORY ? set->memory[what].changed : set->files[what - FIXED_MEMORY].changed;
}

static void renew_locked(struct ring *ring, unsigned what)
{
    const struct fixed_set *set = &abtioi_fixed;

    if (what < FIXED_MEMORY)
        renew_memory(ring, what, &set->memory[what]);
    else
        renew_file(ring, what - FIXED_MEMORY, set->files[what - FIXED_MEMORY].known);
}

/* A table that is only a little behind looks at the last changes only: there are thousands of places. */
static void renew_changed_locked(struct ring *ring)
{
    uint64_t seen = ring->fixed.version, now = fixed_version();

    abtioi_assert(seen <= now);
    if (now - seen <= FIXED_RECENT) {
        for (uint64_t version = seen + 1; version <= now; version++) {
            unsigned what = abtioi_fixed.recent[version % FIXED_RECENT];
            if (changed_locked(what) == version) /* else it has changed again since */
                renew_locked(ring, what);
        }
    } else {
        for (unsigned what = 0; what < FIXED_ALL; what++) {
            if (changed_locked(what) > seen)
                renew_locked(ring, what);
        }
    }
    ring->fixed.version = now;
}

static void join_locked(struct fixed_table *table, ABT_xstream xstream)
{
    abtioi_assert(xstream != ABT_XSTREAM_NULL && abtioi_is_held(&abtioi_fixed.lock));
    if (table->joined)
        return;
    table->joined = true;
    table->xstream = xstream;
    table->next = abtioi_fixed.tables;
    abtioi_fixed.tables = table;
}

void abtioi_fixed_renew(struct ring *ring, ABT_xstream xstream)
{
    if (ring_unsubmitted(ring) > 0)
        return; /* their results bring the stream here again */
    pthread_mutex_lock(&abtioi_fixed.lock);
    join_locked(&ring->fixed, xstream);
    renew_changed_locked(ring);
    pthread_mutex_unlock(&abtioi_fixed.lock);
}

/* ---- Submissions ----------------------------------------------------------------------------------------------- */

/* Those whose descriptor may be one of a table, of those that channels submit. */
static bool takes_file(unsigned opcode)
{
    const uint64_t those =
        UINT64_C(1) << IORING_OP_READ | UINT64_C(1) << IORING_OP_WRITE | UINT64_C(1) << IORING_OP_READV |
        UINT64_C(1) << IORING_OP_WRITEV | UINT64_C(1) << IORING_OP_FSYNC | UINT64_C(1) << IORING_OP_SENDMSG |
        UINT64_C(1) << IORING_OP_RECVMSG | UINT64_C(1) << IORING_OP_SEND | UINT64_C(1) << IORING_OP_RECV |
        UINT64_C(1) << IORING_OP_ACCEPT | UINT64_C(1) << IORING_OP_POLL_ADD;
    return those >> opcode & 1;
}

static bool has_file(const struct fixed_table *table, int fd)
{
    abtioi_assert(table->num_files <= FIXED_FILES);
    return (unsigned)fd < table->num_files && table->has_file[fd / 64] >> fd % 64 & 1;
}

/* The place of the range in which a buffer is as a whole, or -1. */
static int place_of(const struct fixed_table *table, uint64_t addr, uint64_t size)
{
    abtioi_assert(table->num_memory <= FIXED_MEMORY);
    for (unsigned i = 0; i < table->num_memory; i++) {
        if (addr >= table->begin[i] && addr < table->end[i] && size <= table->end[i] - addr)
            return (int)i;
    }
    return -1;
}

static void use_memory(struct fixed_table *table, struct io_uring_sqe *sqe)
{
    int place = place_of(table, sqe->addr, sqe->len);

    abtioi_assert(sqe->opcode == IORING_OP_READ || sqe->opcode == IORING_OP_WRITE);
    if (place < 0)
        return;
    sqe->opcode = sqe->opcode == IORING_OP_READ ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED;
    sqe->buf_index = (uint16_t)place;
    fixed_count(&table->counts.memory);
}

void abtioi_fixed_use(struct fixed_table *table, struct io_uring_sqe *sqe)
{
    if (fixed_is_old(table))
        return;
    if (takes_file(sqe->opcode) && has_file(table, sqe->fd)) {
        sqe->flags |= IOSQE_FIXED_FILE;
        fixed_count(&table->counts.files);
    }
    if ((sqe->opcode == IORING_OP_READ || sqe->opcode == IORING_OP_WRITE) && sqe->len > 0)
        use_memory(table, sqe);
}
