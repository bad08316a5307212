/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads and locks of the C++ standard library over libabt, for C++17 and later: code changes a namespace.
 *
 *   abt::mutex m;
 *   abt::thread t([&] { std::lock_guard<abt::mutex> guard(m); work(); });
 *   t.join();
 *
 * Names, arguments, results and exceptions are those of the standard. What waits suspends the calling ULT, and its
 * stream runs others meanwhile. What is different:
 *
 *   - A thread is a ULT. It goes to the pool of its creator, or to the pool that is the first argument; an external
 *     thread has to name one. detach() makes another ULT, which waits for the end of the first.
 *   - thread::hardware_concurrency() is the number of streams.
 *   - A condition_variable belongs to the first mutex with which it is used. wait() with another one throws.
 *   - A tasklet cannot wait without a time limit for a condition_variable, timed_mutex, shared_mutex or semaphore: it
 *     gets an error.
 *   - A call that libabt refuses throws std::system_error with abt::category(), or std::bad_alloc.
 *   - ABT_thread_exit and a cancel call no destructor.
 */
#ifndef ABT_HPP
#define ABT_HPP

#include <abt.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#if __cplusplus > 201703L && __has_include(<stop_token>)
#include <stop_token>
#endif

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

struct error_category final : std::error_category {
    const char *name() const noexcept override
    {
        return "libabt";
    }

    std::string message(int code) const override
    {
        std::size_t length = 0;
        if (ABT_error_get_str(code, nullptr, &length) != ABT_SUCCESS)
            return "unknown error";
        std::string text(length + 1, '\0');
        ABT_error_get_str(code, &text[0], &length);
        text.resize(std::strlen(text.c_str()));
        return text;
    }

    std::error_condition default_error_condition(int code) const noexcept override
    {
        switch (code) {
        case ABT_ERR_MEM: return std::errc::not_enough_memory;
        case ABT_ERR_SYS: return std::errc::resource_unavailable_try_again;
        case ABT_ERR_UNINITIALIZED:
        case ABT_ERR_INV_XSTREAM: return std::errc::operation_not_permitted;
        default: return std::errc::invalid_argument;
        }
    }
};

} // namespace detail

/* The codes ABT_ERR_*. */
inline const std::error_category &category() noexcept
{
    static const detail::error_category codes;
    return codes;
}

namespace detail
{

[[noreturn, gnu::cold, gnu::noinline]] inline void fail(int code, const char *what)
{
    if (code == ABT_ERR_MEM)
        throw std::bad_alloc();
    throw std::system_error(code, category(), what);
}

inline void check(int code, const char *what)
{
    if (__builtin_expect(code != ABT_SUCCESS, 0))
        fail(code, what);
}

/* A time limit that far away comes sooner: the wait looks at the clock then, and goes on. */
constexpr std::chrono::hours longest_wait(24);

/* now + length on the steady clock, or the last moment that it has. */
template <class Rep, class Period>
std::chrono::steady_clock::time_point after(const std::chrono::duration<Rep, Period> &length)
{
    using point = std::chrono::steady_clock::time_point;
    const point now = std::chrono::steady_clock::now();
    if (std::chrono::duration<double>(length) >= std::chrono::duration<double>(point::max() - now) / 2)
        return point::max();
    return now + std::chrono::ceil<point::duration>(length);
}

/* How long it is until `limit`, or longest_wait. */
template <class Clock, class Duration>
std::chrono::nanoseconds until(const std::chrono::time_point<Clock, Duration> &limit)
{
    const auto now = Clock::now();
    if (limit <= now)
        return std::chrono::nanoseconds(0);
    if (limit > now + longest_wait)
        return longest_wait;
    return std::chrono::ceil<std::chrono::nanoseconds>(limit - now);
}

/* That length from now, for ABT_cond_timedwait. */
inline timespec system_time_after(std::chrono::nanoseconds length)
{
    const auto at = std::chrono::ceil<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch() + length);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    timespec time = {};
    time.tv_sec = static_cast<decltype(time.tv_sec)>(seconds.count());
    time.tv_nsec = static_cast<decltype(time.tv_nsec)>((at - seconds).count());
    return time;
}

/* Waits until the word is another than `value`. */
inline void wait_while(const std::atomic<std::uint32_t> &word, std::uint32_t value, std::uint32_t num = 0)
{
    ABTX_word_wait(&word, value, num, ABT_FALSE, nullptr, nullptr);
}

inline void wake_all(const std::atomic<std::uint32_t> &word)
{
    ABTX_word_wake(&word, std::numeric_limits<std::uint32_t>::max());
}

} // namespace detail

/* ---- Mutexes and condition variables --------------------------------------------------------------------------- */

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

/* ---- Semaphores, latches, barriers ----------------------------------------------------------------------------- */

template <std::ptrdiff_t Most = std::numeric_limits<std::ptrdiff_t>::max()> class counting_semaphore
{
    static_assert(Most >= 0, "a semaphore counts from 0");

  public:
    static constexpr std::ptrdiff_t max() noexcept
    {
        return Most;
    }
    constexpr explicit counting_semaphore(std::ptrdiff_t count) : count_(count)
    {
    }

    void release(std::ptrdiff_t more = 1)
    {
        gate_.change([this, more] {
            count_ += more;
            return more > 2 ? 2 : static_cast<int>(more);
        });
    }
    void acquire()
    {
        gate_.pass([this] { return take(); });
    }
    bool try_acquire()
    {
        return gate_.try_pass([this] { return take(); });
    }
    template <class Rep, class Period> bool try_acquire_for(const std::chrono::duration<Rep, Period> &length)
    {
        return try_acquire_until(detail::after(length));
    }
    template <class Clock, class Duration> bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &limit)
    {
        return gate_.pass_until([this] { return take(); }, limit);
    }

  private:
    bool take()
    {
        return count_ > 0 && count_--;
    }

    detail::gate gate_;
    std::ptrdiff_t count_; /* under the gate's lock */
};

using binary_semaphore = counting_semaphore<1>;

class latch
{
  public:
    static constexpr std::ptrdiff_t max() noexcept
    {
        return std::numeric_limits<std::int32_t>::max();
    }
    constexpr explicit latch(std::ptrdiff_t expected) : count_(static_cast<std::uint32_t>(expected))
    {
    }
    latch(const latch &) = delete;
    latch &operator=(const latch &) = delete;

    /* acq_rel: pairs with itself, and the release with wait, so that what each caller has done before is seen. The
     * latch may be gone as soon as the count is 0. */
    void count_down(std::ptrdiff_t less = 1)
    {
        const auto steps = static_cast<std::uint32_t>(less);
        if (count_.fetch_sub(steps, std::memory_order_acq_rel) == steps && steps)
            detail::wake_all(count_);
    }
    /* acquire: pairs with count_down. */
    bool try_wait() const noexcept
    {
        return count_.load(std::memory_order_acquire) == 0;
    }
    void wait() const
    {
        while (std::uint32_t seen = count_.load(std::memory_order_acquire)) /* pairs with count_down */
            detail::wait_while(count_, seen);
    }
    void arrive_and_wait(std::ptrdiff_t less = 1)
    {
        count_down(less);
        wait();
    }

  private:
    std::atomic<std::uint32_t> count_;
};

namespace detail
{

struct nothing {
    void operator()() noexcept
    {
    }
};

} // namespace detail

template <class Completion = detail::nothing> class barrier
{
  public:
    class arrival_token
    {
        friend barrier;
        std::uint32_t phase = 0;
    };

    static constexpr std::ptrdiff_t max() noexcept
    {
        return std::numeric_limits<std::int32_t>::max();
    }
    constexpr explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
        : missing_(static_cast<std::uint32_t>(expected)), expected_(static_cast<std::uint32_t>(expected)),
          completion_(std::move(completion))
    {
    }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    /*
     * The phase cannot end before the caller has arrived, so that a relaxed load gives the caller's: what it has done
     * before orders it after the phase's begin. acq_rel: pairs with itself, so that the last one sees what all others
     * have done, and expected_. release: pairs with wait, and hands on missing_, too. The barrier may be gone then.
     */
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t num = 1)
    {
        const auto steps = static_cast<std::uint32_t>(num);
        arrival_token token;
        token.phase = phase_.load(std::memory_order_relaxed);
        if (missing_.fetch_sub(steps, std::memory_order_acq_rel) == steps) {
            completion_();
            missing_.store(expected_.load(std::memory_order_relaxed), std::memory_order_relaxed);
            phase_.store(token.phase + 1, std::memory_order_release);
            detail::wake_all(phase_);
        }
        return token;
    }
    void wait(arrival_token &&token) const
    {
        while (phase_.load(std::memory_order_acquire) == token.phase) /* pairs with arrive */
            detail::wait_while(phase_, token.phase, expected_.load(std::memory_order_relaxed));
    }
    void arrive_and_wait()
    {
        wait(arrive());
    }
    /* relaxed: arrive orders it. */
    void arrive_and_drop()
    {
        expected_.fetch_sub(1, std::memory_order_relaxed);
        (void)arrive();
    }

  private:
    std::atomic<std::uint32_t> phase_{0};
    std::atomic<std::uint32_t> missing_; /* arrivals of this phase that have not come */
    std::atomic<std::uint32_t> expected_;
    Completion completion_;
};

/* ---- Threads --------------------------------------------------------------------------------------------------- */

namespace detail
{

/* The address of it stands for a native thread that is on no stream. The barrier keeps a compiler from using the
 * address of another thread again that the caller was on. */
[[gnu::noinline]] inline const void *native_id() noexcept
{
    static thread_local char own;
    __asm__ volatile("" ::: "memory");
    return &own;
}

/* The caller's pool. */
inline ABT_pool here()
{
    ABT_pool pool;
    check(ABT_self_get_last_pool(&pool), "abt::thread: an external thread has to name a pool");
    return pool;
}

inline ABT_thread make(ABT_pool pool, void (*func)(void *), void *arg)
{
    ABT_thread made;
    check(ABT_thread_create(pool, func, arg, ABT_THREAD_ATTR_NULL, &made), "abt::thread");
    return made;
}

/* A function that fits into the argument of a ULT is stored there, any other one is allocated. */
template <class F>
inline constexpr bool fits_argument =
    sizeof(F) <= sizeof(void *) && alignof(F) <= alignof(void *) && std::is_trivially_copyable_v<F>;

/* What leaves the function of a thread ends the program. */
template <class F> void run_argument(void *arg) noexcept
{
    alignas(void *) unsigned char bytes[sizeof(void *)];
    std::memcpy(bytes, &arg, sizeof(void *));
    (void)std::move (*std::launder(reinterpret_cast<F *>(bytes)))();
}

template <class F> void run_allocated(void *arg) noexcept
{
    std::unique_ptr<F> func(static_cast<F *>(arg));
    (void)std::move (*func)();
}

template <class F> ABT_thread create(ABT_pool pool, F func)
{
    if constexpr (fits_argument<F>) {
        void *arg = nullptr;
        std::memcpy(&arg, &func, sizeof(F));
        return make(pool, run_argument<F>, arg);
    } else {
        auto copy = std::make_unique<F>(std::move(func));
        ABT_thread made = make(pool, run_allocated<F>, copy.get());
        copy.release();
        return made;
    }
}

/* A function and its arguments, copies of what they are. */
template <class... T> struct bound {
    std::tuple<T...> parts;

    void operator()() &&
    {
        std::apply([](T &...part) { (void)std::invoke(std::move(part)...); }, parts);
    }
};

template <class F, class... Args> ABT_thread start(ABT_pool pool, F &&func, Args &&...args)
{
    static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>, "the arguments do not fit the function");
    if constexpr (sizeof...(Args) == 0)
        return create<std::decay_t<F>>(pool, std::forward<F>(func));
    else
        return create(pool, bound<std::decay_t<F>, std::decay_t<Args>...>{
                                {std::forward<F>(func), std::forward<Args>(args)...}});
}

inline void reap(void *arg)
{
    auto thread = static_cast<ABT_thread>(arg);
    ABT_thread_free(&thread);
}

/* INV_THREAD: the thread itself has called. */
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_join(int code)
{
    if (code == ABT_ERR_INV_THREAD)
        throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur));
    fail(code, "abt::thread::join");
}

template <class F> using decayed = std::remove_cv_t<std::remove_reference_t<F>>;

template <class F, class Self>
using if_function = std::enable_if_t<!std::is_same_v<decayed<F>, Self> && !std::is_convertible_v<F, ABT_pool>, int>;

} // namespace detail

class thread
{
  public:
    using native_handle_type = ABT_thread;

    /* Another one may have it when the thread has been joined. */
    class id
    {
      public:
        id() noexcept = default;
        explicit id(const void *of) noexcept : of_(of)
        {
        }
        friend bool operator==(id a, id b) noexcept
        {
            return a.of_ == b.of_;
        }
        friend bool operator!=(id a, id b) noexcept
        {
            return a.of_ != b.of_;
        }
        friend bool operator<(id a, id b) noexcept
        {
            return std::less<>()(a.of_, b.of_);
        }
        friend bool operator>(id a, id b) noexcept
        {
            return b < a;
        }
        friend bool operator<=(id a, id b) noexcept
        {
            return !(b < a);
        }
        friend bool operator>=(id a, id b) noexcept
        {
            return !(a < b);
        }
        template <class Char, class Traits>
        friend std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, id a)
        {
            return out << a.of_;
        }
        std::size_t hash() const noexcept
        {
            return std::hash<const void *>()(of_);
        }

      private:
        const void *of_ = nullptr;
    };

    thread() noexcept = default;
    template <class F, class... Args, detail::if_function<F, thread> = 0>
    explicit thread(F &&f, Args &&...args) : thread(detail::here(), std::forward<F>(f), std::forward<Args>(args)...)
    {
    }
    template <class F, class... Args>
    explicit thread(ABT_pool pool, F &&f, Args &&...args)
        : handle_(detail::start(pool, std::forward<F>(f), std::forward<Args>(args)...))
    {
    }
    thread(thread &&other) noexcept : handle_(std::exchange(other.handle_, ABT_THREAD_NULL))
    {
    }
    thread &operator=(thread &&other) noexcept
    {
        if (joinable())
            std::terminate();
        handle_ = std::exchange(other.handle_, ABT_THREAD_NULL);
        return *this;
    }
    ~thread()
    {
        if (joinable())
            std::terminate();
    }

    bool joinable() const noexcept
    {
        return handle_ != ABT_THREAD_NULL;
    }
    void join()
    {
        refuse_unless_joinable();
        const int code = ABT_thread_free(&handle_);
        if (__builtin_expect(code != ABT_SUCCESS, 0))
            detail::fail_join(code);
    }
    void detach()
    {
        refuse_unless_joinable();
        ABT_pool pool;
        detail::check(ABT_thread_get_last_pool(handle_, &pool), "abt::thread::detach");
        detail::check(ABT_thread_create(pool, detail::reap, handle_, ABT_THREAD_ATTR_NULL, nullptr),
                      "abt::thread::detach");
        handle_ = ABT_THREAD_NULL;
    }
    id get_id() const noexcept
    {
        return joinable() ? id(handle_) : id();
    }
    native_handle_type native_handle()
    {
        return handle_;
    }
    void swap(thread &other) noexcept
    {
        std::swap(handle_, other.handle_);
    }
    friend void swap(thread &a, thread &b) noexcept
    {
        a.swap(b);
    }
    /* How many streams there are. */
    static unsigned hardware_concurrency() noexcept
    {
        int num;
        return ABT_xstream_get_num(&num) == ABT_SUCCESS ? static_cast<unsigned>(num) : 0;
    }

  private:
    void refuse_unless_joinable() const
    {
        if (!joinable())
            throw std::system_error(std::make_error_code(std::errc::invalid_argument));
    }

    ABT_thread handle_ = ABT_THREAD_NULL;
};

namespace detail
{

#ifdef __cpp_lib_jthread
using stop_source = std::stop_source;
inline stop_source no_stop() noexcept
{
    return stop_source(std::nostopstate);
}
template <class F, class... Args> thread stoppable(const stop_source &stop, ABT_pool pool, F &&f, Args &&...args)
{
    if constexpr (std::is_invocable_v<std::decay_t<F>, std::stop_token, std::decay_t<Args>...>)
        return thread(pool, std::forward<F>(f), stop.get_token(), std::forward<Args>(args)...);
    else
        return thread(pool, std::forward<F>(f), std::forward<Args>(args)...);
}
#else
struct stop_source {
    bool request_stop() noexcept
    {
        return false;
    }
};
inline stop_source no_stop() noexcept
{
    return {};
}
template <class F, class... Args> thread stoppable(const stop_source &, ABT_pool pool, F &&f, Args &&...args)
{
    return thread(pool, std::forward<F>(f), std::forward<Args>(args)...);
}
#endif

} // namespace detail

/* Joins in its destructor. Stop tokens come with C++20. */
class jthread
{
  public:
    using id = thread::id;
    using native_handle_type = thread::native_handle_type;

    jthread() noexcept : stop_(detail::no_stop())
    {
    }
    template <class F, class... Args, detail::if_function<F, jthread> = 0>
    explicit jthread(F &&f, Args &&...args) : jthread(detail::here(), std::forward<F>(f), std::forward<Args>(args)...)
    {
    }
    template <class F, class... Args>
    explicit jthread(ABT_pool pool, F &&f, Args &&...args)
        : thread_(detail::stoppable(stop_, pool, std::forward<F>(f), std::forward<Args>(args)...))
    {
    }
    jthread(jthread &&) noexcept = default;
    jthread &operator=(jthread &&other) noexcept
    {
        if (this != &other) {
            end();
            stop_ = std::move(other.stop_);
            thread_ = std::move(other.thread_);
        }
        return *this;
    }
    ~jthread()
    {
        end();
    }

    bool joinable() const noexcept
    {
        return thread_.joinable();
    }
    void join()
    {
        thread_.join();
    }
    void detach()
    {
        thread_.detach();
    }
    id get_id() const noexcept
    {
        return thread_.get_id();
    }
    native_handle_type native_handle()
    {
        return thread_.native_handle();
    }
    void swap(jthread &other) noexcept
    {
        std::swap(stop_, other.stop_);
        thread_.swap(other.thread_);
    }
    friend void swap(jthread &a, jthread &b) noexcept
    {
        a.swap(b);
    }
    static unsigned hardware_concurrency() noexcept
    {
        return thread::hardware_concurrency();
    }
    bool request_stop() noexcept
    {
        return stop_.request_stop();
    }
#ifdef __cpp_lib_jthread
    std::stop_source get_stop_source() noexcept
    {
        return stop_;
    }
    std::stop_token get_stop_token() const noexcept
    {
        return stop_.get_token();
    }
#endif

  private:
    void end()
    {
        if (joinable()) {
            request_stop();
            join();
        }
    }

    detail::stop_source stop_;
    thread thread_;
};

namespace this_thread
{

inline void yield() noexcept
{
    ABT_thread_yield();
}

/* Of the calling unit, or of the native thread if that is on no stream or in a blocking region. */
inline thread::id get_id() noexcept
{
    ABT_thread self;
    return thread::id(ABT_self_get_thread(&self) == ABT_SUCCESS ? self : detail::native_id());
}

template <class Clock, class Duration> void sleep_until(const std::chrono::time_point<Clock, Duration> &limit)
{
    for (auto rest = detail::until(limit); rest.count() > 0; rest = detail::until(limit))
        detail::check(ABTX_self_sleep(rest.count()), "abt::this_thread::sleep");
}

template <class Rep, class Period> void sleep_for(const std::chrono::duration<Rep, Period> &length)
{
    sleep_until(detail::after(length));
}

} // namespace this_thread

} // namespace abt

template <> struct std::hash<abt::thread::id> {
    std::size_t operator()(const abt::thread::id &id) const noexcept
    {
        return id.hash();
    }
};

#endif
