/* SPDX-License-Identifier: BSD-3-Clause */
/* abt.hpp: mutexes and condition variables. */
#ifndef ABT_LOCK_HPP
#define ABT_LOCK_HPP

#include <abt/base.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace abt
{

using std::adopt_lock;
using std::cv_status;
using std::defer_lock;
using std::lock;
using std::lock_guard;
using std::scoped_lock;
using std::shared_lock;
using std::try_lock;
using std::try_to_lock;
using std::unique_lock;

namespace detail
{

/* Static storage: nothing is allocated, and nothing freed. A lock of it cannot fail. */
class any_mutex
{
  public:
    using native_handle_type = ABT_mutex;
    any_mutex(const any_mutex &) = delete;
    any_mutex &operator=(const any_mutex &) = delete;

    void lock()
    {
        ABT_mutex_lock(native_handle());
    }
    bool try_lock()
    {
        return ABT_mutex_trylock(native_handle()) == ABT_SUCCESS;
    }
    void unlock()
    {
        ABT_mutex_unlock(native_handle());
    }
    native_handle_type native_handle()
    {
        return ABT_MUTEX_MEMORY_GET_HANDLE(&memory_);
    }

  protected:
    constexpr explicit any_mutex(const ABT_mutex_memory &memory) noexcept : memory_(memory)
    {
    }

  private:
    ABT_mutex_memory memory_;
};

} // namespace detail

class mutex : public detail::any_mutex
{
  public:
    constexpr mutex() noexcept : any_mutex(ABT_mutex_memory ABT_MUTEX_INITIALIZER)
    {
    }
};

class recursive_mutex : public detail::any_mutex
{
  public:
    constexpr recursive_mutex() noexcept : any_mutex(ABT_mutex_memory ABT_RECURSIVE_MUTEX_INITIALIZER)
    {
    }
};

class condition_variable
{
  public:
    using native_handle_type = ABT_cond;
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void notify_one() noexcept
    {
        ABT_cond_signal(native_handle());
    }
    void notify_all() noexcept
    {
        ABT_cond_broadcast(native_handle());
    }

    void wait(std::unique_lock<mutex> &held)
    {
        detail::check(ABT_cond_wait(native_handle(), held.mutex()->native_handle()), "abt::condition_variable::wait");
    }
    template <class Predicate> void wait(std::unique_lock<mutex> &held, Predicate is_done)
    {
        while (!is_done())
            wait(held);
    }

    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex> &held, const std::chrono::time_point<Clock, Duration> &limit)
    {
        const timespec at = detail::system_time_after(detail::until(limit));
        const int code = ABT_cond_timedwait(native_handle(), held.mutex()->native_handle(), &at);
        if (code != ABT_ERR_COND_TIMEDOUT)
            detail::check(code, "abt::condition_variable::wait_until");
        return code == ABT_SUCCESS || Clock::now() < limit ? std::cv_status::no_timeout : std::cv_status::timeout;
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex> &held, const std::chrono::time_point<Clock, Duration> &limit,
                    Predicate is_done)
    {
        while (!is_done())
            if (wait_until(held, limit) == std::cv_status::timeout)
                return is_done();
        return true;
    }

    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex> &held, const std::chrono::duration<Rep, Period> &length)
    {
        return wait_until(held, detail::after(length));
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex> &held, const std::chrono::duration<Rep, Period> &length, Predicate is_done)
    {
        return wait_until(held, detail::after(length), std::move(is_done));
    }

    native_handle_type native_handle()
    {
        return ABT_COND_MEMORY_GET_HANDLE(&memory_);
    }

  private:
    ABT_cond_memory memory_ = ABT_COND_INITIALIZER;
};

namespace detail
{

/* A state that callers change or wait for, with the lock held: step() makes the change if it can be made. */
class gate
{
  public:
    template <class Step> bool try_pass(Step step)
    {
        std::lock_guard<mutex> guard(mutex_);
        return step();
    }
    template <class Step> void pass(Step step)
    {
        std::unique_lock<mutex> guard(mutex_);
        changed_.wait(guard, step);
    }
    template <class Step, class Clock, class Duration>
    bool pass_until(Step step, const std::chrono::time_point<Clock, Duration> &limit)
    {
        std::unique_lock<mutex> guard(mutex_);
        return changed_.wait_until(guard, limit, step);
    }
    /* change() returns how many waiters may go on; 2 stands for all. */
    template <class Change> void change(Change change)
    {
        std::lock_guard<mutex> guard(mutex_);
        const int wakes = change();
        if (wakes == 1)
            changed_.notify_one();
        else if (wakes)
            changed_.notify_all();
    }

  private:
    mutex mutex_;
    condition_variable changed_;
};

/* Neither readers nor writers are preferred, as in ABT_rwlock. */
class timed_locks
{
  public:
    void lock()
    {
        gate_.pass([this] { return take(); });
    }
    bool try_lock()
    {
        return gate_.try_pass([this] { return take(); });
    }
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &length)
    {
        return try_lock_until(after(length));
    }
    template <class Clock, class Duration> bool try_lock_until(const std::chrono::time_point<Clock, Duration> &limit)
    {
        return gate_.pass_until([this] { return take(); }, limit);
    }
    void unlock()
    {
        gate_.change([this] {
            holders_ = 0;
            return 2;
        });
    }

    void lock_shared()
    {
        gate_.pass([this] { return share(); });
    }
    bool try_lock_shared()
    {
        return gate_.try_pass([this] { return share(); });
    }
    template <class Rep, class Period> bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &length)
    {
        return try_lock_shared_until(after(length));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &limit)
    {
        return gate_.pass_until([this] { return share(); }, limit);
    }
    void unlock_shared()
    {
        gate_.change([this] { return --holders_ == 0 ? 2 : 0; });
    }

  private:
    bool take()
    {
        return holders_ == 0 && (holders_ = -1);
    }
    bool share()
    {
        return holders_ >= 0 && ++holders_;
    }

    gate gate_;
    std::ptrdiff_t holders_ = 0; /* under the gate's lock: -1 for a writer, or the number of readers */
};

} // namespace detail

class shared_timed_mutex : public detail::timed_locks
{
};

class timed_mutex : private detail::timed_locks
{
  public:
    using timed_locks::lock;
    using timed_locks::try_lock;
    using timed_locks::try_lock_for;
    using timed_locks::try_lock_until;
    using timed_locks::unlock;
};

class shared_mutex : private detail::timed_locks
{
  public:
    using timed_locks::lock;
    using timed_locks::lock_shared;
    using timed_locks::try_lock;
    using timed_locks::try_lock_shared;
    using timed_locks::unlock;
    using timed_locks::unlock_shared;
};

} // namespace abt

#endif
