/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and descriptors that the user has made known: the set of them, which any thread changes under its lock, and
 * what a ring has got of it in its table. The kernel calls both fixed.
 */
#ifndef ABTIO_FIXED_H
#define ABTIO_FIXED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abt.h"
#include "abtio.h"

/* Places for ranges of memory, and the descriptors that can be in the set: all below this number. */
enum { FIXED_MEMORY = 64, FIXED_FILES = 4096 };

/* What can change: the places for memory, and behind them the descriptors. So many of the last changes are known. */
enum { FIXED_ALL = FIXED_MEMORY + FIXED_FILES, FIXED_RECENT = 64 };

/* Of each place, and of each descriptor, `changed` is the version of the set in which it was changed last. */
struct fixed_memory {
    uintptr_t addr;
    size_t size; /* 0: nothing is at this place */
    uint64_t changed;
};

struct fixed_file {
    bool known;
    uint64_t changed;
};

struct fixed_counts {
    _Atomic(uint64_t) memory, files; /* operations that have used some */
    _Atomic(uint64_t) refused;       /* what the kernel has not put into a table */
};

/*
 * A ring's table, at first all zero. Only its stream's native thread uses it; while it is in the set's list others read
 * the counts, and wake the stream.
 */
struct fixed_table {
    uint64_t version; /* of the set when it was looked at */
    bool joined;      /* it is in the list */
    bool tried_memory, tried_files;
    unsigned num_memory, num_files;                   /* places that the kernel has made */
    uintptr_t begin[FIXED_MEMORY], end[FIXED_MEMORY]; /* both 0: nothing is at this place */
    uint64_t has_file[FIXED_FILES / 64];              /* each at the place of its number */
    ABT_xstream xstream;
    struct fixed_counts counts;
    struct fixed_table *next;
};

/* All under the lock. */
struct fixed_set {
    pthread_mutex_t lock;
    struct fixed_memory memory[FIXED_MEMORY];
    struct fixed_file files[FIXED_FILES];
    uint16_t recent[FIXED_RECENT]; /* what was changed, at the version's remainder */
    struct fixed_table *tables;    /* those that hold something, or may */
    struct fixed_counts ended;     /* of tables that are gone */
};

extern struct fixed_set abtioi_fixed;

/* Counts the changes since libabtio has begun; written under the lock. 0: nobody has asked for anything fixed. */
extern _Atomic(uint64_t) abtioi_fixed_version;

/*
 * Whoever takes something out of the set, and later gives its address or number to an operation, sees to it that the
 * one happens before the other; then the operation's stream reads no older version.
 */
static inline uint64_t fixed_version(void)
{
    return atomic_load_explicit(&abtioi_fixed_version, memory_order_relaxed); /* relaxed: see above */
}

/* Whether the set has changed since the table was made so. */
static inline bool fixed_is_old(const struct fixed_table *table)
{
    return table->version != fixed_version();
}

/* A counter of a table's own thread. */
static inline void fixed_count(_Atomic(uint64_t) *counter)
{
    /* relaxed: others want a number of some moment */
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + 1, memory_order_relaxed); /* relaxed: as above */
}

/* The table's ring is about to go. */
void abtioi_fixed_leave(struct fixed_table *table);

/* Fills in the fields of abtio_info. */
void abtioi_fixed_tell(abtio_info *info);

/* libabtio ends: the set is empty. */
void abtioi_fixed_end(void);

/* Around fork(); the child's set is empty. */
void abtioi_fixed_before_fork(void);
void abtioi_fixed_after_fork(void);
void abtioi_fixed_forget(void);

/* ---- What rings do with it (fixed_ring.c) ---------------------------------------------------------------------- */

struct ring;
struct io_uring_sqe;

/*
 * Makes a ring's table as the set is, if the kernel has taken all submissions, which name places of the table. The
 * stream is the caller's.
 */
void abtioi_fixed_renew(struct ring *ring, ABT_xstream xstream);

/* Lets a submission, which is filled in, use what is in the table, unless the table is older than the set. */
void abtioi_fixed_use(struct fixed_table *table, struct io_uring_sqe *sqe);

#endif
