/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that sees to it that each member begins: one that runs may wait for another in a way that nobody sees, by
 * polls of its own of a variable, or by a wait of the system. Every thread of OpenMP says which serial team it runs,
 * and whether it waits. The watch looks at them every two milliseconds. It spreads a serial team from which no number
 * has been taken between two polls, and one whose regions are so long that threads are worth it, if fewer threads than
 * processors were busy at both polls. It sleeps when it has seen no serial team for a while.
 *
 * Where the system gives no thread it tries again at each poll. Then nothing is lost while some thread of OpenMP runs:
 * it may end, and the thread that met the region runs the members itself when it is back. When all of them wait for
 * each other that is not to be, and libabtomp ends the program after a while, as libgomp does at once.
 */
#include "team/serial.h"

#include <time.h>

/* FEW: regions between two polls that are long: 50 us each. STUCK_POLLS: without a thread while all wait, 2 seconds */
enum { PERIOD_NS = 2000000, IDLE_POLLS = 50, FEW = PERIOD_NS / 50000, STUCK_POLLS = 1000 };

/* Of all that follows, and of the watched teams: they stay as long as it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct abtomp_watch *watches;
static bool is_started;
static uint32_t num_polls = ABTOMP_COUNT_START, num_stuck;
static bool lacks_threads; /* a serial team got none at this poll */
static _Atomic(uint32_t) sleeps = 1;

/* -- The watch -- */

/* Several threads may lead to the same team: it is looked at once. */
static void poll_team(struct abtomp_team *team, bool has_room)
{
    uint64_t seen;
    uint32_t regions = abtomp_serial_poll(team, &seen) - team->polled.regions;
    if (!abtomp_serial_is_pending(seen) || team->polled.poll == num_polls)
        return;
    bool is_long = team->polled.poll + 1 == num_polls && regions < FEW;
    if (team->polled.seen == seen || (is_long && has_room && team->polled.has_room))
        lacks_threads = !abtomp_serial_spread(team, false) || lacks_threads;
    team->polled = (struct abtomp_polled){seen, team->polled.regions + regions, num_polls, has_room};
}

/* How many threads do not wait. */
static int count_busy(void)
{
    int busy = 0;
    for (const struct abtomp_watch *watch = watches; watch; watch = watch->next)
        busy += !atomic_load_explicit(&watch->waits, memory_order_relaxed); /* relaxed: a hint */
    return busy;
}

/* Whether some thread runs a serial team. */
static bool poll_all(void)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    num_polls++;
    lacks_threads = false;
    int busy = count_busy();
    for (const struct abtomp_watch *watch = watches; watch; watch = watch->next) {
        /* seq_cst: pairs with the accesses in abtomp_watch_begin, if the watch is about to sleep */
        struct abtomp_team *team = atomic_load_explicit(&watch->team, memory_order_seq_cst);
        found = found || team;
        for (; team; team = team->parent ? team->parent->team : NULL)
            if (team->is_serial)
                poll_team(team, busy < abtomp_env.num_procs);
    }
    num_stuck = lacks_threads && busy == 0 ? num_stuck + 1 : 0;
    if (ABTOMP_UNLIKELY(num_stuck == STUCK_POLLS))
        abtomp_fail("the system gives no more threads, and all members wait for one that has none");
    pthread_mutex_unlock(&lock);
    return found;
}

static void *watch_main(void *arg)
{
    const struct timespec period = {.tv_nsec = PERIOD_NS};
    int idle = 0;
    (void)arg;
    for (;;) {
        nanosleep(&period, NULL);
        idle = poll_all() ? 0 : idle + 1;
        if (idle < IDLE_POLLS)
            continue;
        /* seq_cst: pairs with the accesses in abtomp_watch_begin: that one sees it, or the poll the team */
        atomic_store_explicit(&sleeps, 1, memory_order_seq_cst);
        if (poll_all())
            atomic_store_explicit(&sleeps, 0, memory_order_relaxed); /* relaxed: it is awake */
        abtomp_wait(&sleeps, 1, NULL, 0);
        idle = 0;
    }
    return NULL;
}

static bool start_watch(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, watch_main, NULL) == 0 && pthread_detach(thread) == 0;
}

/* -- What others do -- */

static __attribute__((noinline)) bool wake_watch(void)
{
    pthread_mutex_lock(&lock);
    is_started = is_started || start_watch();
    bool is_awake = is_started;
    pthread_mutex_unlock(&lock);
    if (!is_awake)
        return false;
    /* relaxed: the watch looks at all threads then, as ever */
    atomic_store_explicit(&sleeps, 0, memory_order_relaxed);
    abtomp_wake(&sleeps);
    return true;
}

void abtomp_watch_thread(struct abtomp_watch *watch)
{
    pthread_mutex_lock(&lock);
    watch->next = watches;
    watch->at = &watches;
    if (watches)
        watches->at = &watch->next;
    watches = watch;
    pthread_mutex_unlock(&lock);
    abtomp_own_watch = watch;
}

bool abtomp_watch_begin(struct abtomp_team *team)
{
    struct abtomp_watch *watch = abtomp_own_watch;
    /* relaxed: this thread writes it */
    team->outer = atomic_load_explicit(&watch->team, memory_order_relaxed);
    /* seq_cst, both: pairs with the accesses in watch_main, and in poll_all */
    atomic_store_explicit(&watch->team, team, memory_order_seq_cst);
    if (ABTOMP_LIKELY(atomic_load_explicit(&sleeps, memory_order_seq_cst) == 0) || wake_watch())
        return true;
    abtomp_watch_return(team);
    return false;
}

void abtomp_watch_return(const struct abtomp_team *team)
{
    /* release: pairs with the poll in poll_all, which need not know this region any more */
    atomic_store_explicit(&abtomp_own_watch->team, team->outer, memory_order_release);
}

void abtomp_watch_quiet(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

void abtomp_watch_end(void)
{
    struct abtomp_watch *watch = abtomp_own_watch;
    pthread_mutex_lock(&lock);
    *watch->at = watch->next;
    if (watch->next)
        watch->next->at = watch->at;
    pthread_mutex_unlock(&lock);
    abtomp_own_watch = NULL;
}

/* In the child of a fork there is one thread. */
void abtomp_watch_in_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    is_started = false;
    atomic_store_explicit(&sleeps, 1, memory_order_relaxed); /* relaxed, as below: there is one thread */
    watches = abtomp_own_watch;
    if (!abtomp_own_watch)
        return;
    abtomp_own_watch->next = NULL;
    abtomp_own_watch->at = &watches;
}
