/*
 * Which objects the user has made, and which of them were freed not long ago: kept while misuse is looked for
 * (ABT_CHECK), so that a handle that is used after its object has gone is told by name. What the ledger does not know,
 * such as an object in the user's memory or one made before ABT_init, it says nothing of.
 *
 * A freed object is kept back until many others have been freed, so that its address is nobody else's meanwhile.
 */
#ifndef ABTI_UNIT_LEDGER_H
#define ABTI_UNIT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "rt/types.h"

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
    bool tasklet;         /* of a unit */
    void (*func)(void *); /* of a unit: the function with which it was made */
    struct abti_party creator, freer;
};

/* Written by abti_ledger_begin and abti_ledger_end, while there is one thread only. */
extern bool abti_ledger_on ABTI_HIDDEN;

/* Begins with nothing known. */
void abti_ledger_begin(void);

/* Forgets everything, and lets go of what was kept back. */
void abti_ledger_end(void);

/* The calling unit or thread. */
struct abti_party abti_party_self(void);

/* An object has been made by the caller. Without memory it stays unknown. func: of a unit, else NULL. */
void abti_ledger_note_made(const void *handle, enum abti_handle_kind kind, bool tasklet, void (*func)(void *));

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
}

/* free(), of memory that is an object. */
void abti_ledger_free(void *object);

/* In the child of a fork: no object is known. */
void abti_ledger_forget(void);

#endif
