/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fork and join for C++17, over abt_fork.h: functions side by side, loops and reductions with lambdas. Nothing is
 * allocated, and nothing is called by a pointer but a task that another stream takes.
 *
 *   auto [a, b] = abtx::invoke([&] { return f(x); }, [&] { return g(x); });
 *   abtx::for_each_index(0, n, 64, [&](std::ptrdiff_t i) { v[i] *= 2; });
 *   long sum = abtx::reduce(0, n, 64, 0L, [&](std::ptrdiff_t i) { return v[i]; }, std::plus<>());
 *
 * Each may be called from anywhere, and nested. An exception that one of the functions throws comes out of the call,
 * when all that is side by side with it has ended; of several, that of the first function, or of the lowest index.
 */
#ifndef ABT_FORK_HPP
#define ABT_FORK_HPP

#include <abt_fork.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace abtx
{

/* What a function without a result has for one. */
struct none {
};

namespace detail
{

/* A copy of what it refers to, if a function gives a reference. */
template <class F>
using result_of =
    std::conditional_t<std::is_void_v<std::invoke_result_t<F &>>, none, std::decay_t<std::invoke_result_t<F &>>>;

/* Runs a function once and keeps what comes of it. */
template <class F> struct outcome {
    std::optional<result_of<F>> value;
    std::exception_ptr error;

    void run(F &func) noexcept
    {
        try {
            if constexpr (std::is_void_v<std::invoke_result_t<F &>>) {
                func();
                value.emplace();
            } else {
                value.emplace(func());
            }
        } catch (...) {
            error = std::current_exception();
        }
    }

    result_of<F> get()
    {
        if (error)
            std::rethrow_exception(error);
        return std::move(*value);
    }
};

template <class F> struct task {
    abtx_task base;
    F *func;
    outcome<F> out;

    static void run(abtx_at, abtx_task *self)
    {
        auto *t = reinterpret_cast<task *>(self);
        t->out.run(*t->func);
    }
};

class region
{
  public:
    region() : here_(ABTX_fork_enter(&region_))
    {
    }
    ~region()
    {
        ABTX_fork_leave(&region_);
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;
    abtx_at here() const
    {
        return here_;
    }

  private:
    abtx_region region_;
    abtx_at here_;
};

/* Forks the tasks from the I-th on, runs f, and joins them. */
template <std::size_t I, class F, class... T>
void fork_from(abtx_at here, F &f, outcome<F> &first, std::tuple<T...> &tasks)
{
    if constexpr (I == sizeof...(T)) {
        first.run(f);
    } else {
        auto &t = std::get<I>(tasks);
        fork_from<I + 1>(abtx_fork(here, &t.base, t.run), f, first, tasks);
        if (abtx_join(here))
            t.run(here, &t.base);
    }
}

template <class F, class... T, std::size_t... I>
auto results(outcome<F> &first, std::tuple<T...> &tasks, std::index_sequence<I...>)
{
    return std::tuple<result_of<F>, decltype(std::get<I>(tasks).out.get())...>{first.get(),
                                                                               std::get<I>(tasks).out.get()...};
}

} // namespace detail

/* Calls all functions side by side. Returns a tuple of their results, of which those that are void are `none`. */
template <class F, class... G> auto invoke(F &&f, G &&...others)
{
    detail::outcome<std::remove_reference_t<F>> first;
    std::tuple<detail::task<std::remove_reference_t<G>>...> tasks{
        detail::task<std::remove_reference_t<G>>{{}, &others, {}}...};
    {
        detail::region region;
        detail::fork_from<0>(region.here(), f, first, tasks);
    }
    return detail::results(first, tasks, std::index_sequence_for<G...>{});
}

namespace detail
{

/* A loop that adds up: `body(begin, end, sum)` of parts, and `combine(left, right)`. */
template <class Sum, class Body, class Combine> struct loop {
    Body &body;
    Combine &combine;
    const Sum &empty;
    std::ptrdiff_t grain;

    struct part {
        abtx_task base;
        const loop *whole;
        std::ptrdiff_t begin, end;
        Sum sum;
        std::exception_ptr error;

        static void run(abtx_at here, abtx_task *self)
        {
            auto *p = reinterpret_cast<part *>(self);
            p->error = p->whole->run(here, p->begin, p->end, p->sum);
        }
    };

    /* Returns what the part with the lowest index has thrown. */
    std::exception_ptr run(abtx_at here, std::ptrdiff_t begin, std::ptrdiff_t end, Sum &sum) const noexcept
    {
        try {
            while (begin < end) {
                bool is_long = abtx_length(begin, end) > static_cast<std::size_t>(grain);
                if (is_long && abtx_is_wanted(here)) {
                    if (auto error = split(here, begin, end, sum))
                        return error;
                } else {
                    std::ptrdiff_t middle = is_long ? begin + grain : end;
                    body(begin, middle, sum);
                    begin = middle;
                }
            }
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }

    /* Forks the further half. begin: where to go on. */
    std::exception_ptr split(abtx_at here, std::ptrdiff_t &begin, std::ptrdiff_t end, Sum &sum) const
    {
        std::ptrdiff_t middle = abtx_middle(begin, end);
        part rest{{}, this, middle, end, empty, nullptr};
        auto error = run(abtx_fork(here, &rest.base, part::run), begin, middle, sum);
        bool is_mine = abtx_join(here) != 0;
        begin = is_mine ? middle : end;
        if (error || is_mine)
            return error;
        if (rest.error)
            return rest.error;
        combine(sum, rest.sum);
        return nullptr;
    }
};

template <class Sum, class Body, class Combine>
Sum run_loop(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t grain, const Sum &empty, Body &&body,
             Combine &&combine)
{
    loop<Sum, std::remove_reference_t<Body>, std::remove_reference_t<Combine>> whole{body, combine, empty,
                                                                                     grain > 0 ? grain : 1};
    Sum sum = empty;
    std::exception_ptr error;
    {
        region region;
        error = whole.run(region.here(), begin, end, sum);
    }
    if (error)
        std::rethrow_exception(error);
    return sum;
}

} // namespace detail

/* Calls body(begin, end) on parts of at most `grain` indexes, unless nobody would take any. */
template <class Body> void for_each_part(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t grain, Body &&body)
{
    detail::run_loop(
        begin, end, grain, none(), [&](std::ptrdiff_t b, std::ptrdiff_t e, none &) { body(b, e); },
        [](none &, none &) {});
}

/* Calls body(i). */
template <class Body> void for_each_index(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t grain, Body &&body)
{
    for_each_part(begin, end, grain, [&](std::ptrdiff_t b, std::ptrdiff_t e) {
        for (std::ptrdiff_t i = b; i < e; i++)
            body(i);
    });
}

/* Returns empty + body(begin) + ... + body(end - 1), where + is add(left, right), in this order. */
template <class Sum, class Body, class Add>
Sum reduce(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t grain, Sum empty, Body &&body, Add &&add)
{
    return detail::run_loop(
        begin, end, grain, empty,
        [&](std::ptrdiff_t b, std::ptrdiff_t e, Sum &sum) {
            for (std::ptrdiff_t i = b; i < e; i++)
                sum = add(std::move(sum), body(i));
        },
        [&](Sum &left, Sum &right) { left = add(std::move(left), std::move(right)); });
}

} // namespace abtx

#endif
