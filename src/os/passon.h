/* SPDX-License-Identifier: BSD-3-Clause */
/* A handler that is in the place of another one passes a signal on to that. */
#ifndef ABTI_OS_PASSON_H
#define ABTI_OS_PASSON_H

#include <signal.h>
#include "base/compiler.h"

/* `before`: what was there. A default action is not taken. Async-signal-safe. */
ABTI_INLINE void abti_pass_on(const struct sigaction *before, int number, siginfo_t *info, void *context)
{
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
}

#endif
