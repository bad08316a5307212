#include "os/wakefd.h"

#include <sys/eventfd.h>

int abti_wakefd_eventfd(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
