/* SPDX-License-Identifier: BSD-3-Clause */
// abt.hpp: threads, locks and what counts, by the clauses of the C++ standard. Built for C++17 and C++20.
#include <abt.hpp>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <unordered_set>
#include <vector>
#include "tap.hh"
#include "watchdog.h"

using namespace std::chrono_literals;
static ABT_pool pools[2]; // of two streams

// A number of threads on both streams, and the end of all.
template <class F> static void run_many(int num, F func)
{
    std::vector<abt::jthread> threads;
    for (int i = 0; i < num; i++)
        threads.emplace_back(pools[i % 2], func, i);
}

template <class F> static std::error_condition error_of(F func)
{
    try {
        func();
    } catch (const std::system_error &e) {
        return e.code().default_error_condition();
    }
    return {};
}

static void test_thread() // [thread.thread.class]
{
    int got = 0;
    auto owned = std::make_unique<int>(40);
    abt::thread t([&got](std::unique_ptr<int> p, int more) { got = *p + more; }, std::move(owned), 2);
    ok(t.joinable() && t.get_id() != abt::thread::id() && t.get_id() != abt::this_thread::get_id(), "construct");
    t.join();
    ok(got == 42 && !t.joinable() && t.get_id() == abt::thread::id(), "arguments are moved, and join has seen the end");
    abt::thread small([&got] { got = 43; });
    abt::thread moved(std::move(small));
    ok(!small.joinable() && moved.joinable(), "a move takes the thread along");
    swap(small, moved);
    small.join();
    ok(got == 43, "swap");
    struct object {
        int value = 0;
        void add(int more) { value += more; }
    } target;
    abt::thread(pools[1], &object::add, &target, 5).join();
    abt::thread(&object::add, std::ref(target), 5).join();
    ok(target.value == 10, "members of pointers and of references");
    ok(error_of([] { abt::thread().join(); }) == std::errc::invalid_argument &&
           error_of([] { abt::thread().detach(); }) == std::errc::invalid_argument,
       "join and detach of none");
    ok(abt::thread::hardware_concurrency() == 2, "as many at once as there are streams");
}

static void test_self() // [thread.thread.this], [thread.thread.id]
{
    abt::thread::id inner;
    abt::latch may_end(1);
    abt::thread t([&] { inner = abt::this_thread::get_id(), may_end.wait(); });
    auto outer = t.get_id();
    std::unordered_set<abt::thread::id> ids{outer, abt::this_thread::get_id(), abt::thread::id()};
    may_end.count_down();
    t.join();
    std::ostringstream text;
    text << outer;
    ok(inner == outer && ids.size() == 3 && !text.str().empty(), "ids are of their thread");
    std::error_condition error;
    abt::thread *self = nullptr;
    abt::latch is_set(1);
    abt::thread joins([&] { is_set.wait(), error = error_of([&] { self->join(); }); });
    self = &joins;
    is_set.count_down();
    joins.join();
    ok(error == std::errc::resource_deadlock_would_occur, "a thread does not join itself");
    auto begin = std::chrono::steady_clock::now();
    abt::this_thread::yield();
    abt::this_thread::sleep_for(-1h);
    abt::this_thread::sleep_for(2ms);
    abt::this_thread::sleep_until(std::chrono::system_clock::now() + 2ms);
    ok(std::chrono::steady_clock::now() - begin >= 3ms, "sleeps are no shorter");
}

static void test_detach()
{
    static abt::latch done(2);
    for (auto pool : pools)
        abt::thread(pool, [] { abt::this_thread::yield(), done.count_down(); }).detach();
    done.wait();
    ok(true, "detached threads run");
}

static void test_external()
{
    abt::thread::id id, again;
    std::error_condition error;
    int got = 0;
    std::thread([&] {
        id = abt::this_thread::get_id(), again = abt::this_thread::get_id();
        error = error_of([] { abt::thread([] {}); });
        abt::thread(pools[1], [&] { got = 1; }).join();
    }).join();
    ok(id == again && id != abt::thread::id() && id != abt::this_thread::get_id(), "a native thread has an id");
    ok(error == std::errc::operation_not_permitted && got == 1, "a native thread has to name a pool");
}

static void test_tasklet()
{
    static abt::timed_mutex m;
    static std::error_condition error;
    static bool got = true;
    auto waits = [](void *) { got = m.try_lock_for(1ms), error = error_of([] { m.lock(); }); };
    ABT_task task;
    std::lock_guard<abt::timed_mutex> guard(m);
    must(ABT_task_create(pools[1], waits, nullptr, &task));
    must(ABT_task_free(&task));
    ok(!got && error == std::errc::invalid_argument, "a tasklet waits with a time limit only");
}

static void test_jthread() // [thread.jthread.class]
{
    std::atomic<int> count(0);
    {
        abt::jthread a([&] { count++; }), b(pools[1], [&](int i) { count += i; }, 2);
        a = std::move(b);
        ok((count & 1) == 1, "assignment joins first");
    }
    ok(count == 3, "so does the end");
#ifdef __cpp_lib_jthread
    bool stopped = false;
    {
        abt::jthread t([&](std::stop_token token) {
            while (!token.stop_requested())
                abt::this_thread::yield();
            stopped = true;
        });
        ok(t.get_stop_token().stop_possible() && !abt::jthread().get_stop_token().stop_possible(), "stop tokens");
    }
    ok(stopped, "the end asks for a stop");
#endif
}

template <class Mutex> static bool excludes()
{
    Mutex m;
    long count = 0;
    run_many(8, [&](int) {
        for (int i = 0; i < 200; i++) {
            std::lock_guard<Mutex> guard(m);
            long seen = count;
            if (i % 20 == 0)
                abt::this_thread::yield();
            count = seen + 1;
        }
    });
    bool taken = true;
    m.lock();
    abt::thread(pools[1], [&] { taken = m.try_lock(); }).join();
    m.unlock();
    bool is_free = m.try_lock();
    m.unlock();
    return count == 1600 && !taken && is_free;
}

template <class Mutex> static bool times_out()
{
    Mutex m;
    bool early = true, later = false;
    abt::latch tried(1);
    m.lock();
    abt::thread waits(pools[1], [&] {
        early = m.try_lock_for(1ms) || m.try_lock_until(std::chrono::system_clock::now() - 1h);
        tried.count_down();
        later = m.try_lock_for(std::chrono::hours::max());
        m.unlock();
    });
    tried.wait();
    m.unlock();
    waits.join();
    return !early && later;
}

static void test_mutexes() // [thread.mutex.requirements]
{
    ok(excludes<abt::mutex>(), "mutex");
    ok(excludes<abt::recursive_mutex>(), "recursive_mutex");
    ok(excludes<abt::timed_mutex>() && times_out<abt::timed_mutex>(), "timed_mutex");
    ok(excludes<abt::shared_mutex>(), "shared_mutex");
    ok(excludes<abt::shared_timed_mutex>() && times_out<abt::shared_timed_mutex>(), "shared_timed_mutex");
    abt::recursive_mutex r;
    std::scoped_lock twice(r);
    ok(r.try_lock(), "a recursive_mutex again");
    r.unlock();
    abt::mutex a, b;
    run_many(4, [&](int i) { abt::scoped_lock both(i % 2 ? a : b, i % 2 ? b : a); });
    ok(true, "two mutexes in either order");
}

static void test_shared() // [thread.sharedmutex.requirements]
{
    abt::shared_timed_mutex m;
    abt::barrier<> both(2);
    run_many(2, [&](int) {
        abt::shared_lock<abt::shared_timed_mutex> lock(m);
        both.arrive_and_wait(); // none comes here if they exclude each other
    });
    m.lock_shared();
    ok(m.try_lock_shared() && !m.try_lock() && !m.try_lock_for(1ms), "readers share, and exclude writers");
    m.unlock_shared();
    ok(!m.try_lock(), "each of them");
    m.unlock_shared();
    m.lock();
    ok(!m.try_lock_shared() && !m.try_lock_shared_for(1ms), "a writer excludes readers");
    m.unlock();
}

static void test_condition() // [thread.condition.condvar]
{
    abt::mutex m;
    abt::condition_variable changed;
    int turn = 0;
    run_many(4, [&](int i) {
        for (int round = 0; round < 100; round++) {
            std::unique_lock<abt::mutex> lock(m);
            changed.wait(lock, [&] { return turn % 4 == i; });
            turn++;
            changed.notify_all();
        }
    });
    ok(turn == 400, "each waits for its turn");
    std::unique_lock<abt::mutex> lock(m);
    ok(changed.wait_until(lock, std::chrono::steady_clock::now() - 1s) == abt::cv_status::timeout && lock.owns_lock() &&
           !changed.wait_for(lock, 1ms, [] { return false; }) && changed.wait_for(lock, 0s, [] { return true; }),
       "time limits");
    bool flag = false;
    abt::thread sets(pools[1], [&] {
        std::lock_guard<abt::mutex> guard(m);
        flag = true;
        changed.notify_one();
    });
    ok(changed.wait_for(lock, std::chrono::hours::max(), [&] { return flag; }), "a limit that is far away");
    lock.unlock();
    sets.join();
    abt::mutex other;
    std::unique_lock<abt::mutex> wrong(other);
    ok(error_of([&] { changed.wait(wrong); }) == std::errc::invalid_argument && wrong.owns_lock(), "another mutex");
}

static void test_counts() // [thread.sema], [thread.coord]
{
    abt::counting_semaphore<3> s(2);
    ok(s.try_acquire() && s.try_acquire() && !s.try_acquire() && !s.try_acquire_for(1ms), "a semaphore counts");
    std::atomic<int> inside(0), most(0), done(0);
    abt::jthread opens(pools[1], [&] { s.release(), s.release(2); });
    run_many(8, [&](int i) {
        i % 2 ? s.acquire() : (void)s.try_acquire_for(1h);
        int now = ++inside, seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now))
            ;
        abt::this_thread::yield();
        inside--, done++;
        s.release();
    });
    ok(most <= 3 && done == 8, "and admits as many");
    abt::latch l(3);
    ok(!l.try_wait(), "a latch is closed");
    l.count_down();
    run_many(2, [&](int) { l.arrive_and_wait(); });
    ok(l.try_wait(), "until all have come");
    int phases = 0, wrong = 0;
    auto completion = [&]() noexcept { phases++; };
    abt::barrier<decltype(completion)> b(4, completion);
    run_many(4, [&](int i) {
        for (int phase = 0; phase < 50; phase++) {
            if (i == 3 && phase == 20)
                return b.arrive_and_drop();
            i ? b.arrive_and_wait() : b.wait(b.arrive());
            if (!i) // what another arrival would change
                wrong += phases != phase + 1;
        }
    });
    ok(phases == 50 && wrong == 0, "a barrier goes on with those that have not left");
}

static void all_tests()
{
    test_thread();
    test_self();
    test_detach();
    test_external();
    test_tasklet();
    test_jthread();
    test_mutexes();
    test_shared();
    test_condition();
    test_counts();
}

int main()
{
    watchdog_begin(0);
    must(ABT_init(0, NULL));
    ABT_xstream second;
    must(ABT_xstream_create(ABT_SCHED_NULL, &second));
    must(ABT_xstream_get_main_pools(second, 1, &pools[1]));
    must(ABT_self_get_last_pool(&pools[0]));
    all_tests();
    must(ABT_xstream_free(&second));
    must(ABT_finalize());
    return done_testing();
}
