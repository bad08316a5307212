/* SPDX-License-Identifier: BSD-3-Clause */
/* abt.hpp: threads. */
#ifndef ABT_THREAD_HPP
#define ABT_THREAD_HPP

#include <abt/base.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#if __cplusplus > 201703L && __has_include(<stop_token>)
#include <stop_token>
#endif

namespace abt
{

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

/* A function that fits into the argument of a ULT is stored there, any other one is allocated. */
template <class F>
inline constexpr bool fits_argument = sizeof(F) <= sizeof(void *) &&
                                      alignof(F) <= alignof(void *) && std::is_trivially_copyable_v<F>;

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

/* made may be null, as that of ABT_thread_create. */
template <class F> void create(ABT_pool pool, F func, ABT_thread *made)
{
    if constexpr (fits_argument<F>) {
        void *arg = nullptr;
        std::memcpy(&arg, &func, sizeof(F));
        check(ABT_thread_create(pool, run_argument<F>, arg, ABT_THREAD_ATTR_NULL, made), "abt::thread");
    } else {
        auto copy = std::make_unique<F>(std::move(func));
        check(ABT_thread_create(pool, run_allocated<F>, copy.get(), ABT_THREAD_ATTR_NULL, made), "abt::thread");
        copy.release(); // the ULT has it, and may be gone
    }
}

/* A function and its arguments, copies of what they are. */
template <class... T> struct bound {
    std::tuple<T...> parts;

    decltype(auto) operator()() &&
    {
        return std::apply([](T &...part) -> decltype(auto) { return std::invoke(std::move(part)...); }, parts);
    }
};

template <class F, class... Args> ABT_thread start(ABT_pool pool, F &&func, Args &&...args)
{
    static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>, "the arguments do not fit the function");
    ABT_thread made;
    if constexpr (sizeof...(Args) == 0)
        create<std::decay_t<F>>(pool, std::forward<F>(func), &made);
    else
        create(pool,
               bound<std::decay_t<F>, std::decay_t<Args>...>{{std::forward<F>(func), std::forward<Args>(args)...}},
               &made);
    return made;
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
