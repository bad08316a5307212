/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of tasks have in common: counters, and Fibonacci numbers. */
#ifndef TEST_TASKS_H
#define TEST_TASKS_H

static inline void add(int *to, int value)
{
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

static inline int get(const int *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

#define FIB_PRAGMA(...) _Pragma(#__VA_ARGS__)

/* A tree of tasks of which each but a leaf makes two and waits for them. What follows the name are clauses of the
 * second. */
#define FIB_BY_TASKS(name, ...)                                                                                        \
    static int name(int n)                                                                                             \
    {                                                                                                                  \
        int a, b;                                                                                                      \
        if (n < 2)                                                                                                     \
            return n;                                                                                                  \
        FIB_PRAGMA(omp task shared(a))                                                                                 \
        a = name(n - 1);                                                                                               \
        FIB_PRAGMA(omp task shared(b) __VA_ARGS__)                                                                     \
        b = name(n - 2);                                                                                               \
        FIB_PRAGMA(omp taskwait)                                                                                       \
        return a + b;                                                                                                  \
    }

#endif
