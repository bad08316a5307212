/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I wait for a result in C++? By futures, and in C++20 by coroutines, which need no stack while they wait.
 *
 *   c++ -std=c++20 cpp_futures.cpp $(pkg-config --cflags --libs argobots) -o cpp_futures
 */
#include <abt.hpp>
#include <cstdio>
#include <stdexcept>
#include <vector>

static int square(int number)
{
    abt::this_thread::yield();
    return number * number;
}

#ifdef __cpp_impl_coroutine
static abt::future<int> sum_of_squares(int num)
{
    std::vector<abt::future<int>> parts;
    for (int i = 0; i < num; i++)
        parts.push_back(abt::async(square, i));
    int sum = 0;
    for (auto &part : parts)
        sum += co_await std::move(part); // the ULT that runs this ends, and another one goes on
    co_return sum;
}
#else
static abt::future<int> sum_of_squares(int num)
{
    return abt::async([num] {
        int sum = 0;
        for (int i = 0; i < num; i++)
            sum += abt::async(square, i).get();
        return sum;
    });
}
#endif

int main(int argc, char **argv)
{
    abt::library library(argc, argv);
    const int sum = sum_of_squares(10).get();

    abt::promise<int> promise;
    abt::shared_future<int> answer = promise.get_future();
    abt::jthread first([answer] { std::printf("one has %d\n", answer.get()); });
    abt::jthread second([answer] { std::printf("the other has %d\n", answer.get()); });
    promise.set_value(sum);

    bool caught = false;
    try {
        abt::async([] { throw std::runtime_error("no result"); }).get();
    } catch (const std::runtime_error &e) {
        std::printf("%s\n", e.what());
        caught = true;
    }
    return sum != 285 || !caught;
}
