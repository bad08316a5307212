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

#include <abt/base.hpp>
#include <abt/count.hpp>
#include <abt/future.hpp>
#include <abt/lock.hpp>
#include <abt/stream.hpp>
#include <abt/thread.hpp>

#endif
