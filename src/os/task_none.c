#include "os/task.h"

int abti_task_self(void)
{
    return ABTI_TASK_UNKNOWN;
}

bool abti_task_signal(int task, int sig, void *value)
{
    (void)task;
    (void)sig;
    (void)value;
    return false;
}
