/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/task.h"

bool abti_task_sleeps(int task, struct abti_task_place *place)
{
    (void)task;
    *place = (struct abti_task_place){0, 0};
    return false;
}

bool abti_task_walk(void (*visit)(int task, void *arg), void *arg)
{
    (void)visit;
    (void)arg;
    return false;
}

bool abti_task_is_foreign(int task)
{
    (void)task;
    return false;
}

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
