/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/wordq.h"

#include <sched.h>
#include <string.h>
#include "base/assert.h"
#include "base/hash.h"
#include "os/clock.h"
#include "sync/waitq.h"
#include "wait/external.h"
#include "wait/adaptive.h"
#include "wait/word.h"

/*
 * No wake is lost. A waiter counts itself in its bucket, then looks at the word; a waker's caller has changed the word,
 * then the waker looks at the count. Each has a fence of all accesses in between, so that the waiter sees the change or
 * the waker sees the count. After that
 *
 *   a native thread sleeps only if the word is unchanged, which the system compares with its wakes in one step;
 *   a ULT has looked at the word with the bucket's lock held, and releases that when it has left its stack: a waker,
 *   which takes the lock, finds it where it can be resumed, or the ULT has not read it yet;
 *   a stream in its dock has announced its sleep before it counts itself, so that a waker finds the sleeper asleep. It
 *   leaves the bucket under the lock, so that a waker that has found it there finds the sleeper, too.
 */
static struct wordq_bucket {
    _Atomic(uint64_t) natives; /* that sleep, or are about to; above NATIVES_BITS how many ever did */
    _Atomic(uint32_t) queued;  /* how many are in `waiters`, or are about to. Written with the lock, read without */
    struct abti_spin lock;
    struct abti_waitq waiters;     /* lock: ULTs and streams in docks, of all words that have this bucket */
    struct abti_adaptive adaptive; /* of the native threads */
} ABTI_ALIGNED(ABTI_CACHE_LINE) buckets[256];

enum { BUCKET_SHIFT = 64 - 8, NATIVES_BITS = 32 };

static struct wordq_bucket *wordq_bucket_of(const _Atomic(uint32_t) *word)
{
    return &buckets[abti_hash((uintptr_t)word >> 2) >> BUCKET_SHIFT];
}

/* --- Native threads --- */

static void sleep_on_word(struct wordq_bucket *bucket, const _Atomic(uint32_t) *word, uint32_t value, uint32_t learnt)
{
    const uint64_t one = 1 | (uint64_t)1 << NATIVES_BITS;
    /* relaxed: the fence orders it. seq_cst: pairs with the fence in abti_wordq_wake */
    abti_fetch_add_relaxed(&bucket->natives, one);
    abti_fence_seq_cst();
    if (!abti_word_is_changed(word, value))
        abti_group_sleep(&bucket->adaptive, learnt, (_Atomic(uint32_t) *)(uintptr_t)word, value);
    abti_fetch_add_relaxed(&bucket->natives, (uint64_t)-1); /* relaxed: late, it costs a wake */
}

/* It counts as a sleep that the thread learns from, as one on the word does. */
static void sleep_docked(struct wordq_bucket *bucket, const _Atomic(uint32_t) *word, uint32_t value, uint32_t learnt,
                         const struct abti_word_dock *dock)
{
    uint64_t since_ns = abti_clock_mono_ns();
    abti_fetch_add_relaxed(&bucket->natives, (uint64_t)1 << NATIVES_BITS); /* relaxed: it only has to change */
    dock->sleep(abti_es_self, word, value);
    if (learnt != ABTI_LEARNT_BEFORE)
        abti_adaptive_learn_sleep(&bucket->adaptive, learnt, abti_clock_mono_ns() - since_ns);
}

static void wait_native(struct wordq_bucket *bucket, const _Atomic(uint32_t) *word, uint32_t value, uint32_t num,
                        const struct abti_meanwhile *meanwhile, const struct abti_word_dock *dock)
{
    abti_external_note();
    for (;;) {
        uint32_t sleeps = (uint32_t)(abti_load_relaxed(&bucket->natives) >> NATIVES_BITS);
        uint32_t learnt;
        if (abti_group_await_soon(&bucket->adaptive, sleeps, word, value, num, meanwhile, &learnt))
            return;
        if (abti_meanwhile_poll(meanwhile))
            continue;
        if (ABTI_BUILD_WAIT_ACTIVE && meanwhile && meanwhile->poll)
            sched_yield(); /* a thread that spins on the word has no wake after which it would poll */
        else if (ABTI_UNLIKELY(dock->is_wanted(abti_es_self)))
            sleep_docked(bucket, word, value, learnt, dock);
        else
            sleep_on_word(bucket, word, value, learnt);
        if (abti_word_is_changed(word, value))
            return;
    }
}

/* --- Waiters in the bucket --- */

/* relaxed, both: the lock is held, and a thread that counts itself has a fence after this */
static void count_queued_locked(struct wordq_bucket *bucket, int change)
{
    abti_store_relaxed(&bucket->queued, abti_load_relaxed(&bucket->queued) + (uint32_t)change);
}

void abti_wordq_enter(struct abti_docked *docked, const _Atomic(uint32_t) *word, struct abti_sleeper *sleeper)
{
    struct wordq_bucket *bucket = wordq_bucket_of(word);
    abti_waiter_init(&docked->base, ABT_SYNC_EVENT_TYPE_OTHER, (const void *)word);
    docked->base.unit = NULL;
    docked->sleeper = sleeper;
    abti_spin_lock(&bucket->lock);
    count_queued_locked(bucket, 1);
    abti_waitq_push(&bucket->waiters, &docked->base);
    abti_spin_unlock(&bucket->lock);
    abti_fence_seq_cst(); /* seq_cst: pairs with the fence in abti_wordq_wake */
}

void abti_wordq_leave(struct abti_docked *docked)
{
    struct wordq_bucket *bucket = wordq_bucket_of(docked->base.object);
    abti_spin_lock(&bucket->lock);
    if (docked->base.next)
        count_queued_locked(bucket, -1);
    abti_waitq_remove(&bucket->waiters, &docked->base);
    abti_spin_unlock(&bucket->lock);
}

static abti_ctx leave_for_word(void *room, void *bucket_, void *word)
{
    struct wordq_bucket *bucket = bucket_;
    return abti_waitq_leave(&bucket->waiters, room, ABT_SYNC_EVENT_TYPE_OTHER, word, &bucket->lock, false);
}

/* Suspends the ULT until it is woken, unless the word has changed. */
static void suspend_on_word(struct wordq_bucket *bucket, abti_es *es, const _Atomic(uint32_t) *word, uint32_t value)
{
    struct abti_waiter w;
    bool is_quick = abti_may_block_quick(es);
    if (!is_quick)
        abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_OTHER, (const void *)word);
    abti_spin_lock(&bucket->lock);
    count_queued_locked(bucket, 1);
    abti_fence_seq_cst(); /* seq_cst: pairs with the fence in abti_wordq_wake */
    if (abti_word_is_changed(word, value)) {
        count_queued_locked(bucket, -1);
        abti_spin_unlock(&bucket->lock);
        return;
    }
    if (is_quick) {
        (void)abti_ctx_leave(&es->cur->ctx, bucket, (void *)(uintptr_t)word, leave_for_word);
        return;
    }
    abti_waitq_push(&bucket->waiters, &w);
    abti_waiter_park(&w, &bucket->lock, NULL);
}

/* The waiters that a waker has taken out. */
enum { MOST_DOCKED = 8 }; /* more are taken in another round */
struct woken {
    struct abti_waiter *ults; /* linked by `next` */
    uint32_t num_docked;
    abti_wakeup docked[MOST_DOCKED];
};

/* Takes up to `num` that wait for the word out of the bucket, and returns how many. The lock is held. */
static uint32_t take_waiters_locked(struct wordq_bucket *bucket, const _Atomic(uint32_t) *word, uint32_t num,
                                    struct woken *woken)
{
    struct abti_waiter **last = &woken->ults;
    struct abti_waiter *w = bucket->waiters.head;
    uint32_t queued = abti_load_relaxed(&bucket->queued), taken = 0; /* relaxed: the lock is held */
    for (uint32_t i = 0; i < queued && taken < num && woken->num_docked < MOST_DOCKED; i++) {
        struct abti_waiter *next = w->next;
        if (w->object == (const void *)word) {
            abti_waitq_remove(&bucket->waiters, w);
            taken++;
            if (ABTI_LIKELY(w->unit != NULL)) {
                *last = w;
                last = &w->next;
            } else {
                /* The stream is woken if it is still asleep. Its frame may go when the lock is released */
                struct abti_docked *docked = ABTI_CONTAINER_OF(w, struct abti_docked, base);
                woken->docked[woken->num_docked++] = abti_sleeper_claim(docked->sleeper);
            }
        }
        w = next;
    }
    count_queued_locked(bucket, -(int)taken);
    return taken;
}

static uint32_t wake_queued(struct wordq_bucket *bucket, const _Atomic(uint32_t) *word, uint32_t num)
{
    struct woken woken;
    uint32_t taken = 0;
    do {
        woken.ults = NULL;
        woken.num_docked = 0;
        abti_spin_lock(&bucket->lock);
        taken += take_waiters_locked(bucket, word, num - taken, &woken);
        abti_spin_unlock(&bucket->lock);
        for (uint32_t i = 0; i < woken.num_docked; i++)
            abti_wakeup_send(woken.docked[i]);
        if (woken.ults)
            abti_waiter_wake_list(woken.ults); /* last: this calls the push of user-defined pools */
    } while (woken.num_docked == MOST_DOCKED);
    return taken;
}

/* --- Both --- */

void abti_wordq_wait(const _Atomic(uint32_t) *word, uint32_t value, uint32_t num, bool block_native,
                     const struct abti_meanwhile *meanwhile, const struct abti_word_dock *dock)
{
    abti_assert(word && (uintptr_t)word % sizeof(*word) == 0);
    struct wordq_bucket *bucket = wordq_bucket_of(word);
    abti_es *es = abti_es_self;
    bool suspends = !block_native && es && es->parent && !abti_unit_is_tasklet(es->cur);
    if (!suspends) {
        /* It has seen the word change, and does not poll again: the value may be back, as that of a lock. */
        if (!abti_word_is_changed(word, value))
            wait_native(bucket, word, value, num, meanwhile, dock);
        return;
    }
    while (!abti_word_is_changed(word, value)) {
        if (!abti_meanwhile_poll(meanwhile))
            suspend_on_word(bucket, abti_es_self, word, value);
    }
}

void abti_wordq_wake(const _Atomic(uint32_t) *word, uint32_t num)
{
    abti_assert(word);
    struct wordq_bucket *bucket = wordq_bucket_of(word);
    /* seq_cst: pairs with the fences in sleep_on_word, suspend_on_word and abti_wordq_enter. relaxed: the fence orders
     * the reads */
    abti_fence_seq_cst();
    if (abti_load_relaxed(&bucket->queued) > 0)
        num -= wake_queued(bucket, word, num);
    uint32_t natives = (uint32_t)abti_load_relaxed(&bucket->natives); /* relaxed: as above */
    if (natives == 0 || num == 0)
        return;
    abti_external_note();
    _Atomic(uint32_t) *address = (_Atomic(uint32_t) *)(uintptr_t)word;
    if (num >= natives)
        abti_word_wake_all(address);
    else
        for (uint32_t i = 0; i < num; i++)
            abti_word_wake(address);
}

void abti_wordq_forget(void)
{
    memset(buckets, 0, sizeof(buckets));
}
