#include "wait/crowd.h"

#include <sched.h>
#include "base/hash.h"
#include "os/clock.h"
#include "wait/cpus.h"
#include "wait/native.h"
#include "wait/sleeper.h"
#include "wait/word.h"

/*
 * The words that crowds sleep on, by a hash of their objects; each counts how often it was woken. Crowds that share one
 * by chance wake each other now and then, which costs time and nothing else. They are not in the objects, since these
 * may be gone as soon as one of the crowd knows that it is woken.
 */
static struct abti_crowd {
    _Atomic(uint32_t) wakes;
    _Atomic(uint32_t) thrift;       /* of looks, see MAX_THRIFT */
    _Atomic(uint32_t) waits_asleep; /* how many were to begin with sleep the last time, see lose_patience */
} ABTI_ALIGNED(ABTI_CACHE_LINE) crowds[64];

struct abti_crowd *abti_crowd_of(const void *object)
{
    return &crowds[abti_hash((uintptr_t)object >> 4) >> 58];
}

/* Every waiter of the crowd that was IN_CROWD has been made WOKEN. */
void abti_crowd_wake(struct abti_crowd *crowd)
{
    /* release: who sees the count sees who was woken before */
    abti_fetch_add_release(&crowd->wakes, 1);
    abti_word_wake_all(&crowd->wakes);
}

/*
 * The native thread sleeps with its crowd. No wake is lost: if the waker made us WOKEN after we looked, it counted
 * after we read the count, and then the sleep ends or does not begin.
 */
static void sleep_in_crowd(struct abti_crowd *crowd, _Atomic(uint32_t) *word)
{
    uint32_t awake = ABTI_AWAKE;
    if (!abti_cas_acq_rel(word, &awake, ABTI_IN_CROWD))
        return;
    for (;;) {
        /* acquire: pairs with abti_crowd_wake, and keeps the next look after it */
        uint32_t wakes = abti_load_acquire(&crowd->wakes);
        if (abti_native_is_woken(word))
            return;
        abti_word_wait(&crowd->wakes, wakes, ABTI_CLOCK_NEVER);
    }
}

/*
 * How a crowd has got on lately is one number: how many powers of two fewer looks it takes than at first. More than the
 * most says how many of its waits are to begin with sleep, since somebody else wants the CPU. relaxed: a matter of
 * time.
 */
enum { MAX_THRIFT = 6 };

static void learn(struct abti_crowd *crowd, uint32_t thrift, bool woken)
{
    uint32_t next = woken ? 0 : thrift < MAX_THRIFT ? thrift + 1 : thrift;
    /* If it has changed meanwhile somebody else has learned something. */
    if (next != thrift)
        (void)abti_cas_relaxed(&crowd->thrift, &thrift, next);
}

/*
 * Looks before it sleeps, for about as long as a wake takes: then those who meet again and again keep step, without any
 * system call. If that is in vain the crowd looks less the next time, but once in a while as long as at first, in case
 * its threads were kept from running.
 */
static bool looks_with_crowd(struct abti_crowd *crowd, _Atomic(uint32_t) *word)
{
    enum { LOOKS = 256, AGAIN = 128 };
    uint32_t thrift = abti_load_relaxed(&crowd->thrift);
    bool again = thrift > MAX_THRIFT || abti_load_relaxed(&crowd->wakes) % AGAIN == 0;
    bool woken = abti_native_is_woken_soon(word, again ? LOOKS : LOOKS >> thrift);
    learn(crowd, thrift, woken);
    return woken;
}

/*
 * It took too long: the next waits of the crowd begin with sleep. So many more each time, as long as it does not get on
 * without that for as many waits in between.
 */
static void lose_patience(struct abti_crowd *crowd, uint32_t thrift, uint32_t num)
{
    enum { LEAST_MEETINGS = 16, MOST_MEETINGS = 4096, MOST_THREADS = 65536 };
    uint32_t threads = num < MOST_THREADS ? num : MOST_THREADS;
    uint32_t waits = 2 * abti_load_relaxed(&crowd->waits_asleep);
    if (waits < LEAST_MEETINGS * threads)
        waits = LEAST_MEETINGS * threads;
    else if (waits > MOST_MEETINGS * threads)
        waits = MOST_MEETINGS * threads;
    /* One of those who notice at the same time. */
    if (abti_cas_relaxed(&crowd->thrift, &thrift, MAX_THRIFT + waits))
        abti_store_relaxed(&crowd->waits_asleep, waits);
}

static void gain_patience(struct abti_crowd *crowd)
{
    uint32_t waits = abti_load_relaxed(&crowd->waits_asleep);
    if (waits > 0)
        abti_store_relaxed(&crowd->waits_asleep, waits - 1);
}

/*
 * The same for a crowd of more than can run at once: those who are still to come need the CPU, and to give way to them
 * costs less than to sleep and be woken, so that it is tried once in any case. But a CPU that is given to somebody else
 * comes back a time slice later, while a thread that sleeps gets it as soon as it is woken. So a crowd that takes
 * longer than its own threads would sleeps at once for a while.
 */
static bool yields_with_crowd(struct abti_crowd *crowd, _Atomic(uint32_t) *word, uint32_t num)
{
    enum { YIELDS = 4, ANY_NS = 400000, EACH_NS = 10000 }; /* time slices are 700,000 and more */
    uint32_t thrift = abti_load_relaxed(&crowd->thrift);
    if (thrift > MAX_THRIFT) {
        abti_store_relaxed(&crowd->thrift, thrift - 1); /* whoever else does so */
        return false;
    }
    uint32_t cpus = abti_load_relaxed(&abti_num_cpus); /* 0: before ABT_init it is not known */
    uint64_t limit = ANY_NS + (uint64_t)EACH_NS * num / (cpus > 0 ? cpus : 1);
    uint64_t since = abti_clock_mono_ns(), took = 0;
    bool woken = abti_native_is_woken(word);
    for (uint32_t i = 0; !woken && took <= limit && (i == 0 || i < (uint32_t)YIELDS >> thrift); i++) {
        sched_yield();
        took = abti_clock_mono_ns() - since;
        woken = abti_native_is_woken(word);
    }
    if (took > limit) {
        lose_patience(crowd, thrift, num);
    } else {
        learn(crowd, thrift, woken);
        if (woken)
            gain_patience(crowd);
    }
    return woken;
}

void abti_crowd_wait(const void *object, _Atomic(uint32_t) *word, uint32_t num)
{
    struct abti_crowd *crowd = abti_crowd_of(object);
    if (!(abti_runs_at_once(num) ? looks_with_crowd(crowd, word) : yields_with_crowd(crowd, word, num)))
        sleep_in_crowd(crowd, word);
}
