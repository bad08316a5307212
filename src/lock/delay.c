/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The delays of base/delay.h. They need not be the same in the next run, since the system has its say in what comes
 * first, but the choices of each thread are, by ABT_DELAYS_SEED and how many threads came before it.
 *
 * ABT_DELAYS_RATE: a delay is due at one in that number of places, 0 is never. Some operations of the code, chosen by
 * the seed, have more: a race that needs two rare delays at certain places is then found by some seeds soon.
 */
#include "base/delay.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include "arch/cpu.h"
#include "base/hash.h"
#include "os/clock.h"
#include "os/env.h"

enum { DEFAULT_RATE = 512, FAVOURITES = 8, MORE = 32, MOST_PAUSES = 256, MOST_NAP_NS = 50000 };

static uint64_t seed = 1;
static uint32_t rate = DEFAULT_RATE;

/* The state of xorshift64; 0: the thread has not had any yet. */
static _Thread_local uint64_t delay_state;

static uint64_t delay_setting(const char *name, uint64_t otherwise)
{
    const char *text = abti_env_get(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Is called before main, since the first operation may be that of any thread. */
__attribute__((constructor)) static void read_settings(void)
{
    seed = delay_setting("DELAYS_SEED", seed);
    rate = (uint32_t)delay_setting("DELAYS_RATE", rate);
}

static uint64_t delay_mixed(uint64_t value)
{
    value = abti_hash(value ^ value >> 29);
    return value ^ value >> 32;
}

static uint64_t delay_random(void)
{
    static _Atomic(uint64_t) num_threads;
    if (ABTI_UNLIKELY(delay_state == 0)) /* relaxed: the number only has to differ. seq_cst is of no use. This is not
                                      delayed itself */
        delay_state =
            delay_mixed(seed + delay_mixed(atomic_fetch_add_explicit(&num_threads, 1, memory_order_relaxed) + 1)) | 1;
    delay_state ^= delay_state << 13;
    delay_state ^= delay_state >> 7;
    delay_state ^= delay_state << 17;
    return delay_state;
}

/*
 * On a busy machine a thread that gives the CPU away waits for all others, 5 ms and more where it is a microsecond
 * otherwise. So the thread keeps the CPU then for as long as it has been without it: that takes half of its time at
 * most.
 */
static void give_cpu_away(unsigned kind, uint64_t random)
{
    static _Thread_local uint64_t not_before;
    uint64_t begin = abti_clock_mono_ns();

    if (begin < not_before)
        return;
    if (kind < 14) {
        sched_yield();
    } else {
        struct timespec ts = {0, (long)(random % MOST_NAP_NS)};
        nanosleep(&ts, NULL);
    }
    uint64_t end = abti_clock_mono_ns();
    not_before = end + (end - begin);
}

/* Half of the delays take some microseconds at most, the CPU is given away in most of the others. */
static void wait_a_bit(uint64_t random)
{
    int error = errno; /* an operation on a word leaves it alone */
    unsigned kind = random % 16;
    random >>= 4;
    if (kind < 8) {
        for (uint64_t pauses = random % MOST_PAUSES; pauses > 0; pauses--)
            abti_cpu_relax();
    } else {
        give_cpu_away(kind, random);
    }
    errno = error;
}

void abti_delay(void)
{
    /* Where the operation is, counted from here, since the library is elsewhere in each run. */
    uintptr_t place = (uintptr_t)__builtin_return_address(0) - (uintptr_t)abti_delay;
    uint64_t random = delay_random();
    uint32_t in_many = rate;
    if (delay_mixed(place ^ seed) % FAVOURITES == 0)
        in_many = in_many > MORE ? in_many / MORE : in_many > 0;
    if (ABTI_UNLIKELY((random >> 32) * in_many >> 32 == 0) && in_many > 0)
        wait_a_bit(random);
}
