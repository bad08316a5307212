/* SPDX-License-Identifier: BSD-3-Clause */
// abt.hpp: futures by the clauses of the C++ standard, coroutines, and what ends with its scope. For C++17 and C++20.
#include <abt.hpp>
#include <memory>
#include <string>
#include <vector>
#include "tap.hh"
#include "watchdog.h"

using namespace std::chrono_literals;
static ABT_pool pools[2]; // of two streams

template <class F> static bool refuses(abt::future_errc code, F func)
{
    try {
        func();
    } catch (const abt::future_error &e) {
        return e.code() == code;
    }
    return false;
}

static void test_promise() // [futures.promise], [futures.unique.future]
{
    abt::promise<std::string> p;
    auto f = p.get_future();
    ok(f.valid() && f.wait_for(0s) == abt::future_status::timeout, "a promise that is not kept yet");
    ok(f.wait_until(std::chrono::system_clock::now() + 2ms) == abt::future_status::timeout, "a time limit");
    ok(refuses(abt::future_errc::future_already_retrieved, [&] { p.get_future(); }), "one future of a promise");
    p.set_value("kept");
    ok(refuses(abt::future_errc::promise_already_satisfied, [&] { p.set_value("again"); }), "one value");
    ok(f.wait_for(1h) == abt::future_status::ready && f.get() == "kept" && !f.valid(), "get takes the value");
    ok(refuses(abt::future_errc::no_state, [&] { f.get(); }), "get without a state");
    int number = 1;
    abt::promise<int &> r;
    auto g = r.get_future();
    r.set_value(number);
    g.get() = 2;
    abt::promise<void> v;
    auto h = v.get_future();
    v.set_exception(std::make_exception_ptr(3));
    try {
        h.get();
    } catch (int thrown) {
        number += thrown;
    }
    ok(number == 5, "a reference, and an exception");
    abt::future<int> broken;
    {
        abt::promise<int> gone, other;
        broken = gone.get_future();
        swap(gone, other);
    }
    ok(refuses(abt::future_errc::broken_promise, [&] { broken.get(); }), "a promise that ends unkept");
    auto moved = abt::promise<std::unique_ptr<int>>();
    auto owner = moved.get_future();
    moved.set_value(std::make_unique<int>(6));
    ok(*owner.get() == 6, "a value that can only be moved");
}

static void test_shared() // [futures.shared.future]
{
    for (int round = 0; round < 200; round++) {
        abt::promise<std::vector<int>> p;
        abt::shared_future<std::vector<int>> f = p.get_future().share();
        std::atomic<int> sum{0};
        {
            std::vector<abt::jthread> threads;
            for (int i = 0; i < 4; i++)
                threads.emplace_back(pools[i % 2], [f, &sum] { sum += f.get()[1]; });
            if (round % 2)
                abt::this_thread::yield();
            p.set_value({1, 2, 3});
        }
        if (sum != 8 || !f.valid())
            return (void)ok(false, "all who wait for a shared future get the value");
    }
    ok(true, "all who wait for a shared future get the value");
    ok(refuses(abt::future_errc::no_state, [] { abt::shared_future<int>().wait(); }), "a shared future of nothing");
}

static void test_async() // [futures.async]
{
    auto sum = abt::async([](std::unique_ptr<int> a, int b) { return *a + b; }, std::make_unique<int>(1), 2);
    int other = 0;
    auto there = abt::async(pools[1], [&other] { return ABT_self_get_xstream_rank(&other); });
    ok(sum.get() == 3 && there.get() == ABT_SUCCESS && other == 1, "async by the caller's pool, and by another one");
    std::atomic<bool> has_ended{false};
    (void)abt::async(pools[1], [&] {
        abt::this_thread::sleep_for(2ms);
        has_ended = true;
    });
    ok(has_ended, "the future of async waits in its destructor");
    has_ended = false;
    {
        abt::shared_future<void> first = abt::async(pools[1], [&] {
            abt::this_thread::sleep_for(2ms);
            has_ended = true;
        });
        auto second = first;
        first = {};
    }
    ok(has_ended, "so does the last shared one");
    bool caught = false;
    try {
        abt::async([] { throw std::string("thrown"); }).get();
    } catch (const std::string &what) {
        caught = what == "thrown";
    }
    ok(caught, "what the function throws");
    int runs = 0;
    auto lazy = abt::async(abt::launch::deferred, [&runs] { return ++runs; });
    ok(lazy.wait_for(1h) == abt::future_status::deferred && runs == 0, "a deferred function has not run");
    lazy.wait();
    ok(lazy.wait_for(0s) == abt::future_status::ready && lazy.get() == 1, "it runs once, in the first wait");
}

static void test_packaged() // [futures.task]
{
    abt::packaged_task<int(int)> none, task([](int x) { return 2 * x; });
    ok(!none.valid() && task.valid() && refuses(abt::future_errc::no_state, [&] { none(1); }), "a task of nothing");
    auto f = task.get_future();
    swap(none, task);
    abt::thread(pools[1], std::move(none), 21).join();
    ok(f.get() == 42, "a task runs in a thread");
    abt::packaged_task<void()> thrower([] { throw 7; });
    auto g = thrower.get_future();
    thrower();
    ok(refuses(abt::future_errc::promise_already_satisfied, [&] { thrower(); }), "a task runs once");
    thrower.reset();
    auto h = thrower.get_future();
    int got = 0;
    try {
        g.get();
    } catch (int thrown) {
        got = thrown;
    }
    ok(got == 7 && h.wait_for(0s) == abt::future_status::timeout, "reset gives a state anew");
}

#ifdef __cpp_impl_coroutine
static abt::future<int> doubled(ABT_pool pool, int number)
{
    int half = co_await abt::async(pool, [number] { return number; });
    co_return 2 * half;
}

static abt::future<void> fails(abt::shared_future<int> first)
{
    int got = co_await first; // gcc 12 makes a wrong frame of a co_await in the condition
    if (got == 1)
        throw std::string("one");
}

static abt::future<int> all_of(int num)
{
    int sum = 0;
    std::vector<abt::future<int>> parts;
    for (int i = 0; i < num; i++)
        parts.push_back(doubled(pools[i % 2], i));
    for (auto &part : parts)
        sum += co_await std::move(part);
    co_return sum;
}

static void test_coroutines() // [expr.await]
{
    ok(all_of(1000).get() == 999000, "a coroutine goes on when the future is ready");
    abt::promise<int> p;
    abt::shared_future<int> f = p.get_future();
    auto a = fails(f), b = fails(f);
    ok(a.wait_for(0s) == abt::future_status::timeout, "it has not ended before");
    p.set_value(1);
    int caught = 0;
    for (auto *one : {&a, &b}) {
        try {
            one->get();
        } catch (const std::string &what) {
            caught += what == "one";
        }
    }
    ok(caught == 2, "two that wait for one future, and what they throw");
    abt::promise<int> q;
    abt::future<void> external;
    std::thread([&] { external = fails(q.get_future()); }).join();
    q.set_value(0);
    external.get();
    ok(!external.valid(), "one of an external thread goes on in who keeps the promise");
}
#else
static void test_coroutines()
{
}
#endif

static void test_scopes()
{
    abt::pool urgent, other;
    std::string order;
    {
        abt::scheduler first({urgent, other}, [&urgent, &other] {
            ABT_thread next = urgent.pop();
            return next != ABT_THREAD_NULL ? next : other.pop();
        });
        abt::latch begun(1), may_go(1);
        abt::stream own(std::move(first));
        abt::jthread blocker(urgent, [&] {
            begun.count_down();
            while (!may_go.try_wait()) // keeps the stream
                continue;
        });
        begun.wait();
        abt::jthread late(other, [&order] { order += "b"; }), soon(urgent, [&order] { order += "a"; });
        ok(own.pool() == urgent && other.size() == 1, "pools hold what waits");
        may_go.count_down();
    }
    ok(order == "ab", "a scheduler of a lambda, and the end of its stream");
    abt::stream moved, served{urgent, other};
    abt::stream taken(std::move(moved));
    int rank = -1;
    abt::thread(taken.pool(), [&rank] { ABT_self_get_xstream_rank(&rank); }).join();
    ok(rank == taken.rank() && served.pool() == urgent, "streams by pools, and a stream that is moved");
    abt::thread(other, [] {}).join();
}

int main()
{
    watchdog_begin(0);
    {
        abt::library library;
        abt::stream second;
        pools[1] = second.pool();
        must(ABT_self_get_last_pool(&pools[0]));
        test_promise();
        test_shared();
        test_async();
        test_packaged();
        test_coroutines();
        test_scopes();
    }
    ok(ABT_initialized() == ABT_ERR_UNINITIALIZED, "the library ends with its scope");
    return done_testing();
}
