/* SPDX-License-Identifier: BSD-3-Clause */
// abt_fork.hpp: functions side by side, loops and reductions with lambdas, and the exceptions that they throw.
#include <abt_fork.hpp>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
#include "tap.hh"
#include "watchdog.h"

static const std::ptrdiff_t many = 100000;

static long fib(int n)
{
    if (n < 2)
        return n;
    auto [a, b] = abtx::invoke([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
    return a + b;
}

static void test_invoke()
{
    ok(fib(18) == 2584, "a tree of functions");
    int x = 0;
    auto [a, b, c] = abtx::invoke([] { return std::string("one"); }, [&x] { x = 2; }, [] { return 3.0; });
    (void)b;
    ok(a == "one" && x == 2 && c == 3.0, "results of several types, and none");
    auto [d, e] = abtx::invoke([&x]() -> int & { return x; }, [] { return 4; });
    ok(d == 2 && e == 4, "a reference gives a copy");
    auto alone = abtx::invoke([] { return 1; });
    ok(std::get<0>(alone) == 1, "a function alone");
}

static void test_loops()
{
    std::vector<int> v(many, 1);
    abtx::for_each_index(0, many, 100, [&](std::ptrdiff_t i) { v[(size_t)i] += (int)(i % 7); });
    long expected = 0;
    for (std::ptrdiff_t i = 0; i < many; i++)
        expected += 1 + i % 7;
    ok(abtx::reduce(0, many, 64, 0L, [&](std::ptrdiff_t i) { return (long)v[(size_t)i]; }, std::plus<>()) == expected,
       "each index once, and all added up");
    auto text = abtx::reduce(0, 500, 3, std::string(), [](std::ptrdiff_t i) { return std::string(1, (char)('a' + i % 26)); },
                             [](std::string a, const std::string &b) { return a += b; });
    bool in_order = text.size() == 500;
    for (size_t i = 0; in_order && i < text.size(); i++)
        in_order = text[i] == (char)('a' + i % 26);
    ok(in_order, "parts are put together in their order");
    std::atomic<long> cells(0);
    abtx::for_each_index(0, 100, 1, [&](std::ptrdiff_t) {
        abtx::for_each_part(0, 100, 5, [&](std::ptrdiff_t b, std::ptrdiff_t e) { cells += e - b; });
    });
    ok(cells == 10000, "nested loops");
    abtx::for_each_index(5, 5, 1, [&](std::ptrdiff_t) { cells++; });
    ok(cells == 10000, "an empty loop");
}

static void test_exceptions()
{
    std::string caught;
    std::atomic<int> others(0);
    try {
        abtx::invoke([] { throw std::runtime_error("first"); }, [&] { others++; }, [] { throw std::runtime_error("third"); });
    } catch (const std::exception &e) {
        caught = e.what();
    }
    ok(caught == "first" && others == 1, "the first function's exception comes out, when all have ended");
    int wrong = 0;
    for (int round = 0; round < 200; round++) {
        try {
            abtx::for_each_index(0, 1000, 1, [](std::ptrdiff_t i) {
                if (i % 100 == 73)
                    throw i;
            });
            wrong++;
        } catch (std::ptrdiff_t i) {
            wrong += i != 73;
        }
    }
    ok(wrong == 0, "that of the lowest index comes out of a loop");
}

static std::atomic<long> allocations(0);

void *operator new(std::size_t size)
{
    allocations++;
    if (void *memory = std::malloc(size))
        return memory;
    throw std::bad_alloc();
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

static void test_memory()
{
    long before = allocations, sum = 0;
    sum += fib(12);
    sum += abtx::reduce(0, 1000, 1, 0L, [](std::ptrdiff_t i) { return (long)i; }, std::plus<>());
    abtx::for_each_index(0, 1000, 1, [](std::ptrdiff_t) {});
    ok(sum == 144 + 499500 && allocations == before, "nothing is allocated");
}

static void all_tests(void *)
{
    test_memory();
    test_invoke();
    test_loops();
    test_exceptions();
}

int main()
{
    watchdog_begin(0);
    all_tests(nullptr); // without the library: one after the other
    must(ABT_init(0, NULL));
    ABT_xstream streams[3];
    must(ABT_xstream_self(&streams[0]));
    for (int i = 1; i < 3; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
    must(ABTX_fork_start(3, streams));
    ABT_pool pool;
    must(ABT_xstream_get_main_pools(streams[1], 1, &pool));
    ABT_thread thread;
    must(ABT_thread_create(pool, all_tests, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    all_tests(nullptr); // as the primary ULT
    must(ABT_task_create(pool, all_tests, NULL, &thread));
    must(ABT_thread_free(&thread));
    for (int i = 1; i < 3; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return done_testing();
}
