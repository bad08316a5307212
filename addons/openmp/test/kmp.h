/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program of the test and the library that clang compiles know of each other. */
#ifndef TEST_KMP_H
#define TEST_KMP_H

/* A check of the library: its name, and what it does. It returns how much was wrong. */
struct kmp_check {
    const char *name;
    int (*run)(int num);
};

/* The library has `kmp_checks` and `kmp_task_checks`, which end with one without a name. `num` is how many members a
 * region has. */

#endif
