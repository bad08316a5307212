/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads on objects of some kind, as works of the suite: wall and CPU time, two threads and many. */
#ifndef ABT_TEST_BENCH_SUITE_NATIVE_H
#define ABT_TEST_BENCH_SUITE_NATIVE_H

#include "native.h"
#include "suite.h"

/* The variant of a work has what the threads do; its n is how many they are. A work whose name ends in -cpu reports the
 * CPU time. The objects are ready, the barrier for that many. */
void suite_native(const struct suite_work *work, const struct native_kind *kind);

/* The works, each done by run. */
#define SUITE_NATIVE_WORKS(run)                                                                                        \
    {"native-mutex-2", "", "*", run, 2, NATIVE_LOCKS}, {"native-mutex-2-cpu", "", "*", run, 2, NATIVE_LOCKS},          \
        {"native-mutex-64", "", "*", run, 64, NATIVE_LOCKS}, {"native-mutex-64-cpu", "", "*", run, 64, NATIVE_LOCKS},  \
        {"native-cond-2", "", "*", run, 2, NATIVE_SIGNALS}, {"native-cond-2-cpu", "", "*", run, 2, NATIVE_SIGNALS},    \
        {"native-barrier-2", "", "*", run, 2, NATIVE_MEETS},                                                           \
    {                                                                                                                  \
        "native-barrier-2-cpu", "", "*", run, 2, NATIVE_MEETS                                                          \
    }

#endif
