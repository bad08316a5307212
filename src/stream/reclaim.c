/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/reclaim.h"

#include "os/clock.h"
#include "rt/rt.h"
#include "stream/helper.h"
#include "wait/word.h"

/*
 * A native thread gives the memory back. It is made when a depot is crowded for the first time, and sleeps while none
 * is. The streams could not do it: one that never idles would do it in the midst of its work, and one that waits in a
 * system call (a program whose main function sleeps when all is done) not at all.
 *
 *   NONE -> AWAKE               by a thread that finds a depot crowded, and then makes the native thread
 *   AWAKE -> REFUSED            by the same thread, when the native thread cannot be made: no thread tries again before
 *                               the next ABT_init
 *   AWAKE -> ASLEEP             by the native thread, when there was nothing to do in a whole period
 *   ASLEEP -> AWAKE             by a thread that finds a depot crowded, and then makes the system call; or by the
 *                               native thread, when it finds one crowded itself
 *   AWAKE, ASLEEP -> ENDING     by ABT_finalize
 *   ENDING, REFUSED -> NONE     by ABT_finalize
 *   any -> NONE                 in the child of a fork, which does not have the thread: it makes one when it needs
 *                               one
 *
 * No wake is lost: a thread that frees an object fills the depot under its lock and looks at the state after that; the
 * native thread stores ASLEEP and then looks at the depots, each under its lock. The one that holds the lock second
 * sees the store of the other.
 */
enum { NONE, AWAKE, ASLEEP, ENDING, REFUSED };

/*
 * Memory that has not been needed for so long is given back. It takes two polls to know that, so that it may take twice
 * as long.
 */
enum { PERIOD_NS = 100 * 1000 * 1000 };

static _Atomic(uint32_t) reclaim_state;
static pthread_t reclaim_thread; /* written by the thread that has left NONE, read by ABT_finalize */

/* The thread holds its lock while it has other locks, or memory that it is giving back. */
static struct abti_helper reclaimer = {.working = ABTI_SPIN_INIT(ABTI_RANK_HELPER)};

static bool is_ending(void)
{
    return abti_load_acquire(&reclaim_state) == ENDING; /* acquire: pairs with the release in abti_reclaim_fini */
}

enum { NUM_SLABS = 3 + ABTI_STACK_CLASSES };

/* NULL: there is none yet. */
static struct abti_slab *slab_at(unsigned i)
{
    abti_assert(i < NUM_SLABS);
    switch (i) {
    case 0: return &abti_rt.stack_slab;
    case 1: return &abti_rt.unit_slab;
    case 2: return &abti_rt.ktable_slab;
    default: return abti_load_acquire(&abti_rt.class_slabs[i - 3]); /* acquire: pairs with the release in obtain_slab */
    }
}

/* Gives back in small steps, since a fork may wait. */
static bool give_back(struct abti_slab *slab)
{
    abti_spin_lock(&reclaimer.working);
    bool given = abti_slab_give_back(slab);
    abti_spin_unlock(&reclaimer.working);
    return given;
}

/* Looks at everything once. False when there was nothing to give back and no depot is crowded. */
static bool reclaim_reclaim(void)
{
    bool more = false;
    for (unsigned i = 0; i < NUM_SLABS; i++) {
        struct abti_slab *slab = slab_at(i);
        if (!slab)
            continue;
        abti_spin_lock(&reclaimer.working);
        more |= abti_slab_look(slab);
        abti_spin_unlock(&reclaimer.working);
        while (!is_ending() && give_back(slab))
            more = true;
    }
    return more;
}

static bool any_is_crowded(void)
{
    bool any = false;
    abti_spin_lock(&reclaimer.working);
    for (unsigned i = 0; i < NUM_SLABS && !any; i++)
        any = slab_at(i) && abti_slab_is_crowded(slab_at(i));
    abti_spin_unlock(&reclaimer.working);
    return any;
}

static void ask_for_stacks(void)
{
    abti_spin_lock(&reclaimer.working);
    abti_es_ask_all_for_stacks(NULL);
    abti_spin_unlock(&reclaimer.working);
}

static bool change_state(uint32_t from, uint32_t to)
{
    return abti_cas_relaxed(&reclaim_state, &from, to);
}

static void sleep_until_crowded(void)
{
    if (!change_state(AWAKE, ASLEEP))
        return;
    if (any_is_crowded() && change_state(ASLEEP, AWAKE))
        return;
    (void)abti_word_await_change(&reclaim_state, ASLEEP, ABTI_CLOCK_NEVER);
}

/*
 * When all that is in the depots is given back, the ESs are asked once for the free stacks that they have at hand:
 * idle ones have no use for them. Two polls later these are given back, too.
 */
static void *reclaim_main(void *arg)
{
    enum { QUIET = 3 };
    int quiet = 0; /* how many polls in a row have found nothing */
    bool asked = false;
    (void)arg;
    while (!is_ending()) {
        (void)abti_word_await_change(&reclaim_state, AWAKE, abti_clock_mono_ns() + PERIOD_NS); /* or it is to end */
        quiet = reclaim_reclaim() ? 0 : quiet + 1;
        if (quiet == 1 && !asked)
            ask_for_stacks();
        asked |= quiet == 1;
        if (quiet < QUIET)
            continue;
        sleep_until_crowded();
        quiet = 0;
        asked = false;
    }
    return NULL;
}

/*
 * Sees to it that the native thread works if the slab's depot is crowded. Any thread may call this. It looks at the
 * lines of all streams, but not while the native thread is awake, which polls by itself. The first time alone takes
 * long.
 */
static void reclaim_start(struct abti_slab *slab)
{
    uint32_t state = abti_load_relaxed(&reclaim_state);
    if ((state != ASLEEP && state != NONE) || !abti_slab_is_crowded(slab) || !change_state(state, AWAKE))
        return;
    if (state == ASLEEP)
        abti_futex_wake(&reclaim_state);
    else if (abti_helper_start(&reclaim_thread, reclaim_main))
        abti_store_relaxed(&reclaim_state, REFUSED);
}

/* --- The beginning and the end --- */

static void forget_reclaimer(void)
{
    abti_store_relaxed(&reclaim_state, NONE);
}

void abti_reclaim_init(void)
{
    reclaimer.in_child = forget_reclaimer;
    abti_store_relaxed(&reclaim_state, abti_helper_register(&reclaimer) ? NONE : REFUSED);
}

void abti_reclaim_watch(struct abti_slab_spec *spec, size_t kept)
{
    abti_slab_spec_watch(spec, kept, reclaim_start);
}

void abti_reclaim_fini(void)
{
    /*
     * relaxed: no stream is left but the caller's. The others have been joined, so that the caller sees which thread
     * they have started; what the thread itself stores meanwhile is looked at no further.
     */
    uint32_t state = abti_load_relaxed(&reclaim_state);
    if (state == AWAKE || state == ASLEEP) {
        /* release: pairs with the acquires in is_ending and abti_word_await_change */
        abti_store_release(&reclaim_state, ENDING);
        abti_futex_wake(&reclaim_state);
        pthread_join(reclaim_thread, NULL);
    }
    abti_store_relaxed(&reclaim_state, NONE); /* relaxed: the native thread has been joined */
}
