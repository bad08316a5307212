/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers: the work of a library on streams beside their units. Attached to a stream, a driver is started on its native
 * thread, called there, and ended there before the stream ends. Each is one of the stream's callees, see idle/idle.h,
 * and has a place for data in all streams.
 */
#ifndef ABTI_IDLE_DRIVER_H
#define ABTI_IDLE_DRIVER_H

#include "rt/self.h"

struct ABTX_driver_opaque {
    ABTX_driver_ops ops; /* constant, as are arg and index */
    void *arg;
    unsigned index;  /* of its data in a stream */
    bool everywhere; /* rt.lock: streams that come are to have it */

    /* How long an idle ES may sleep before it calls poll; ABTI_CLOCK_NEVER: as if there were none. */
    _Atomic(uint64_t) period_ns;
    /* The same for all streams, whenever they are attached. relaxed, both: they are settings. */
    _Atomic(uint64_t) max_sleep_ns;
    _Atomic(bool) adjusts; /* that counts, since somebody has said so */

    /* Of one with one leader, see idle/leader.h. */
    _Atomic(uint32_t) leader;
    _Atomic(uint32_t) next_leader; /* the index of the stream that is to lead next; 0: none */
    _Atomic(uint32_t) calls;       /* the leader's: of callbacks */
};

/* --- For the ES --- */

/* Starts and ends the drivers of which that is asked. It does nothing in a callback of one. */
void abti_drivers_serve(abti_es *es);

/* Ends all drivers, the last one first. Drivers that stay attached are started again if the ES is revived. */
void abti_drivers_end(abti_es *es);

/* Whether there are any that belong to the ES's own native thread. */
bool abti_drivers_are_bound(abti_es *es);

/* Whether there are any that have been started. */
bool abti_drivers_have_begun(abti_es *es);

/* Makes the driver's next poll, if that may be now. Returns an ABT code: INV_ARG when it is not on, or has no poll. */
int abti_driver_poll_now(abti_es *es, ABTX_driver driver, ABT_bool *found) ABTI_MUST_CHECK;

/* Makes the ES the leader. Returns an ABT code: INV_ARG when the driver is not on there. */
int abti_driver_lead(abti_es *es, ABTX_driver driver) ABTI_MUST_CHECK;

/* --- For any thread --- */

/* Returns ABT_SUCCESS, or MEM: there are too many, or there is no memory. */
int abti_driver_create(const ABTX_driver_ops *ops, void *arg, ABTX_driver *driver) ABTI_MUST_CHECK;

/* Detaches it from all streams, and frees it. */
void abti_driver_free(ABTX_driver driver);

/*
 * Attaches it. If the caller is the ES, start has returned, and its code is returned. Returns an ABT code: INV_ARG when
 * it is attached there already; INV_XSTREAM when the caller is the ES and away.
 */
int abti_driver_attach(ABTX_driver driver, abti_es *es) ABTI_MUST_CHECK;

/* Attaches it to all ESs that there are, and to those that come. Returns ABT_SUCCESS or MEM: then to none. */
int abti_driver_attach_all(ABTX_driver driver) ABTI_MUST_CHECK;

/* Detaches it; on return, end has returned. Returns an ABT code: INV_ARG when it is not attached there. */
int abti_driver_detach(ABTX_driver driver, abti_es *es) ABTI_MUST_CHECK;

/* Says how long ESs may sleep that it is attached to. */
void abti_driver_set_max_sleep(ABTX_driver driver, uint64_t ns);

/* Whether the caller is in a callback of a callee of its ES. */
bool abti_is_in_callee(abti_es *es);

/* Attaches to a new ES, which does not run yet, the drivers that all ESs are to have. Returns ABT_SUCCESS or MEM. */
int abti_drivers_enter(abti_es *es) ABTI_MUST_CHECK;

/* In the child of a fork: the streams are no more. */
void abti_drivers_forget(void);

#endif
