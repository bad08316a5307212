/* SPDX-License-Identifier: BSD-3-Clause */
#include "attendant.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include "debug.h"
#include "native.h"

enum {
    EVERY_NS = 4000000, /* from one look to the next */
    QUIET_LOOKS = 4,    /* it sleeps after that number in a row that have found that none is needed */
};

atomic_bool abtioi_attendant_sleeps;

/* All under the lock, which is held in no call of `look`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* that it is needed, or to end; or that it has ended. There while it is */
    bool (*look)(void);
    bool there, ending;
} attendant = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is held. */
static void pause_briefly(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += EVERY_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!attendant.ending && pthread_cond_timedwait(&attendant.changed, &attendant.lock, &until) != ETIMEDOUT)
        ;
}

/* The lock is held. */
static void sleep_until_needed(void)
{
    /* seq_cst: of no use, since who clears it holds the lock */
    while (!attendant.ending && atomic_load(&abtioi_attendant_sleeps))
        pthread_cond_wait(&attendant.changed, &attendant.lock);
}

/* Whether it is to end. */
static bool attendant_rest(bool needed)
{
    pthread_mutex_lock(&attendant.lock);
    if (!needed)
        sleep_until_needed();
    else
        atomic_store(&abtioi_attendant_sleeps, false); /* seq_cst: of no use, see above */
    pause_briefly();
    bool ends = attendant.ending;
    pthread_mutex_unlock(&attendant.lock);
    return ends;
}

static void *attendant_main(void *unused)
{
    unsigned quiet = 0;

    (void)unused;
    for (bool ends = false; !ends;) {
        if (quiet >= QUIET_LOOKS)
            atomic_store(&abtioi_attendant_sleeps, true); /* seq_cst: before the look, see attendant_need */
        bool needed = attendant.look();
        ends = attendant_rest(needed || quiet < QUIET_LOOKS);
        quiet = needed || quiet >= QUIET_LOOKS ? 0 : quiet + 1;
    }
    pthread_mutex_lock(&attendant.lock);
    attendant.there = false;
    atomic_store(&abtioi_attendant_sleeps, false); /* seq_cst: of no use, see above */
    pthread_cond_broadcast(&attendant.changed);
    pthread_mutex_unlock(&attendant.lock);
    return NULL;
}

void abtioi_attendant_wake(void)
{
    pthread_mutex_lock(&attendant.lock);
    atomic_store(&abtioi_attendant_sleeps, false); /* seq_cst: of no use, see sleep_until_needed */
    if (attendant.there)
        pthread_cond_broadcast(&attendant.changed);
    pthread_mutex_unlock(&attendant.lock);
}

/* One by the clock that nobody sets. The lock is held. */
static bool make_condition(void)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool made =
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&attendant.changed, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return made;
}

bool abtioi_attendant_begin(bool (*look)(void))
{
    pthread_mutex_lock(&attendant.lock);
    abtioi_assert(!attendant.ending && (!attendant.there || attendant.look == look));
    if (!attendant.there && make_condition()) {
        attendant.look = look;
        attendant.there = abtioi_native_make_thread(attendant_main) == 0;
        if (!attendant.there)
            pthread_cond_destroy(&attendant.changed);
    }
    bool there = attendant.there;
    pthread_mutex_unlock(&attendant.lock);
    return there;
}

void abtioi_attendant_end(void)
{
    pthread_mutex_lock(&attendant.lock);
    if (attendant.there) {
        attendant.ending = true;
        pthread_cond_broadcast(&attendant.changed);
        while (attendant.there)
            pthread_cond_wait(&attendant.changed, &attendant.lock);
        pthread_cond_destroy(&attendant.changed);
        attendant.ending = false;
    }
    pthread_mutex_unlock(&attendant.lock);
}

void abtioi_attendant_forget(void)
{
    attendant.there = attendant.ending = false;
    atomic_store(&abtioi_attendant_sleeps, false); /* seq_cst: of no use, there is no other thread */
    pthread_mutex_init(&attendant.lock, NULL);
}
