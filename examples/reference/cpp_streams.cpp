/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I make streams, pools and a scheduler in C++? As objects that end with their scope, and a lambda that chooses.
 *
 *   c++ -std=c++17 cpp_streams.cpp $(pkg-config --cflags --libs argobots) -o cpp_streams
 */
#include <abt.hpp>
#include <cstdio>
#include <vector>

int main(int argc, char **argv)
{
    abt::library library(argc, argv);
    abt::pool urgent, other;
    int urgent_runs = 0, runs = 0;
    {
        /* Every fourth unit is one of the second pool, if there is any. */
        abt::stream stream(abt::scheduler({urgent, other}, [&, turn = 0u]() mutable {
            abt::pool &first = turn++ % 4 == 3 ? other : urgent;
            abt::pool &second = &first == &urgent ? other : urgent;
            const ABT_thread next = first.pop();
            return next != ABT_THREAD_NULL ? next : second.pop();
        }));
        std::vector<abt::jthread> threads;
        for (int i = 0; i < 20; i++) {
            threads.emplace_back(urgent, [&] { urgent_runs++; });
            threads.emplace_back(other, [&] { runs++; });
        }
    } // the threads are joined, and the stream ends
    std::printf("%d urgent ones, %d others\n", urgent_runs, runs);
    return urgent_runs != 20 || runs != 20;
}
