/* The system calls themselves, since not every C library has functions for them. */
#include "os/task.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int abti_task_self(void)
{
    return (int)syscall(SYS_gettid);
}

bool abti_task_signal(int task, int sig, void *value)
{
    int saved_errno = errno;
    siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = value;
    bool sent = syscall(SYS_rt_tgsigqueueinfo, (long)getpid(), (long)task, (long)sig, &info) == 0;
    errno = saved_errno;
    return sent;
}
