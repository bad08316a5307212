#include "os/wakefd.h"

int abti_wakefd_eventfd(void)
{
    return -1;
}
