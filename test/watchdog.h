/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends a program that hangs, before the runner would, and so that a debugger or a core shows where it was. */
#ifndef TEST_WATCHDOG_H
#define TEST_WATCHDOG_H

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "sanitizers.h"

/* Far more than any program takes, on a machine that is busy and slow: a hang is what does not end. */
enum { WATCHDOG_SECONDS = UNDER_ASAN || UNDER_TSAN || UNDER_DELAYS ? 280 : 110 };

static inline void watchdog_bites(int sig)
{
    static const char text[] = "# failed: it hangs\n";

    (void)sig;
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _Exit(254);
    abort();
}

/* First of all. `more` seconds are asked for by who runs the program. An emulator takes several times as long. */
static inline void watchdog_begin(unsigned more)
{
    signal(SIGALRM, watchdog_bites);
    alarm((WATCHDOG_SECONDS + more) * (getenv("ABT_TEST_EMULATED") ? 3 : 1));
}

#endif
