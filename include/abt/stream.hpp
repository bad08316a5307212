/* SPDX-License-Identifier: BSD-3-Clause */
/* abt.hpp: the library, pools, schedulers and streams, which end with their scope. */
#ifndef ABT_STREAM_HPP
#define ABT_STREAM_HPP

#include <abt/base.hpp>

#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace abt
{

/* ABT_init and ABT_finalize: before all else of this file, and after it. */
class library
{
  public:
    explicit library(int argc = 0, char **argv = nullptr)
    {
        detail::check(ABT_init(argc, argv), "abt::library");
    }
    library(const library &) = delete;
    library &operator=(const library &) = delete;
    ~library()
    {
        ABT_finalize();
    }
};

/* It has to be empty when it ends, and the streams that serve it have ended before. */
class pool
{
  public:
    using native_handle_type = ABT_pool;
    explicit pool(ABT_pool_kind kind = ABT_POOL_FIFO, ABT_pool_access access = ABT_POOL_ACCESS_MPMC)
        : handle_(made(kind, access))
    {
    }

    /* The next unit, for a scheduler; ABT_THREAD_NULL if there is none. */
    ABT_thread pop()
    {
        ABT_thread next = ABT_THREAD_NULL;
        ABT_pool_pop_thread(handle_.get(), &next);
        return next;
    }
    std::size_t size() const
    {
        std::size_t num = 0;
        ABT_pool_get_size(handle_.get(), &num);
        return num;
    }
    native_handle_type native_handle() const noexcept
    {
        return handle_.get();
    }
    operator ABT_pool() const noexcept
    {
        return handle_.get();
    }

  private:
    static ABT_pool made(ABT_pool_kind kind, ABT_pool_access access)
    {
        ABT_pool pool;
        detail::check(ABT_pool_create_basic(kind, access, ABT_FALSE, &pool), "abt::pool");
        return pool;
    }

    detail::unique<ABT_pool, ABT_pool_free> handle_;
};

/* A function that chooses the next unit, or ABT_THREAD_NULL; the stream sleeps then until one comes to these pools. */
class scheduler
{
  public:
    using native_handle_type = ABT_sched;
    template <class F> scheduler(std::initializer_list<ABT_pool> pools, F choose)
    {
        static_assert(std::is_invocable_r_v<ABT_thread, F &>, "it returns the next unit");
        std::vector<ABT_pool> served(pools);
        ABT_sched_def def = {ABT_SCHED_TYPE_ULT, nullptr, run, nullptr, nullptr};
        choice_ = decltype(choice_)(new chosen_by<F>(std::move(choose)));
        ABT_sched made;
        detail::check(
            ABT_sched_create(&def, static_cast<int>(served.size()), served.data(), ABT_SCHED_CONFIG_NULL, &made),
            "abt::scheduler");
        handle_ = decltype(handle_)(made);
        ABT_sched_set_data(made, choice_.get());
    }
    native_handle_type native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    friend class stream;
    struct choice {
        virtual ~choice() = default;
        virtual ABT_thread next() = 0;
    };
    template <class F> struct chosen_by final : choice {
        explicit chosen_by(F f) : func(std::move(f))
        {
        }
        ABT_thread next() override
        {
            return func();
        }
        F func;
    };

    scheduler() noexcept = default; /* of a stream whose scheduler is the library's */

    static void run(ABT_sched sched) noexcept
    {
        void *data = nullptr;
        ABT_sched_get_data(sched, &data);
        ABT_bool must_stop = ABT_FALSE;
        while (!must_stop) {
            const ABT_thread next = static_cast<choice *>(data)->next();
            if (next != ABT_THREAD_NULL)
                ABT_self_schedule(next, ABT_POOL_NULL);
            ABT_xstream_check_events(sched);
            ABT_sched_has_to_stop(sched, &must_stop);
            if (next == ABT_THREAD_NULL && !must_stop)
                ABTX_xstream_park_until(0, nullptr, ABTX_FOREVER);
        }
    }

    static int destroy(choice **chosen)
    {
        delete *chosen;
        return ABT_SUCCESS;
    }

    detail::unique<choice *, destroy> choice_;
    detail::unique<ABT_sched, ABT_sched_free> handle_;
};

/* An execution stream. Its end waits for the units of its pools. */
class stream
{
  public:
    using native_handle_type = ABT_xstream;
    /* With a scheduler of the library, and a pool of its own. */
    stream() : stream(ABT_SCHED_NULL)
    {
    }
    explicit stream(std::initializer_list<ABT_pool> pools, ABT_sched_predef predef = ABT_SCHED_DEFAULT)
    {
        std::vector<ABT_pool> served(pools);
        ABT_xstream made;
        detail::check(ABT_xstream_create_basic(predef, static_cast<int>(served.size()), served.data(),
                                               ABT_SCHED_CONFIG_NULL, &made),
                      "abt::stream");
        handle_ = decltype(handle_)(made);
    }
    explicit stream(scheduler &&own) : stream(own.native_handle())
    {
        scheduler_ = std::move(own);
    }

    /* The first of its pools. */
    ABT_pool pool() const
    {
        ABT_pool first;
        detail::check(ABT_xstream_get_main_pools(handle_.get(), 1, &first), "abt::stream::pool");
        return first;
    }
    int rank() const
    {
        int number = -1;
        ABT_xstream_get_rank(handle_.get(), &number);
        return number;
    }
    native_handle_type native_handle() const noexcept
    {
        return handle_.get();
    }

  private:
    explicit stream(ABT_sched sched)
    {
        ABT_xstream made;
        detail::check(ABT_xstream_create(sched, &made), "abt::stream");
        handle_ = decltype(handle_)(made);
    }

    scheduler scheduler_;
    detail::unique<ABT_xstream, ABT_xstream_free> handle_;
};

} // namespace abt

#endif
