/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boost.Fiber on the same work: round robin on one thread, on several a shared queue or, with `spread`, a queue for
 * each, from which others steal. With OVER_LIBABT likewise abt.hpp, whose pools are dealt the units then.
 */
#ifdef OVER_LIBABT
#include <abt.hpp>
#else
#include <boost/fiber/all.hpp>
#endif
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <thread>
#include <vector>

#include "kernels.h"
#include "suite.h"

namespace
{

enum { OPERATIONS = 20000, ULTS = 10000 };
bool spread; /* each stream has a queue of its own */

#ifdef OVER_LIBABT
namespace fibers = abt;
namespace this_fiber = abt::this_thread;
constexpr const char *SERIES = "abt.hpp", *SPREAD_SERIES = "abt.hpp, private pools";

/* The calling stream and others serve these pools, until this is gone. */
using pools = std::initializer_list<ABT_pool>;
std::vector<ABT_pool> queues;
std::size_t dealt;

struct fiber : abt::thread {
    template <class... F> explicit fiber(F... func) : thread(queues[dealt++ % queues.size()], func...)
    {
    }
};

struct barrier : abt::barrier<> {
    explicit barrier(std::size_t num) : abt::barrier<>(static_cast<std::ptrdiff_t>(num))
    {
    }
    void wait()
    {
        arrive_and_wait();
    }
};

class Team
{
  public:
    Team()
    {
        const ABT_pool_access access = spread ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC;
        queues.resize(spread ? static_cast<std::size_t>(suite_streams) : 1);
        for (ABT_pool &queue : queues)
            ABT_pool_create_basic(ABT_POOL_FIFO, access, ABT_TRUE, &queue);
        ABT_xstream primary;
        ABT_xstream_self(&primary);
        ABT_xstream_set_main_sched_basic(primary, ABT_SCHED_DEFAULT, 1, &queues[0]);
        for (std::size_t i = 1; i < static_cast<std::size_t>(suite_streams); i++)
            streams.emplace_back(pools{queues[i % queues.size()]});
    }

  private:
    std::vector<abt::stream> streams;
};
#else
namespace fibers = boost::fibers;
namespace this_fiber = boost::this_fiber;
using fibers::barrier;
using fibers::fiber;
constexpr const char *SERIES = "", *SPREAD_SERIES = "work stealing";

/* The calling thread and others serve the queues, until this is gone. */
class Team
{
  public:
    Team()
    {
        if (suite_streams == 1)
            return;
        for (int i = 1; i < suite_streams; i++) {
            threads.emplace_back([this] {
                serve();
                std::unique_lock<fibers::mutex> lock(mutex);
                over.wait(lock, [this] { return ended; });
            });
        }
        if (suite_streams > 1)
            serve();
    }
    ~Team()
    {
        {
            std::unique_lock<fibers::mutex> lock(mutex);
            ended = true;
        }
        over.notify_all();
        for (auto &thread : threads)
            thread.join();
    }

  private:
    /* Work stealing waits until all threads do this. */
    static void serve()
    {
        if (spread)
            fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(static_cast<std::uint32_t>(suite_streams));
        else
            fibers::use_scheduling_algorithm<fibers::algo::shared_work>(true);
    }

    std::vector<std::thread> threads;
    fibers::mutex mutex;
    fibers::condition_variable over;
    bool ended = false;
};
#endif

/* ---- Creation and yield, on one thread ---- */

void create(void *arg)
{
    long num = *static_cast<const long *>(arg), ran = 0;
    std::vector<fiber> made;
    made.reserve(static_cast<std::size_t>(num));
    for (long i = 0; i < num; i++)
        made.emplace_back([&ran] { ran++; });
    for (auto &fiber : made)
        fiber.join();
    suite_expect(ran, num, "the number of fibers that ran");
}

void run_create(const suite_work *work)
{
    Team team;
    suite_run(create, const_cast<long *>(&work->n), static_cast<double>(work->n));
}

long each, count;
int num_fibers;

template <class Body> void run_fibers(Body body)
{
    std::vector<fiber> made;
    for (int i = 0; i < num_fibers; i++)
        made.emplace_back(body, i);
    for (auto &fiber : made)
        fiber.join();
}

void yields(void *)
{
    run_fibers([](int) {
        for (long n = each; n > 0; n--)
            this_fiber::yield();
    });
}

/* ---- Synchronisation ---- */

void locks(void *)
{
    static fibers::mutex mutex;
    count = 0;
    run_fibers([](int) {
        for (long n = each; n > 0; n--) {
            mutex.lock();
            count++;
            mutex.unlock();
        }
    });
    suite_expect(count, each * num_fibers, "the number of operations");
}

void locks_and_yields(void *)
{
    static fibers::mutex mutex;
    count = 0;
    run_fibers([](int) {
        for (long n = each; n > 0; n--) {
            mutex.lock();
            long before = count;
            this_fiber::yield();
            count = before + 1;
            mutex.unlock();
        }
    });
    suite_expect(count, each * num_fibers, "the number of operations");
}

void takes_turns(void *)
{
    static fibers::mutex mutex;
    static fibers::condition_variable cond;
    static int turn;
    turn = 0;
    count = 0;
    run_fibers([](int me) {
        std::unique_lock<fibers::mutex> lock(mutex);
        for (long n = each; n > 0; n--) {
            while (turn != me)
                cond.wait(lock);
            turn = !me;
            count++;
            cond.notify_one();
        }
    });
    suite_expect(count, each * 2, "the number of operations");
}

void meets(void *)
{
    barrier all(static_cast<std::size_t>(num_fibers));
    count = 0;
    run_fibers([&all](int me) {
        for (long n = each; n > 0; n--) {
            all.wait();
            if (me == 0)
                count += num_fibers;
        }
    });
    suite_expect(count, each * num_fibers, "the number of operations");
}

void (*const batches[])(void *) = {yields, locks, locks_and_yields, takes_turns, meets};
enum { YIELDS, LOCKS, LOCKS_AND_YIELDS, TAKES_TURNS, MEETS, BODY = 7, SPREAD = 8 };

void run(const suite_work *work)
{
    spread = work->variant & SPREAD;
    Team team;
    num_fibers = static_cast<int>(work->n);
    each = OPERATIONS / num_fibers;
    suite_run(batches[work->variant & BODY], nullptr, static_cast<double>(each * num_fibers));
}

/* ---- Trees ---- */

long fib(int n)
{
    if (n < 2)
        return n;
    long a = 0;
    fiber child([&a, n] { a = fib(n - 1); });
    long b = fib(n - 2);
    child.join();
    return a + b;
}

/* A fiber has a stack of 128 KiB from its birth: a smaller tree than the others', so that they fit. */
constexpr int FIB_N = 16;

void fib_batch(void *)
{
    suite_expect(fib(FIB_N), kernel_fib(FIB_N), "fib");
}

void run_fib(const suite_work *)
{
    Team team;
    suite_run(fib_batch, nullptr, static_cast<double>(kernel_fib_spawns(FIB_N)));
}

/* ---- Memory of a fiber that waits ---- */

void run_memory(const suite_work *)
{
    Team team;
    suite_samples samples = {nullptr, 0, 0};
    std::vector<fiber> made;
    fibers::mutex mutex;
    fibers::condition_variable over;
    bool ended = false;
    long waiting = 0;
    made.reserve(ULTS);
    long before = suite_resident();
    for (int i = 0; i < ULTS; i++) {
        made.emplace_back([&] {
            std::unique_lock<fibers::mutex> lock(mutex);
            waiting++;
            over.wait(lock, [&ended] { return ended; });
        });
    }
    while (waiting < ULTS)
        this_fiber::yield();
    suite_add(&samples, static_cast<double>(suite_resident() - before) / ULTS);
    {
        std::unique_lock<fibers::mutex> lock(mutex);
        ended = true;
    }
    over.notify_all();
    for (auto &fiber : made)
        fiber.join();
    suite_report(&samples, 1);
}

const suite_work works[] = {
    {"create-256", SERIES, "1", run_create, 256, 0},
    {"create-16384", SERIES, "1", run_create, 16384, 0},
    {"yield-2", SERIES, "1", run, 2, YIELDS},
    {"yield-256", SERIES, "1", run, 256, YIELDS},
    {"mutex", SERIES, "1", run, 1, LOCKS},
    {"mutex-8", SERIES, "*", run, 8, LOCKS_AND_YIELDS},
    {"mutex-8", SPREAD_SERIES, "*", run, 8, LOCKS_AND_YIELDS | SPREAD},
    {"cond", SERIES, "*", run, 2, TAKES_TURNS},
    {"cond", SPREAD_SERIES, "*", run, 2, TAKES_TURNS | SPREAD},
    {"barrier-64", SERIES, "*", run, 64, MEETS},
    {"barrier-64", SPREAD_SERIES, "*", run, 64, MEETS | SPREAD},
    {"fib", SERIES, "*", run_fib, 0, 0},
    {"memory-blocked", SERIES, "1", run_memory, 0, 0},
};

} // namespace

int main(int argc, char **argv)
{
#ifdef OVER_LIBABT
    abt::library library(argc, argv);
#endif
    /* A fiber's stack comes from malloc: it is to be reused, not given back to the system each time. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, -1);
    return suite_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
