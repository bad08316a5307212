/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog: tells on stderr of a unit that keeps its stream for longer than ABT_WATCHDOG milliseconds, while it
 * runs, and of one that is ready so long and is not run. Each is reported once until it has run or left its stream.
 *
 * Nothing is counted for that: the watch thread looks at what changes anyway, and marks units (watch/mark.h).
 */
#ifndef ABTI_WATCH_WATCHDOG_H
#define ABTI_WATCH_WATCHDOG_H

#include <stdint.h>

/* A look, by the watch thread. When to look again; ABTI_CLOCK_NEVER: the watchdog is off. */
uint64_t abti_watchdog_look(uint64_t now_ns);

#endif
