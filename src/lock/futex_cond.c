/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the system has no futex: a sleeper waits on a condition of its own, in a list that its word's address picks.
 *
 * A waker changes the word, then takes the list's mutex; a sleeper looks at the word under that mutex before it enters.
 * So either the sleeper sees the change, or the waker finds the sleeper. A waker's last access to a sleeper is made
 * under the mutex, which the sleeper takes before it returns.
 *
 * Wakes may come from signal handlers (stream/halt), also from one that has interrupted this very code with the mutex
 * held, or in the middle of a wait. Such a wake is left out: a sleeper looks at its word every now and then.
 */
#include "lock/futex.h"

#include <errno.h>
#include <pthread.h>
#include "base/assert.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "lock/lockrank.h"
#include "os/clock.h"

enum { NUM_BUCKETS = 64, RELOOK_NS = 100000000 };

struct sleeper {
    struct sleeper *next;
    _Atomic uint32_t *word;
    pthread_cond_t cond;
    bool woken;
};

static struct bucket {
    pthread_mutex_t mutex;
    struct sleeper *first; /* mutex: in order of arrival */
} ABTI_ALIGNED(64) buckets[NUM_BUCKETS] = {[0 ... NUM_BUCKETS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}};

/* Whether this thread is in here, for signal handlers that interrupt it. */
static _Thread_local volatile bool inside;

static struct bucket *word_bucket(_Atomic uint32_t *word)
{
    return &buckets[abti_hash((uintptr_t)word) >> 58];
}

static void bucket_lock(struct bucket *bucket)
{
    inside = true;
    pthread_mutex_lock(&bucket->mutex);
}

static void bucket_unlock(struct bucket *bucket)
{
    pthread_mutex_unlock(&bucket->mutex);
    inside = false;
}

static void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

static void bucket_append(struct bucket *bucket, struct sleeper *s)
{
    struct sleeper **link = &bucket->first;
    while (*link)
        link = &(*link)->next;
    *link = s;
}

static void bucket_remove(struct bucket *bucket, struct sleeper *s)
{
    struct sleeper **link = &bucket->first;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
}

/* Sleeps. False when the time has passed. The mutex is held, and released while the thread sleeps. */
static bool sleep_until(struct bucket *bucket, struct sleeper *s, uint64_t deadline_ns)
{
    uint64_t until = abti_clock_mono_ns() + RELOOK_NS;
    bool last = deadline_ns <= until;
    if (last)
        until = deadline_ns;
    struct timespec ts = {.tv_sec = (time_t)(until / ABTI_NS_PER_SEC), .tv_nsec = (long)(until % ABTI_NS_PER_SEC)};
    int err = pthread_cond_timedwait(&s->cond, &bucket->mutex, &ts);
    return !(err == ETIMEDOUT && last);
}

bool abti_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    abti_assert(abti_lockrank_may_sleep());
    struct bucket *bucket = word_bucket(word);
    struct sleeper s = {.word = word};
    bool in_time = true;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* as the system call, no point of cancellation */
    bucket_lock(bucket);
    /* relaxed: the mutex orders a change by a waker that had it before; later wakers find this thread in the list */
    if (abti_load_relaxed(word) == expected) {
        cond_init(&s.cond);
        bucket_append(bucket, &s);
        in_time = sleep_until(bucket, &s, deadline_ns);
        if (!s.woken)
            bucket_remove(bucket, &s);
        pthread_cond_destroy(&s.cond);
    }
    bucket_unlock(bucket);
    pthread_setcancelstate(cancel_state, NULL);
    return in_time || s.woken;
}

static void wake_some(_Atomic uint32_t *word, bool all)
{
    if (ABTI_UNLIKELY(inside))
        return;
    struct bucket *bucket = word_bucket(word);
    bucket_lock(bucket);
    for (struct sleeper **link = &bucket->first; *link;) {
        struct sleeper *s = *link;
        if (s->word != word) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        s->woken = true;
        pthread_cond_signal(&s->cond);
        if (!all)
            break;
    }
    bucket_unlock(bucket);
}

void abti_futex_wake(_Atomic uint32_t *word)
{
    wake_some(word, false);
}

void abti_futex_wake_all(_Atomic uint32_t *word)
{
    wake_some(word, true);
}

void abti_futex_forget_sleepers(void)
{
    if (inside) /* the caller is a signal handler that has interrupted this very code: its thread is in a list itself */
        return;
    for (int i = 0; i < NUM_BUCKETS; i++)
        buckets[i] = (struct bucket){.mutex = PTHREAD_MUTEX_INITIALIZER};
}
