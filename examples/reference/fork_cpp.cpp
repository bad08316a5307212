/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I fork and join in C++17? By functions that take lambdas, give results, and throw what the lambdas throw.
 *
 *   c++ -std=c++17 fork_cpp.cpp $(pkg-config --cflags --libs argobots) -o fork_cpp
 */
#include <abt_fork.hpp>
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

static int work()
{
    std::vector<long> numbers(100000);
    const auto size = static_cast<std::ptrdiff_t>(numbers.size());

    /* A loop: the body is called with each index, in any order. */
    abtx::for_each_index(0, size, 100, [&](std::ptrdiff_t i) { numbers[static_cast<std::size_t>(i)] = i * i % 1000; });

    /* The same by parts, where the body has a loop of its own: it may keep something from one index to the next. */
    abtx::for_each_part(0, size, 1000, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (auto i = begin; i < end; i++)
            numbers[static_cast<std::size_t>(i)] += 1;
    });

    /* A sum, added up in the order of the indexes. */
    const long sum = abtx::reduce(
        0, size, 1000, 0L, [&](std::ptrdiff_t i) { return numbers[static_cast<std::size_t>(i)]; },
        [](long left, long right) { return left + right; });

    /* Different functions side by side, with their results. */
    const auto [least, most] = abtx::invoke([&] { return *std::min_element(numbers.begin(), numbers.end()); },
                                            [&] { return *std::max_element(numbers.begin(), numbers.end()); });
    std::printf("sum %ld, least %ld, most %ld\n", sum, least, most);

    /* What one of them throws comes out here, when all have ended. */
    bool caught = false;
    try {
        abtx::invoke([] {}, [] { throw std::runtime_error("one of two"); });
    } catch (const std::runtime_error &error) {
        std::printf("caught: %s\n", error.what());
        caught = true;
    }
    long expected = 0;
    for (long number : numbers)
        expected += number;
    return !caught || sum != expected || least != 1 || most > 1000;
}

int main(int argc, char **argv)
{
    ABT_xstream streams[2];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    ABT_xstream_create(ABT_SCHED_NULL, &streams[1]);
    ABTX_fork_start(2, streams);
    const int wrong = work();
    ABT_xstream_free(&streams[1]);
    ABT_finalize();
    return wrong;
}
