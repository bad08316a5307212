/* SPDX-License-Identifier: BSD-3-Clause */
/* abt.hpp: promises, futures, packaged tasks and async; in C++20 coroutines that wait for futures. */
#ifndef ABT_FUTURE_HPP
#define ABT_FUTURE_HPP

#include <abt/base.hpp>
#include <abt/thread.hpp>

#include <exception>
#include <future>
#include <optional>

#ifdef __cpp_impl_coroutine
#include <coroutine>
#endif

namespace abt
{

using std::future_category;
using std::future_errc;
using std::future_error;
using std::future_status;
using std::launch;

namespace detail
{

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(future_errc code)
{
    throw future_error(code);
}

/* What a promise is kept with. */
template <class T> struct kept {
    std::optional<T> value;
    template <class... Args> void put(Args &&...args)
    {
        value.emplace(std::forward<Args>(args)...);
    }
    T take()
    {
        return std::move(*value);
    }
    const T &show()
    {
        return *value;
    }
};
template <class T> struct kept<T &> {
    T *value = nullptr;
    void put(T &other)
    {
        value = std::addressof(other);
    }
    T &take()
    {
        return *value;
    }
    T &show()
    {
        return *value;
    }
};
template <> struct kept<void> {
    void put()
    {
    }
    void take()
    {
    }
    void show()
    {
    }
};

/* A coroutine that waits for a state. */
struct waiter {
    waiter *next = nullptr;
    void (*go_on)(waiter *) = nullptr;
};

/*
 * What a promise and its futures share. The value and the error are written by who has set is_taken_, before the
 * eventual is set, and read after it was seen to be set.
 */
template <class T> class state
{
  public:
    state() = default;
    state(const state &) = delete;
    state &operator=(const state &) = delete;
    virtual ~state() = default;

    /* Of a deferred function: runs it, in the first call. */
    virtual void start()
    {
    }
    virtual bool is_deferred() const
    {
        return false;
    }

    template <class... Args> void set_value(Args &&...args)
    {
        take();
        kept_.put(std::forward<Args>(args)...);
        finish();
    }
    void set_error(std::exception_ptr error)
    {
        take();
        error_ = std::move(error);
        finish();
    }
    /* The result of a function, or what it throws. */
    template <class F> void run(F &&func)
    {
        take();
        try {
            if constexpr (std::is_void_v<T>)
                std::forward<F>(func)();
            else
                kept_.put(std::forward<F>(func)());
        } catch (...) {
            error_ = std::current_exception();
        }
        finish();
    }
    /* The promise ends: with an error if nothing has been set. */
    void abandon()
    {
        if (!is_taken_.exchange(true, std::memory_order_relaxed)) {
            error_ = std::make_exception_ptr(future_error(future_errc::broken_promise));
            finish();
        }
    }

    bool is_ready()
    {
        ABT_bool ready = ABT_FALSE;
        ABT_eventual_test(eventual(), nullptr, &ready);
        return ready;
    }
    void wait()
    {
        start();
        check(ABT_eventual_wait(eventual(), nullptr), "abt::future::wait");
    }
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration> &limit)
    {
        if (is_deferred())
            return future_status::deferred;
        while (!is_ready()) {
            const auto rest = until(limit);
            if (rest.count() == 0)
                return future_status::timeout;
            const timespec at = system_time_after(rest);
            const int code = ABT_eventual_timedwait(eventual(), nullptr, &at);
            if (code != ABT_ERR_COND_TIMEDOUT)
                check(code, "abt::future::wait_until");
        }
        return future_status::ready;
    }
    kept<T> &result()
    {
        wait();
        if (error_)
            std::rethrow_exception(error_);
        return kept_;
    }

    /*
     * False: it is ready. release: pairs with finish, which goes on with what the waiter says. acquire: pairs with
     * finish, whose result the caller reads if it comes too late.
     */
    bool call_when_ready(waiter *one)
    {
        start();
        waiter *first = waiters_.load(std::memory_order_acquire);
        do {
            if (first == all_called())
                return false;
            one->next = first;
        } while (!waiters_.compare_exchange_weak(first, one, std::memory_order_acq_rel, std::memory_order_acquire));
        return true;
    }

  private:
    ABT_eventual eventual()
    {
        return ABT_EVENTUAL_MEMORY_GET_HANDLE(&done_);
    }
    waiter *all_called()
    {
        return reinterpret_cast<waiter *>(this);
    }
    /* relaxed: it is the one store that decides, and what follows is published by finish. */
    void take()
    {
        if (is_taken_.exchange(true, std::memory_order_relaxed))
            refuse(future_errc::promise_already_satisfied);
    }
    /* acq_rel: pairs with call_when_ready in both directions. A waiter may be gone as soon as it goes on. */
    void finish()
    {
        ABT_eventual_set(eventual(), nullptr, 0);
        waiter *next;
        for (waiter *one = waiters_.exchange(all_called(), std::memory_order_acq_rel); one; one = next) {
            next = one->next;
            one->go_on(one);
        }
    }

    ABT_eventual_memory done_ = ABT_EVENTUAL_INITIALIZER;
    std::atomic<bool> is_taken_{false};
    std::atomic<waiter *> waiters_{nullptr}; /* a list, or all_called() */
    kept<T> kept_;
    std::exception_ptr error_;
};

/* The state of async with launch::deferred. */
template <class T, class F> class deferred final : public state<T>
{
  public:
    explicit deferred(F func) : func_(std::move(func))
    {
    }
    void start() override
    {
        if (!has_started_.exchange(true, std::memory_order_relaxed)) /* the eventual orders the result */
            this->run(std::move(func_));
    }
    bool is_deferred() const override
    {
        return !has_started_.load(std::memory_order_relaxed);
    }

  private:
    F func_;
    std::atomic<bool> has_started_{false};
};

/* What a future holds: the last of those of a state that async has made waits for its end. */
template <class T> struct claim {
    std::shared_ptr<state<T>> of;
    bool waits_at_end = false;

    claim() = default;
    explicit claim(std::shared_ptr<state<T>> a, bool waits = false) : of(std::move(a)), waits_at_end(waits)
    {
    }
    claim(claim &&) noexcept = default;
    claim &operator=(claim &&other) noexcept
    {
        end();
        of = std::move(other.of);
        waits_at_end = other.waits_at_end;
        return *this;
    }
    ~claim()
    {
        end();
    }
    state<T> &get() const
    {
        if (!of)
            refuse(future_errc::no_state);
        return *of;
    }

  private:
    void end() noexcept
    {
        if (of && waits_at_end)
            of->wait();
    }
};

/* What futures of both kinds have in common. */
template <class T, class Self> class any_future
{
  public:
    bool valid() const noexcept
    {
        return self().has_state();
    }
    void wait() const
    {
        self().shared().wait();
    }
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration> &limit) const
    {
        return self().shared().wait_until(limit);
    }
    template <class Rep, class Period> future_status wait_for(const std::chrono::duration<Rep, Period> &length) const
    {
        return wait_until(after(length));
    }

  private:
    const Self &self() const
    {
        return static_cast<const Self &>(*this);
    }
};

} // namespace detail

template <class T> class shared_future;

template <class T> class future : public detail::any_future<T, future<T>>
{
  public:
    future() noexcept = default;
    explicit future(detail::claim<T> claim) noexcept : claim_(std::move(claim))
    {
    }

    T get()
    {
        claim_.get();
        detail::claim<T> last(std::move(claim_));
        return last.of->result().take();
    }
    shared_future<T> share() noexcept
    {
        return shared_future<T>(std::move(*this));
    }

  private:
    friend detail::any_future<T, future<T>>;
    friend shared_future<T>;
    template <class, class> friend class awaiter;
    bool has_state() const noexcept
    {
        return claim_.of != nullptr;
    }
    detail::state<T> &shared() const
    {
        return claim_.get();
    }

    detail::claim<T> claim_;
};

template <class T> class shared_future : public detail::any_future<T, shared_future<T>>
{
  public:
    shared_future() noexcept = default;
    shared_future(future<T> &&other) : claim_(std::make_shared<detail::claim<T>>(std::move(other.claim_)))
    {
    }

    decltype(auto) get() const
    {
        return shared().result().show();
    }

  private:
    friend detail::any_future<T, shared_future<T>>;
    template <class, class> friend class awaiter;
    bool has_state() const noexcept
    {
        return claim_ && claim_->of;
    }
    detail::state<T> &shared() const
    {
        if (!claim_)
            detail::refuse(future_errc::no_state);
        return claim_->get();
    }

    std::shared_ptr<detail::claim<T>> claim_;
};

namespace detail
{

/* The side that keeps the promise: of a promise and of a packaged task. */
template <class T> class giver
{
  public:
    giver() : state_(std::make_shared<state<T>>())
    {
    }
    giver(giver &&) noexcept = default;
    giver &operator=(giver &&other) noexcept
    {
        giver(std::move(other)).swap(*this);
        return *this;
    }
    ~giver()
    {
        if (state_)
            state_->abandon();
    }
    future<T> get_future()
    {
        get();
        if (std::exchange(has_future_, true))
            refuse(future_errc::future_already_retrieved);
        return future<T>(claim<T>(state_));
    }
    void swap(giver &other) noexcept
    {
        std::swap(state_, other.state_);
        std::swap(has_future_, other.has_future_);
    }
    state<T> &get() const
    {
        if (!state_)
            refuse(future_errc::no_state);
        return *state_;
    }
    bool valid() const noexcept
    {
        return state_ != nullptr;
    }

  private:
    std::shared_ptr<state<T>> state_;
    bool has_future_ = false;
};

} // namespace detail

template <class T> class promise
{
  public:
    future<T> get_future()
    {
        return giver_.get_future();
    }
    template <class Value = T> void set_value(Value &&value)
    {
        giver_.get().set_value(std::forward<Value>(value));
    }
    template <class None = T, std::enable_if_t<std::is_void_v<None>, int> = 0> void set_value()
    {
        giver_.get().set_value();
    }
    void set_exception(std::exception_ptr error)
    {
        giver_.get().set_error(std::move(error));
    }
    void swap(promise &other) noexcept
    {
        giver_.swap(other.giver_);
    }
    friend void swap(promise &a, promise &b) noexcept
    {
        a.swap(b);
    }

  private:
    detail::giver<T> giver_;
};

template <class Signature> class packaged_task;

template <class R, class... Args> class packaged_task<R(Args...)>
{
  public:
    packaged_task() noexcept : giver_(nothing())
    {
    }
    template <class F, class = std::enable_if_t<!std::is_same_v<detail::decayed<F>, packaged_task>>>
    explicit packaged_task(F &&func) : func_(std::make_unique<holder<std::decay_t<F>>>(std::forward<F>(func)))
    {
    }

    bool valid() const noexcept
    {
        return giver_.valid();
    }
    future<R> get_future()
    {
        return giver_.get_future();
    }
    void operator()(Args... args)
    {
        giver_.get().run([&]() -> R { return func_->call(std::forward<Args>(args)...); });
    }
    void reset()
    {
        giver_.get();
        giver_ = detail::giver<R>();
    }
    void swap(packaged_task &other) noexcept
    {
        std::swap(func_, other.func_);
        giver_.swap(other.giver_);
    }
    friend void swap(packaged_task &a, packaged_task &b) noexcept
    {
        a.swap(b);
    }

  private:
    struct callable {
        virtual ~callable() = default;
        virtual R call(Args... args) = 0;
    };
    template <class F> struct holder final : callable {
        explicit holder(F f) : func(std::move(f))
        {
        }
        R call(Args... args) override
        {
            return static_cast<R>(std::invoke(func, std::forward<Args>(args)...));
        }
        F func;
    };
    static detail::giver<R> nothing()
    {
        detail::giver<R> some;
        detail::giver<R> taken(std::move(some));
        return some;
    }

    std::unique_ptr<callable> func_;
    detail::giver<R> giver_;
};

namespace detail
{

template <class F, class... Args> using result_of = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;

template <class F, class... Args> auto bind(F &&func, Args &&...args)
{
    return bound<std::decay_t<F>, std::decay_t<Args>...>{{std::forward<F>(func), std::forward<Args>(args)...}};
}

} // namespace detail

/* The function runs as a ULT of that pool. */
template <class F, class... Args>
[[nodiscard]] future<detail::result_of<F, Args...>> async(ABT_pool pool, F &&func, Args &&...args)
{
    using result = detail::result_of<F, Args...>;
    auto shared = std::make_shared<detail::state<result>>();
    detail::create(
        pool,
        [shared, call = detail::bind(std::forward<F>(func), std::forward<Args>(args)...)]() mutable {
            shared->run(std::move(call));
        },
        nullptr);
    return future<result>(detail::claim<result>(std::move(shared), true));
}

/* With launch::async as a ULT of the caller's pool, also where deferred is allowed, too. */
template <class F, class... Args>
[[nodiscard]] future<detail::result_of<F, Args...>> async(launch policy, F &&func, Args &&...args)
{
    if ((policy & launch::async) == launch::async)
        return abt::async(detail::here(), std::forward<F>(func), std::forward<Args>(args)...);
    using result = detail::result_of<F, Args...>;
    auto call = detail::bind(std::forward<F>(func), std::forward<Args>(args)...);
    return future<result>(
        detail::claim<result>(std::make_shared<detail::deferred<result, decltype(call)>>(std::move(call))));
}

template <class F, class... Args,
          std::enable_if_t<!std::is_same_v<detail::decayed<F>, launch> && !std::is_convertible_v<F, ABT_pool>, int> = 0>
[[nodiscard]] future<detail::result_of<F, Args...>> async(F &&func, Args &&...args)
{
    return abt::async(launch::async, std::forward<F>(func), std::forward<Args>(args)...);
}

#ifdef __cpp_impl_coroutine

/*
 * co_await of a future. The coroutine goes on in a ULT of its own, in the pool in which it has begun to wait; one of an
 * external thread goes on in who keeps the promise, and so does any where there is no memory for that ULT.
 */
template <class T, class Future> class awaiter : private detail::waiter
{
  public:
    explicit awaiter(Future future) : future_(std::move(future))
    {
    }
    bool await_ready() const
    {
        return future_.shared().is_ready();
    }
    bool await_suspend(std::coroutine_handle<> coroutine)
    {
        coroutine_ = coroutine;
        if (ABT_self_get_last_pool(&pool_) != ABT_SUCCESS)
            pool_ = ABT_POOL_NULL;
        go_on = [](waiter *one) {
            auto *self = static_cast<awaiter *>(one);
            void *frame = self->coroutine_.address();
            if (self->pool_ == ABT_POOL_NULL ||
                ABT_thread_create(self->pool_, resume, frame, ABT_THREAD_ATTR_NULL, nullptr) != ABT_SUCCESS)
                resume(frame);
        };
        return future_.shared().call_when_ready(this);
    }
    decltype(auto) await_resume()
    {
        return future_.get();
    }

  private:
    static void resume(void *frame)
    {
        std::coroutine_handle<>::from_address(frame).resume();
    }

    Future future_;
    std::coroutine_handle<> coroutine_;
    ABT_pool pool_ = ABT_POOL_NULL;
};

template <class T> auto operator co_await(future<T> &&other)
{
    return awaiter<T, future<T>>(std::move(other));
}
template <class T> auto operator co_await(const shared_future<T> &other)
{
    return awaiter<T, shared_future<T>>(other);
}

namespace detail
{

/* What a coroutine that returns a future has. It begins at once, and its frame is gone when it ends. */
template <class T> struct coroutine_base {
    promise<T> kept;

    future<T> get_return_object()
    {
        return kept.get_future();
    }
    std::suspend_never initial_suspend() noexcept
    {
        return {};
    }
    std::suspend_never final_suspend() noexcept
    {
        return {};
    }
    void unhandled_exception()
    {
        kept.set_exception(std::current_exception());
    }
};
template <class T> struct coroutine : coroutine_base<T> {
    template <class Value> void return_value(Value &&value)
    {
        this->kept.set_value(std::forward<Value>(value));
    }
};
template <> struct coroutine<void> : coroutine_base<void> {
    void return_void()
    {
        kept.set_value();
    }
};

} // namespace detail

#endif

} // namespace abt

#ifdef __cpp_impl_coroutine
template <class T, class... Args> struct std::coroutine_traits<abt::future<T>, Args...> {
    using promise_type = abt::detail::coroutine<T>;
};
#endif

#endif
