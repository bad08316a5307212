/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads under a message-passing library, in the style of MPICH. A layer hides what a thread is: its identity is a
 * word, a ULT's handle or a marked address with bit 0 set for an external thread; thread-locals are keys with
 * destructors; mutexes are recursive by that identity. On it stands a library with one big critical section, in which
 * ranks, ULTs and external threads alike, wait for messages by yielding or by a condition variable.
 */
#ifndef TEST_CLIENTS_MPI_H
#define TEST_CLIENTS_MPI_H

#include <sched.h>

#include "client.h"

enum { RANKS = 12 };

/* ---- The layer ---- */

static atomic_long locals_made, locals_freed;

/* What a thread has for itself. */
struct local {
    struct message *spare;
};

static ABT_key local_key;
static _Thread_local struct local *native_local;

static inline bool is_native(uintptr_t id)
{
    return id & 1;
}

static inline uintptr_t own_id(void)
{
    static _Thread_local int mark;
    ABT_thread self = ABT_THREAD_NULL;

    if (ABT_thread_self(&self) != ABT_SUCCESS)
        return (uintptr_t)&mark | 1;
    if (is_native((uintptr_t)self))
        bail_out("the handle %p has bit 0 set", (void *)self);
    return (uintptr_t)self;
}

struct layer_mutex {
    ABT_mutex mutex;
    _Atomic(uintptr_t) owner;
    int depth;
};

static inline void lock(struct layer_mutex *m, bool low)
{
    uintptr_t id = own_id();

    if (atomic_load(&m->owner) == id) {
        m->depth++;
        return;
    }
    must(low ? ABT_mutex_lock_low(m->mutex) : ABT_mutex_lock(m->mutex));
    atomic_store(&m->owner, id);
    m->depth = 1;
}

static inline void unlock(struct layer_mutex *m, bool se)
{
    if (--m->depth > 0)
        return;
    atomic_store(&m->owner, 0);
    must(se ? ABT_mutex_unlock_se(m->mutex) : ABT_mutex_unlock(m->mutex));
}

/* Both let go of all levels. */
static inline void let_others_in(struct layer_mutex *m)
{
    int depth = m->depth;

    m->depth = 1;
    unlock(m, true);
    if (is_native(own_id()))
        sched_yield();
    else
        must(ABT_thread_yield());
    lock(m, true);
    m->depth = depth;
}

static inline void wait_in(struct layer_mutex *m, ABT_cond cond)
{
    int depth = m->depth;

    atomic_store(&m->owner, 0);
    must(ABT_cond_wait(cond, m->mutex));
    atomic_store(&m->owner, own_id());
    m->depth = depth;
}

/* ---- The library ---- */

struct message {
    struct message *next;
    int from, tag;
    long value;
};

static struct layer_mutex big_lock;

static struct rank {
    struct message *first;
    ABT_cond arrived;
} ranks[RANKS];

static inline struct local *own_local(void)
{
    bool native = is_native(own_id());
    struct local *local = native_local;

    if (!native)
        must(ABT_key_get(local_key, (void **)&local));
    if (!local) {
        local = calloc(1, sizeof(*local));
        atomic_fetch_add(&locals_made, 1);
        if (native)
            native_local = local;
        else
            must(ABT_key_set(local_key, local));
    }
    return local;
}

static inline void free_local(void *arg)
{
    struct local *local = arg;

    for (struct message *m; (m = local->spare) != NULL;) {
        local->spare = m->next;
        free(m);
    }
    free(local);
    atomic_fetch_add(&locals_freed, 1);
}

static inline void mpi_init(void)
{
    must(ABT_init(0, NULL)); /* counts, if it is not the first */
    must(ABT_key_create(free_local, &local_key));
    must(ABT_mutex_create(&big_lock.mutex));
    for (int i = 0; i < RANKS; i++)
        must(ABT_cond_create(&ranks[i].arrived));
}

static inline void mpi_finalize(void)
{
    for (int i = 0; i < RANKS; i++)
        must(ABT_cond_free(&ranks[i].arrived));
    must(ABT_mutex_free(&big_lock.mutex));
    must(ABT_key_free(&local_key));
    must(ABT_finalize());
}

static inline void mpi_send(int from, int to, int tag, long value)
{
    struct local *local = own_local();
    struct message *m = local->spare ? local->spare : calloc(1, sizeof(*m));

    local->spare = m->next;
    *m = (struct message){.from = from, .tag = tag, .value = value};
    lock(&big_lock, false);
    struct message **last = &ranks[to].first;
    while (*last)
        last = &(*last)->next;
    *last = m;
    must(to % 3 ? ABT_cond_signal(ranks[to].arrived) : ABT_cond_broadcast(ranks[to].arrived));
    unlock(&big_lock, false);
}

static inline long mpi_receive(int to, int from, int tag)
{
    struct local *local = own_local();
    struct message *m = NULL;

    lock(&big_lock, false);
    while (!m) {
        struct message **link = &ranks[to].first;
        while (*link && ((*link)->from != from || (*link)->tag != tag))
            link = &(*link)->next;
        if ((m = *link) != NULL)
            *link = m->next;
        else if ((to + tag) % 2)
            let_others_in(&big_lock);
        else
            wait_in(&big_lock, ranks[to].arrived);
    }
    unlock(&big_lock, true);
    m->next = local->spare;
    local->spare = m;
    return m->value;
}

/* Everybody's values added up. The big lock is taken around it, as by a call from within the library. */
static inline long mpi_sum(int me, int tag, long value)
{
    lock(&big_lock, false);
    if (me > 0) {
        mpi_send(me, 0, tag, value);
        value = mpi_receive(me, 0, tag);
    } else {
        for (int i = 1; i < RANKS; i++)
            value += mpi_receive(0, i, tag);
        for (int i = 1; i < RANKS; i++)
            mpi_send(0, i, tag, value);
    }
    unlock(&big_lock, false);
    return value;
}

#endif
