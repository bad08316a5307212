/* The system calls themselves, since not every C library has functions for them. */
#include "os/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

/* One of the thread's files in /proc, as text. False: it cannot be read. */
static bool read_of_task(int task, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", task, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The last two of the fields are the stack pointer and the program counter. There are none while it runs. */
static bool stands_at(const char *fields, struct abti_task_place *place)
{
    unsigned long sp, pc;
    const char *at = strrchr(fields, ' ');
    if (!at || sscanf(at, " %lx", &pc) != 1)
        return false;
    do
        at--;
    while (at > fields && *at != ' ');
    if (sscanf(at, " %lx", &sp) != 1)
        return false;
    *place = (struct abti_task_place){pc, sp};
    return true;
}

/* The state is the letter behind the name, which is in brackets, and may have any letters itself. */
static bool is_state_of_sleep(const char *stat)
{
    const char *end = strrchr(stat, ')');
    return end && end[1] == ' ' && end[2] != 'R' && end[2] != '\0';
}

/* Not every kernel has the first of the files, nor does every sandbox let it be read. */
bool abti_task_sleeps(int task, struct abti_task_place *place)
{
    int saved_errno = errno;
    char text[512];
    bool sleeps;
    *place = (struct abti_task_place){0, 0};
    if (read_of_task(task, "syscall", text, sizeof(text)))
        sleeps = stands_at(text, place);
    else
        sleeps = read_of_task(task, "stat", text, sizeof(text)) && is_state_of_sleep(text);
    errno = saved_errno;
    return sleeps;
}
