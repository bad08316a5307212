/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibonacci numbers by tasks: a tree of tasks of which each but a leaf makes two and waits for them. */
#ifndef TEST_FIB_H
#define TEST_FIB_H

#define FIB_PRAGMA(...) _Pragma(#__VA_ARGS__)

/* Defines the function; what follows its name are clauses of the second task of each call. */
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
