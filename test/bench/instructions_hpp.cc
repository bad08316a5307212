/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does one kind of operation so many times by abt.hpp, or by the C functions below it, for maint/check-instructions.
 *
 *   instructions_hpp list | WORK c|hpp TIMES
 */
#include <abt.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

ABT_pool queue;
constexpr auto nothing = [](void *) {};

ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
ABT_rwlock rwlock;
abt::mutex mutex;
abt::shared_mutex shared;
abt::condition_variable cond;

void check(int code)
{
    if (code != ABT_SUCCESS)
        std::abort();
}

/* A work by C and by abt.hpp. */
#define PAIR(name, in_c, in_hpp)                                                                                       \
    void name##_c(long times)                                                                                          \
    {                                                                                                                  \
        [[maybe_unused]] ABT_mutex handle = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);                                \
        [[maybe_unused]] ABT_thread unit;                                                                              \
        [[maybe_unused]] ABT_pool pool = queue;                                                                        \
        for (; times > 0; times--) {                                                                                   \
            in_c;                                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    void name##_hpp(long times)                                                                                        \
    {                                                                                                                  \
        for (; times > 0; times--) {                                                                                   \
            in_hpp;                                                                                                    \
        }                                                                                                              \
    }

PAIR(thread, check(ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &unit));
     check(ABT_thread_free(&unit)), abt::thread made(queue, [] {}); made.join())
PAIR(here, check(ABT_self_get_last_pool(&pool));
     check(ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &unit));
     check(ABT_thread_free(&unit)), abt::jthread made([] {}))
PAIR(yield, ABT_thread_yield(), abt::this_thread::yield())
PAIR(get_id, check(ABT_self_get_thread(&unit)), check(abt::this_thread::get_id() == abt::thread::id()))
PAIR(lock, ABT_mutex_lock(handle); ABT_mutex_unlock(handle), abt::lock_guard<abt::mutex> guard(mutex))
PAIR(try_lock, check(ABT_mutex_trylock(handle)); ABT_mutex_unlock(handle), check(!mutex.try_lock()); mutex.unlock())
PAIR(share, ABT_rwlock_rdlock(rwlock); ABT_rwlock_unlock(rwlock), abt::shared_lock<abt::shared_mutex> guard(shared))
PAIR(notify, ABT_cond_signal(ABT_COND_MEMORY_GET_HANDLE(&cond_memory)), cond.notify_one())

#define WORK(name)                                                                                                     \
    {                                                                                                                  \
#name, name##_c, name##_hpp                                                                                    \
    }
const struct work {
    const char *name;
    void (*by_c)(long), (*by_hpp)(long);
} works[] = {WORK(thread), WORK(here),     WORK(yield), WORK(get_id),
             WORK(lock),   WORK(try_lock), WORK(share), WORK(notify)};

} // namespace

int main(int argc, char **argv)
{
    abt::library library(argc, argv);
    ABT_self_get_last_pool(&queue);
    check(ABT_rwlock_create(&rwlock));
    for (const work &each : works) {
        if (argc == 2)
            std::puts(each.name);
        else if (argc == 4 && std::strcmp(argv[1], each.name) == 0)
            (std::strcmp(argv[2], "c") == 0 ? each.by_c : each.by_hpp)(std::atol(argv[3]));
    }
    ABT_rwlock_free(&rwlock);
}
