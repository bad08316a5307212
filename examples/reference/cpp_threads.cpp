/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I use threads and locks by the names of the C++ standard library? abt in place of std: here a bounded queue.
 *
 *   c++ -std=c++17 cpp_threads.cpp $(pkg-config --cflags --libs argobots) -o cpp_threads
 */
#include <abt.hpp>
#include <cstdio>
#include <queue>

class bounded_queue
{
  public:
    void push(int number)
    {
        std::unique_lock<abt::mutex> held(mutex_);
        changed_.wait(held, [this] { return numbers_.size() < 4; }); // the stream runs others meanwhile
        numbers_.push(number);
        changed_.notify_all();
    }
    int pop()
    {
        std::unique_lock<abt::mutex> held(mutex_);
        changed_.wait(held, [this] { return !numbers_.empty(); });
        const int number = numbers_.front();
        numbers_.pop();
        changed_.notify_all();
        return number;
    }

  private:
    abt::mutex mutex_;
    abt::condition_variable changed_;
    std::queue<int> numbers_;
};

int main(int argc, char **argv)
{
    abt::library library(argc, argv);
    abt::stream second;
    bounded_queue queue;
    long sum = 0;
    {
        abt::jthread producer(second.pool(), [&] {
            for (int i = 0; i < 1000; i++)
                queue.push(i);
        });
        abt::jthread consumer([&] {
            for (int i = 0; i < 1000; i++)
                sum += queue.pop();
        });
    }
    std::printf("%ld\n", sum);
    return sum != 499500;
}
