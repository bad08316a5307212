/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of base/delay.h: each atomic operation tells the checker where it stands, so that it can be weakened. */
#ifndef ABTI_BASE_DELAY_H
#define ABTI_BASE_DELAY_H

#include <stdatomic.h>
#include "base/build.h"
#include "base/compiler.h"
#include "checker.h"

#define ABTI_DELAYED(operation)                                                                                        \
    __extension__({                                                                                                    \
        static struct model_site model_site_ = {__FILE__, #operation, 0, 0};                                           \
        model_at(&model_site_, __func__);                                                                              \
        __auto_type model_result_ = (operation);                                                                       \
        model_result_;                                                                                                 \
    })
#define ABTI_DELAYED_VOID(operation)                                                                                   \
    __extension__({                                                                                                    \
        static struct model_site model_site_ = {__FILE__, #operation, 0, 0};                                           \
        model_at(&model_site_, __func__);                                                                              \
        (operation);                                                                                                   \
    })

#include "base/delayed.h"

ABTI_INLINE void abti_delay(void)
{
}

#endif
