/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/wakefd.h"

#include <errno.h>

int abti_wakefd_eventfd(void)
{
    return -ENOSYS;
}
