/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls themselves, since not every C library has functions for them. */
#include "wait/task.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "os/module.h"
#include "os/annotate.h"
#include "wait/pause.h"

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

bool abti_task_walk(void (*visit)(int task, void *arg), void *arg)
{
    int saved_errno = errno;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry; dir && (entry = readdir(dir));) { /* NOLINT: nobody else reads this one */
        if (isdigit((unsigned char)entry->d_name[0]))
            visit(atoi(entry->d_name), arg);
    }
    if (dir)
        closedir(dir);
    errno = saved_errno;
    return dir != NULL;
}

/* Works for io_uring. Its flags are the seventh field behind the name and its bracket. */
static bool is_kernels(int task)
{
    enum { IO_WORKER = 0x10 }; /* PF_IO_WORKER */
    char text[512];
    unsigned long flags;
    const char *end = read_of_task(task, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;
    return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 && flags & IO_WORKER;
}

static bool blocks_all_signals(int task)
{
    char text[4096];
    uint64_t blocked;
    const uint64_t all = ~(uint64_t)0, never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
    const char *at = read_of_task(task, "status", text, sizeof(text)) ? strstr(text, "\nSigBlk:") : NULL;
    const uint64_t libcs = UINT64_C(3) << 31; /* signals 32 and 33, which it may not want blocked */
    return at && sscanf(at + 8, "%" SCNx64, &blocked) == 1 && (blocked | never | libcs) == all;
}

/*
 * The thread that TSan makes for itself: it lets no signal in, and sleeps in TSan's code by a system call that is made
 * there, where a thread of the program is in the C library. One that does not sleep just now will soon. One of which
 * it is not known is taken for one of the program, so that no deadlock is sure.
 */
static bool is_tsans(int task)
{
    enum { TRIES = 10, PAUSE_NS = 300000 };
    uintptr_t code = abti_annotate_tsan_code();
    struct abti_task_place place;
    struct abti_module tsan, here;
    if (code == 0 || !blocks_all_signals(task) || !abti_module_of(code, &tsan))
        return false;
    for (int i = 0; i < TRIES; i++) {
        if (abti_task_sleeps(task, &place))
            return abti_module_of(place.pc, &here) && here.base == tsan.base;
        abti_pause(PAUSE_NS);
    }
    return false;
}

bool abti_task_is_foreign(int task)
{
    int saved_errno = errno;
    bool is = is_kernels(task) || is_tsans(task);
    errno = saved_errno;
    return is;
}
