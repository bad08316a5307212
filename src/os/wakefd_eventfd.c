/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/wakefd.h"

#include <errno.h>
#include <sys/eventfd.h>

int abti_wakefd_eventfd(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}
