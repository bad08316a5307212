/* SPDX-License-Identifier: BSD-3-Clause */
/* abt.hpp: semaphores, latches and barriers. */
#ifndef ABT_COUNT_HPP
#define ABT_COUNT_HPP

#include <abt/lock.hpp>

namespace abt
{

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
        : expected_(static_cast<std::uint32_t>(expected)), completion_(std::move(completion)),
          missing_(static_cast<std::uint32_t>(expected))
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
    alignas(64) std::atomic<std::uint32_t> phase_{0};
    std::atomic<std::uint32_t> expected_;
    Completion completion_;
    alignas(64) std::atomic<std::uint32_t> missing_; /* arrivals of this phase that have not come: written by each */
};

} // namespace abt

#endif
