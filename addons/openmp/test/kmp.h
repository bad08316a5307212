/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program of the test and the library that clang compiles know of each other. */
#ifndef TEST_KMP_H
#define TEST_KMP_H

/* A check of the library: its name, and what it does. It returns how much was wrong. */
struct kmp_check {
    const char *name;
    int (*run)(int num);
};

/* Constructs of clang for those of gcc: the library has one of these, `kmp_mixed`. */
struct kmp_mixed {
    void (*in_region)(int num, void (*fn)(int *), int *arg);
    void (*in_single)(void (*fn)(int *), int *arg);
    void (*in_group)(void (*fn)(int *), int *arg);
    void (*in_loop)(int *sum);    /* adds 20, without a barrier */
    void (*make_tasks)(int *sum); /* that add 20 */
    void (*wait_for_tasks)(void);
    void (*make_writer)(int *value); /* a task that stores 7 */
    void (*make_reader)(int *value, int *seen);
    void (*add_locked)(void *lock, int *sum);
    void (*add_nested)(void *lock, int *sum);
    void (*set_num_threads)(int num);
    int (*get_max_threads)(void);
};

/* The library has `kmp_checks` and `kmp_task_checks`, which end with one without a name. `num` is how many members a
 * region has. */

#endif
