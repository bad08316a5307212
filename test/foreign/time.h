/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_TIME_H
#define FOREIGN_TIME_H

#include <stddef.h>

typedef long time_t;

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 4

int clock_gettime(int clock, struct timespec *time);
int nanosleep(const struct timespec *time, struct timespec *rest);

#endif
