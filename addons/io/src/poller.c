/* SPDX-License-Identifier: BSD-3-Clause */
#include "poller.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include "debug.h"
#include "native.h"

enum {
    EVERY_NS = 4000000, /* from one poll to the next */
    QUIET_POLLS = 4,    /* it sleeps after that number in a row that have found that none is needed */
};

atomic_bool abtioi_poller_sleeps;

/* All under the lock, which is held in no call of `poll`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* that it is needed, or to end; or that it has ended. There while it is */
    bool (*poll)(void);
    bool there, ending;
} poller = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is held. */
static void pause_briefly(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += EVERY_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!poller.ending && pthread_cond_timedwait(&poller.changed, &poller.lock, &until) != ETIMEDOUT)
        ;
}

/* The lock is held. */
static void sleep_until_needed(void)
{
    /* seq_cst: of no use, since it is cleared under the lock */
    while (!poller.ending && atomic_load(&abtioi_poller_sleeps))
        pthread_cond_wait(&poller.changed, &poller.lock);
}

/* Whether it is to end. */
static bool poller_rest(bool needed)
{
    pthread_mutex_lock(&poller.lock);
    if (!needed)
        sleep_until_needed();
    else
        atomic_store(&abtioi_poller_sleeps, false); /* seq_cst: of no use, see above */
    pause_briefly();
    bool ends = poller.ending;
    pthread_mutex_unlock(&poller.lock);
    return ends;
}

static void *poller_main(void *unused)
{
    unsigned quiet = 0;

    (void)unused;
    for (bool ends = false; !ends;) {
        if (quiet >= QUIET_POLLS)
            atomic_store(&abtioi_poller_sleeps, true); /* seq_cst: before the poll, see poller_need */
        bool needed = poller.poll();
        ends = poller_rest(needed || quiet < QUIET_POLLS);
        quiet = needed || quiet >= QUIET_POLLS ? 0 : quiet + 1;
    }
    pthread_mutex_lock(&poller.lock);
    poller.there = false;
    atomic_store(&abtioi_poller_sleeps, false); /* seq_cst: of no use, see above */
    pthread_cond_broadcast(&poller.changed);
    pthread_mutex_unlock(&poller.lock);
    return NULL;
}

void abtioi_poller_wake(void)
{
    pthread_mutex_lock(&poller.lock);
    atomic_store(&abtioi_poller_sleeps, false); /* seq_cst: of no use, see sleep_until_needed */
    if (poller.there)
        pthread_cond_broadcast(&poller.changed);
    pthread_mutex_unlock(&poller.lock);
}

/* One by the clock that nobody sets. The lock is held. */
static bool make_condition(void)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool made =
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&poller.changed, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return made;
}

bool abtioi_poller_begin(bool (*poll)(void))
{
    pthread_mutex_lock(&poller.lock);
    abtioi_assert(!poller.ending && (!poller.there || poller.poll == poll));
    if (!poller.there && make_condition()) {
        poller.poll = poll;
        poller.there = abtioi_native_make_thread(poller_main) == 0;
        if (!poller.there)
            pthread_cond_destroy(&poller.changed);
    }
    bool there = poller.there;
    pthread_mutex_unlock(&poller.lock);
    return there;
}

void abtioi_poller_end(void)
{
    pthread_mutex_lock(&poller.lock);
    if (poller.there) {
        poller.ending = true;
        pthread_cond_broadcast(&poller.changed);
        while (poller.there)
            pthread_cond_wait(&poller.changed, &poller.lock);
        pthread_cond_destroy(&poller.changed);
        poller.ending = false;
    }
    pthread_mutex_unlock(&poller.lock);
}

void abtioi_poller_forget(void)
{
    poller.there = poller.ending = false;
    atomic_store(&abtioi_poller_sleeps, false); /* seq_cst: of no use, there is no other thread */
    pthread_mutex_init(&poller.lock, NULL);
}
