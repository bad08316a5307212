/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of functions and loops that throw, on several streams: what comes out of each call is what a sequential program
 * would give, a value or an exception, whatever the functions beside it do meanwhile: yield, sleep, lock, or wait for
 * each other.
 */
#include <abt_fork.hpp>
#include <cstdint>
#include <ctime>
#include "tap.hh"
#include "watchdog.h"

enum { STREAMS = 4, FORKERS = 3, LOOP = 200 };

static ABT_mutex mutex;

struct failure {
    std::uint64_t seed;
};

static std::uint64_t mix(std::uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static void disturb(std::uint64_t seed)
{
    switch (mix(seed) % 40) {
    case 0: must(ABT_self_yield()); break;
    case 1: must(ABTX_self_sleep(10000)); break;
    case 2:
        must(ABT_mutex_lock(mutex));
        must(ABT_self_yield());
        must(ABT_mutex_unlock(mutex));
        break;
    default: break;
    }
}

/* With other streams, or none. */
template <bool Forks> struct tree {
    static long leaf(std::uint64_t seed)
    {
        if (seed % 64 == 0)
            throw failure{seed};
        return static_cast<long>(seed % 1000);
    }

    static long branches(int depth, std::uint64_t seed)
    {
        auto one = [=] { return run(depth - 1, mix(seed + 1)); };
        auto two = [=] { return run(depth - 1, mix(seed + 2)); };
        auto three = [=] { return leaf(mix(seed + 3)); };
        if constexpr (Forks) {
            auto [a, b, c] = abtx::invoke(one, two, three);
            return a + b + c;
        } else {
            long a = one(), b = two(), c = three();
            return a + b + c;
        }
    }

    static long loop(std::uint64_t seed)
    {
        auto add = [](long a, long b) { return a + b; };
        auto element = [=](std::ptrdiff_t i) {
            if (Forks)
                disturb(seed + static_cast<std::uint64_t>(i));
            return static_cast<long>(mix(seed + static_cast<std::uint64_t>(i)) % 5000 == 0 ? throw failure{seed} : i);
        };
        if constexpr (Forks)
            return abtx::reduce(0, LOOP, 3, 0L, element, add);
        long sum = 0;
        for (std::ptrdiff_t i = 0; i < LOOP; i++)
            sum = add(sum, element(i));
        return sum;
    }

    static long run(int depth, std::uint64_t seed)
    {
        if (Forks)
            disturb(seed);
        if (depth == 0)
            return seed % 4 == 0 ? loop(seed) : leaf(seed);
        if (seed % 3 != 0)
            return branches(depth, seed);
        try {
            return branches(depth, seed);
        } catch (const failure &f) {
            if (Forks)
                disturb(seed);
            return static_cast<long>(f.seed % 777);
        }
    }

    static long result(int depth, std::uint64_t seed)
    {
        try {
            return run(depth, seed);
        } catch (const failure &f) {
            return -static_cast<long>(f.seed % 100000) - 1;
        }
    }
};

struct forker {
    std::uint64_t seed;
    long got;
};

static void grow(void *arg)
{
    auto *f = static_cast<forker *>(arg);
    f->got = tree<true>::result(7, f->seed);
}

static double seconds_now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/* ABT_TEST_SECONDS, or one. */
static double seconds_given()
{
    const char *text = std::getenv("ABT_TEST_SECONDS");
    return text && *text ? std::strtod(text, nullptr) : 1;
}

int main()
{
    ABT_xstream streams[STREAMS];
    ABT_pool pools[STREAMS];
    long wrong = 0, thrown = 0, rounds = 0;
    auto seed = static_cast<std::uint64_t>(time(nullptr));

    watchdog_begin(0);
    setenv("ABT_THREAD_STACKSIZE", "262144", 1);
    must(ABT_init(0, nullptr));
    must(ABT_xstream_self(&streams[0]));
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_get_main_pools(streams[i], 1, &pools[i]));
    must(ABT_mutex_create(&mutex));
    must(ABTX_fork_start(STREAMS, streams));
    for (double end = seconds_now() + seconds_given(); seconds_now() < end; rounds++) {
        ABT_thread threads[FORKERS];
        forker forkers[FORKERS];
        for (int i = 0; i < FORKERS; i++) {
            forkers[i] = {mix(++seed), 0};
            must(ABT_thread_create(pools[i], grow, &forkers[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        }
        for (int i = 0; i < FORKERS; i++)
            must(ABT_thread_free(&threads[i]));
        for (const forker &f : forkers) {
            wrong += f.got != tree<false>::result(7, f.seed);
            thrown += f.got < 0;
        }
    }
    std::printf("# %ld rounds, %ld trees have thrown\n", rounds, thrown);
    ok(rounds > 0 && wrong == 0, "each tree gives what a sequential program would give");
    must(ABT_mutex_free(&mutex));
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return done_testing();
}
