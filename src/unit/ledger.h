/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which objects the user has made, and which of them were freed not long ago: kept while misuse is looked for
 * (ABT_CHECK), so that a handle that is used after its object has gone is reported by name, and so is one that is none.
 * Of each kind the ledger knows all objects, unless some were made while misuse was not looked for, such as before
 * ABT_init, or there was no memory to note them; that is noted of the kind. An object in the program's own memory
 * is entered when it is first met.
 *
 * A freed object is kept back until many others have been freed, so that its address is nobody else's meanwhile.
 */
#ifndef ABTI_UNIT_LEDGER_H
#define ABTI_UNIT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/atomic.h"
#include "base/compiler.h"

/* In the order of api/misuse.c's names. */
enum abti_handle_kind {
    ABTI_HANDLE_UNIT,
    ABTI_HANDLE_POOL,
    ABTI_HANDLE_SCHED,
    ABTI_HANDLE_XSTREAM,
    ABTI_HANDLE_MUTEX,
    ABTI_HANDLE_COND,
    ABTI_HANDLE_RWLOCK,
    ABTI_HANDLE_EVENTUAL,
    ABTI_HANDLE_FUTURE,
    ABTI_HANDLE_BARRIER,
    ABTI_HANDLE_KEY,
    ABTI_HANDLE_XBARRIER,
    ABTI_HANDLE_TIMER,
    ABTI_HANDLE_THREAD_ATTR,
    ABTI_HANDLE_MUTEX_ATTR,
    ABTI_HANDLE_POOL_CONFIG,
    ABTI_HANDLE_SCHED_CONFIG,
    ABTI_HANDLE_POOL_DEF,
    ABTI_HANDLE_DRIVER,
    ABTI_NUM_HANDLE_KINDS,
};

/* The unit or thread that made or freed something. The unit may be no more: it is only to be printed. */
struct abti_party {
    enum { ABTI_PARTY_NATIVE, ABTI_PARTY_PRIMARY, ABTI_PARTY_SCHED, ABTI_PARTY_TASKLET, ABTI_PARTY_ULT } kind;
    const void *unit;
    void (*func)(void *);
};

struct abti_ledger_note {
    enum abti_handle_kind kind;
    bool freed;
    bool foreign; /* it is in the program's own memory: nobody has made it by a call */
    bool tasklet; /* of a unit */
    bool popped;  /* of a unit: the user has popped it, and has not pushed or run it since, as far as is known */
    void (*func)(void *); /* of a unit: the function with which it was made */
    struct abti_party creator, freer;
};

/* Written by abti_ledger_begin and abti_ledger_end, while there is one thread only. */
extern bool abti_ledger_on ABTI_HIDDEN;

/* Objects of a kind may have been made that the ledger does not know. Each is set once, to spare those that look. */
extern _Atomic(uint8_t) abti_ledger_misses[ABTI_NUM_HANDLE_KINDS] ABTI_HIDDEN;

/* Begins with nothing known. */
void abti_ledger_begin(void);

/* Forgets everything, and releases what was kept back. */
void abti_ledger_end(void);

/* The calling unit or thread. */
struct abti_party abti_party_self(void);

/* An object has been made by the caller. Without memory it stays unknown. func: of a unit, else NULL. */
void abti_ledger_note_made(const void *handle, enum abti_handle_kind kind, bool tasklet, void (*func)(void *));

/* An object has been met in the program's own memory. */
void abti_ledger_note_foreign(const void *handle, enum abti_handle_kind kind);

/* Sets note->popped of a unit that is known. */
void abti_ledger_note_popped(const void *unit, bool popped);

/* A unit that is known has this memory, which is the user's, for its stack, until it goes. */
void abti_ledger_note_stack(const void *unit, const void *address, size_t size);

/* The unit that has a part of this memory for its stack, and has not ended as far as is known. NULL: none has. */
const void *abti_ledger_stack_user(const void *address, size_t size);

/*
 * An object goes: it is kept back, and `release` is called with it later. False: the ledger does not know it, and the
 * caller releases it.
 */
bool abti_ledger_keep(void *handle, void (*release)(void *)) ABTI_MUST_CHECK;

/* What is known of a handle; false: nothing. */
bool abti_ledger_find(const void *handle, struct abti_ledger_note *note) ABTI_MUST_CHECK;

ABTI_INLINE void abti_ledger_made(const void *handle, enum abti_handle_kind kind)
{
    if (ABTI_UNLIKELY(abti_ledger_on))
        abti_ledger_note_made(handle, kind, false, NULL);
    else if (ABTI_UNLIKELY(
                 !abti_load_relaxed(&abti_ledger_misses[kind]))) /* relaxed: the holder of the handle comes later */
        abti_store_relaxed(&abti_ledger_misses[kind], 1);        /* relaxed: as above */
}

/* free(), of memory that is an object. */
void abti_ledger_free(void *object);

/* In the child of a fork: no object is known. */
void abti_ledger_forget(void);

#endif
