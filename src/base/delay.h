/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random delays around every atomic operation, in the build that is made to find races (--enable-debug=delays): between
 * any two of them others then get a chance to come. No other build has anything of this.
 */
#ifndef ABTI_BASE_DELAY_H
#define ABTI_BASE_DELAY_H

#include <stdatomic.h>
#include "base/build.h"
#include "base/compiler.h"

#if ABTI_BUILD_DELAYS

/* Does nothing as a rule, and waits now and then. It needs the system, so that it is in lock/delay.c. */
void abti_delay(void);

/* An operation with a result, and one without. */
#define ABTI_DELAYED(operation)                                                                                        \
    __extension__({                                                                                                    \
        abti_delay();                                                                                                  \
        __auto_type delayed_result = (operation);                                                                      \
        abti_delay();                                                                                                  \
        delayed_result;                                                                                                \
    })
#define ABTI_DELAYED_VOID(operation)                                                                                   \
    __extension__({                                                                                                    \
        abti_delay();                                                                                                  \
        (operation);                                                                                                   \
        abti_delay();                                                                                                  \
    })

#include "base/delayed.h"

#else

ABTI_INLINE void abti_delay(void)
{
}

#define ABTI_DELAYED(operation) (operation)
#define ABTI_DELAYED_VOID(operation) (operation)

#endif

#endif
