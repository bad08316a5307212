#include "stream/reclaim.h"

#include <pthread.h>
#include <signal.h>
#include "os/clock.h"
#include "rt/rt.h"
#include "wait/word.h"

/*
 * A native thread gives the memory back. It is made when a depot is crowded for the first time, and sleeps while none
 * is. The streams could not do it: one that never idles would do it in the midst of its work, and one that waits in a
 * system call (a program whose main function sleeps when all is done) not at all.
 *
 *   NONE -> AWAKE                         by a thread that finds a depot crowded, and then makes the native thread
 *   AWAKE -> REFUSED                      by that thread, when the native thread cannot be made: no thread tries again
 *                                         before the next ABT_init
 *   AWAKE -> ASLEEP                       by the native thread, when there was nothing to do in a whole period
 *   ASLEEP -> AWAKE                       by a thread that finds a depot crowded, and then makes the system call; or by
 *                                         the native thread, when it finds one crowded itself
 *   AWAKE, ASLEEP -> ENDING               by ABT_finalize
 *   ENDING, REFUSED -> NONE               by ABT_finalize
 *   any -> NONE                           in the child of a fork, which does not have the thread: it makes one when it
 *                                         needs one
 *
 * No wake is lost: a thread that frees an object fills the depot under its lock and looks at the state after that; the
 * native thread stores ASLEEP and then looks at the depots, each under its lock. The one that has the lock second sees
 * what the other has done.
 */
enum { NONE, AWAKE, ASLEEP, ENDING, REFUSED };

/*
 * Memory that has not been needed for so long is given back. It takes two looks to know that, so that it may take twice
 * as long.
 */
enum { PERIOD_NS = 100 * 1000 * 1000 };

static _Atomic(uint32_t) reclaim_state;
static pthread_t reclaim_thread; /* written by the thread that has left NONE, read by ABT_finalize */

/*
 * The thread holds this while it has other locks, or memory that it is giving back. A fork waits for it: otherwise the
 * child would have these locks held for ever.
 */
static struct abti_spin working = ABTI_SPIN_INIT(ABTI_RANK_RECLAIM);

static bool is_ending(void)
{
    return abti_load_acquire(&reclaim_state) == ENDING; /* acquire: pairs with the release in abti_reclaim_fini */
}

enum { NUM_SLABS = 3 + ABTI_STACK_CLASSES };

static struct abti_slab *slab_at(unsigned i)
{
    switch (i) {
    case 0: return &abti_rt.stack_slab;
    case 1: return &abti_rt.unit_slab;
    case 2: return &abti_rt.ktable_slab;
    default: return &abti_rt.class_slabs[i - 3];
    }
}

/* Gives back in small steps, since a fork may wait. */
static bool give_back(struct abti_slab *slab)
{
    abti_spin_lock(&working);
    bool given = abti_slab_give_back(slab);
    abti_spin_unlock(&working);
    return given;
}

/* Looks at everything once. False when there was nothing to give back and no depot is crowded. */
static bool reclaim(void)
{
    bool more = false;
    for (unsigned i = 0; i < NUM_SLABS; i++) {
        abti_spin_lock(&working);
        more |= abti_slab_look(slab_at(i));
        abti_spin_unlock(&working);
        while (!is_ending() && give_back(slab_at(i)))
            more = true;
    }
    return more;
}

static bool any_is_crowded(void)
{
    bool any = false;
    abti_spin_lock(&working);
    for (unsigned i = 0; i < NUM_SLABS && !any; i++)
        any = abti_slab_is_crowded(slab_at(i));
    abti_spin_unlock(&working);
    return any;
}

static void ask_for_stacks(void)
{
    abti_spin_lock(&working);
    abti_es_ask_all_for_stacks(NULL);
    abti_spin_unlock(&working);
}

/* relaxed: the locks of the depots order it, see above */
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
 * When all that lies in the depots is given back, the ESs are asked once for the free stacks that they have at hand:
 * idle ones have no use for them. Two looks later these are given back, too.
 */
static void *reclaim_main(void *arg)
{
    enum { QUIET = 3 };
    int quiet = 0; /* how many looks in a row have found nothing */
    bool asked = false;
    (void)arg;
    while (!is_ending()) {
        (void)abti_word_await_change(&reclaim_state, AWAKE, abti_clock_mono_ns() + PERIOD_NS); /* or it is to end */
        quiet = reclaim() ? 0 : quiet + 1;
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

/* Makes the thread. The program's signals are not for it. */
static int make_thread(void)
{
    enum { STACK_SIZE = 128 * 1024 };
    pthread_attr_t attr;
    sigset_t all, before;
    if (pthread_attr_init(&attr))
        return -1;
    (void)pthread_attr_setstacksize(&attr, STACK_SIZE); /* one that is too small leaves the default */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&reclaim_thread, &attr, reclaim_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return err;
}

/*
 * Sees to it that the native thread works, since a depot is crowded. Any thread may call this. It takes long the first
 * time only.
 */
static void reclaim_start(void)
{
    /* relaxed: the lock of the depot orders it, see above */
    uint32_t state = abti_load_relaxed(&reclaim_state);
    if (state == ASLEEP && change_state(ASLEEP, AWAKE))
        abti_futex_wake(&reclaim_state);
    else if (state == NONE && change_state(NONE, AWAKE) && make_thread())
        abti_store_relaxed(&reclaim_state, REFUSED);
}

/* --- Fork --- */

/*
 * A fork waits for the lock, but not for ever: a signal handler that forks may have interrupted a holder of the very
 * lock that the native thread waits for. Its child can do as much as any child could without the library.
 */
static _Thread_local bool fork_has_lock;

static void before_fork(void)
{
    enum { STEPS = 20000 }; /* a second or more */
    fork_has_lock = false;
    for (unsigned step = 0; step < STEPS && !fork_has_lock; step++) {
        fork_has_lock = abti_spin_trylock(&working);
        if (!fork_has_lock)
            abti_backoff(step);
    }
}

static void after_fork(void)
{
    if (fork_has_lock)
        abti_spin_unlock(&working);
}

static void after_fork_in_child(void)
{
    abti_futex_forget_sleepers();
    /* relaxed: there is no other thread */
    abti_store_relaxed(&reclaim_state, NONE);
    if (fork_has_lock)
        abti_spin_unlock(&working);
    else
        abti_spin_init(&working, ABTI_RANK_RECLAIM);
}

void abti_reclaim_init(void)
{
    static bool registered; /* for as long as the library is loaded */
    if (!registered)
        registered = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
    /* relaxed: no other thread looks yet */
    abti_store_relaxed(&reclaim_state, registered ? NONE : REFUSED);
}

void abti_reclaim_watch(struct abti_slab_spec *spec, size_t kept)
{
    spec->kept = kept > 0 ? kept : 1;
    spec->crowded = reclaim_start;
}

void abti_reclaim_fini(void)
{
    /*
     * acquire: of no use. No stream is left but the caller's; the others have been joined, and the caller sees what
     * they have stored
     */
    uint32_t state = abti_load_acquire(&reclaim_state);
    if (state == AWAKE || state == ASLEEP) {
        /* release: pairs with the acquires in is_ending and abti_word_await_change */
        abti_store_release(&reclaim_state, ENDING);
        abti_futex_wake(&reclaim_state);
        pthread_join(reclaim_thread, NULL);
    }
    abti_store_relaxed(&reclaim_state, NONE); /* relaxed: the native thread has been joined */
}
