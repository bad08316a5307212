/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the C++ runtime keeps for each native thread about exceptions. A program in C has no such runtime, a program
 * that loads plugins may get one at any time.
 */
#ifndef ABTI_OS_CXX_H
#define ABTI_OS_CXX_H

#include <stdbool.h>

/*
 * What __cxa_get_globals returns, by the C++ ABI: the exceptions that have been caught and are still being handled, the
 * latest first, and the number of those that are on their way to a handler.
 */
struct abti_cxx_globals {
    void *caught;
    unsigned uncaught;
};

/* The calling native thread's. NULL while no C++ runtime is known. */
struct abti_cxx_globals *abti_cxx_globals(void);

/*
 * Looks for a C++ runtime, if none is known. One that is linked into the program or a plugin with hidden symbols cannot
 * be found. `later`: also among what has been loaded since the program's start. A thread that is in dlopen may wait for
 * the caller, in a constructor.
 */
void abti_cxx_look(bool later);

/* The name of a function as it is written in C++, to be freed; NULL: there is none, or no C++ runtime. */
char *abti_cxx_demangle(const char *name);

#endif
