/* SPDX-License-Identifier: BSD-3-Clause */
/* abt.hpp: errors, time limits and words that are waited for. */
#ifndef ABT_BASE_HPP
#define ABT_BASE_HPP

#include <abt.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace abt
{

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

/* What one object has and frees; nullptr: nothing. An assignment swaps, so that what was there lives as long as
 * `other`. */
template <class Handle, int (*Free)(Handle *)> class unique
{
  public:
    unique() noexcept = default;
    explicit unique(Handle handle) noexcept : handle_(handle)
    {
    }
    unique(unique &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    unique &operator=(unique &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~unique()
    {
        if (handle_)
            Free(&handle_);
    }
    Handle get() const noexcept
    {
        return handle_;
    }

  private:
    Handle handle_ = nullptr;
};

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
    const auto at =
        std::chrono::ceil<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch() + length);
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

} // namespace abt

#endif
