/*
 * What an idle ES does besides sleeping: it calls the user's hook instead, and pollers before. doc/waiting.md is the
 * user's view, doc/memory-model.md proves that no wake is lost.
 */
#ifndef ABTI_STREAM_IDLE_H
#define ABTI_STREAM_IDLE_H

#include <abt.h>
#include <stdbool.h>
#include "os/spin.h"
#include "os/wakefd.h"
#include "rt/types.h"
#include "stream/relook.h"

struct abti_poller {
    struct abti_poller *next;
    ABTX_poll_fn poll;
    void *arg;
    uint64_t period_ns; /* an idle ES calls it so often; ABTI_CLOCK_NEVER: it sleeps as if there were none */
    bool removed;       /* it was removed while it was being called; the caller frees it then */
};

/* This is a part of an ES. */
struct abti_idle {
    struct abti_spin lock;

    struct abti_relook relook; /* the ES's */

    /* The hook. */
    _Atomic(ABTX_idle_hook_fn) hook; /* lock; NULL: none. Glanced at */
    void *hook_arg;                  /* lock */
    uint32_t settings;               /* lock: how often the hook was set */
    _Atomic(uint32_t) in_hook;       /* the ES stores it (not 0, under the lock): it is going to call the hook of this
                                        setting. 0: it has returned */
    bool has_fd;                     /* lock */
    struct abti_wakefd fd;           /* made with the first hook; constant then, until the ES is freed */
    ABTX_idle_hook_fn current;       /* the ES's: what it calls in its present sleep; NULL: it sleeps by itself */
    void *current_arg;               /* the ES's */
    uint64_t owed;                   /* the ES's: wakes that it has seen and whose signals it has not yet drained */

    /* The pollers. ABTI_ES_REQ_POLL is set while there are any. */
    struct abti_poller *pollers; /* lock: in order of addition */
    struct abti_poller *cursor;  /* lock: which comes next in the present round of calls */
    struct abti_poller *polling; /* lock: which the ES calls now */
    _Atomic(uint32_t) polls;     /* the ES's: calls that have returned */
    _Atomic(uint64_t) period_ns; /* lock: the shortest period. Glanced at */
    bool busy;                   /* the ES's: a poller has done something since the ES last was about to sleep */

    /* The sources, see stream/source.h. */
    struct abti_spin sources_lock;
    _Atomic(struct abti_attachment *) sources; /* sources_lock. Glanced at */
    bool in_vain;                              /* the ES's: it has asked in vain and run nothing since */
};

/* --- For the ES --- */

/* Announces that the ES is going to sleep, as abti_sleeper_prepare; one of the other two follows. */
void abti_idle_prepare(abti_es *es);

/*
 * Sleeps until it is woken or the deadline has passed: by itself, or in the hook, which may come back at any time. True
 * if it was woken.
 */
bool abti_idle_sleep(abti_es *es, uint64_t deadline_ns);

/* Takes the announcement back. True if it was woken meanwhile. */
bool abti_idle_cancel(abti_es *es);

/* Whether there is a hook or a poller, which a sleep in a pool's own pop_wait would leave out. */
bool abti_idle_has_calls(abti_es *es);

/* The same for calls of other functions than this poller. By any thread, as long as the ES is there. */
bool abti_idle_has_other_calls(abti_es *es, ABTX_poll_fn poll);

/* Calls the pollers. */
void abti_idle_poll(abti_es *es);

/* Returns until when the ES may sleep on account of the pollers: `deadline_ns`, or before. */
uint64_t abti_idle_poll_limit(abti_es *es, uint64_t deadline_ns);

/* --- For any thread --- */

/*
 * Sets the hook; NULL: none. On return the hook that was set before is not running any more, unless the caller is in
 * it. Returns an ABT code.
 */
int abti_idle_set_hook(abti_es *es, ABTX_idle_hook_fn hook, void *arg) ABTI_MUST_CHECK;

/* Adds a poller. Returns an ABT code: INV_ARG when it is there already. */
int abti_idle_add_poller(abti_es *es, ABTX_poll_fn poll, void *arg, uint64_t period_ns) ABTI_MUST_CHECK;

/*
 * Removes a poller. On return it is not running any more, unless the caller is a poller of this ES. Returns an ABT
 * code: INV_ARG when it is not there.
 */
int abti_idle_remove_poller(abti_es *es, ABTX_poll_fn poll, void *arg) ABTI_MUST_CHECK;

/* Frees what belongs to an ES that runs no more. */
void abti_idle_fini(abti_es *es);

#endif
