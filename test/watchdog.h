/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends a program that hangs, before the runner would, and so that a debugger or a core shows where it was. Each result
 * of a test (tap.h) shows that it does not: a program may take as long as it needs on a machine that is busy.
 */
#ifndef TEST_WATCHDOG_H
#define TEST_WATCHDOG_H

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "patience.h"
#include "sanitizers.h"

/* Far more than any program takes for a result, on a machine that is busy and slow: a hang is what does not end. */
enum { WATCHDOG_SECONDS = 280 };

static inline void watchdog_bites(int sig)
{
    static const char text[] = "# failed: it hangs\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _Exit(254);
    abort();
}

/* First of all. `more` seconds are asked for by who runs the program. An emulator takes several times as long. */
static inline void watchdog_begin(unsigned more)
{
    signal(SIGALRM, watchdog_bites);
    tap_patience = (WATCHDOG_SECONDS + more) * (getenv("ABT_TEST_EMULATED") ? 3 : 1);
    tap_begin_wait();
}

#endif
