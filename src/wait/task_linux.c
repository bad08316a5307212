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
#include "os/annotate.h"
#include "os/module.h"
#include "os/peek.h"
#include "wait/native.h"

int abti_task_self(void)
{
    return (int)syscall(SYS_gettid);
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

/*
 * Where a native thread is that sleeps in the system, by a racy read: the last of the fields. 0: it runs, or nothing is
 * known of it, as not every kernel has the file, nor does every sandbox let it be read.
 */
static uintptr_t sleeps_at(int task)
{
    char text[512];
    unsigned long pc;
    const char *at = read_of_task(task, "syscall", text, sizeof(text)) ? strrchr(text, ' ') : NULL;
    return at && sscanf(at, " %lx", &pc) == 1 ? pc : 0;
}

/* The word that the thread waits for in the system, without a deadline; 0: none that is known. */
static uintptr_t futex_of(int task)
{
    enum { COMMAND = 0x7f }; /* of which FUTEX_WAIT is 0 */
    char text[512];
    long call;
    unsigned long word, op, value, deadline;
    if (!read_of_task(task, "syscall", text, sizeof(text)) ||
        sscanf(text, "%ld %lx %lx %lx %lx", &call, &word, &op, &value, &deadline) != 5)
        return 0;
    return call == SYS_futex && (op & COMMAND) == 0 && deadline == 0 ? word : 0;
}

/*
 * A mutex of the GNU C library begins with its lock, 2 when somebody waits, a count, and the number of the thread that
 * has it. Where a mutex looks different none is found. The thread may have gone on meanwhile: so it is asked twice.
 */
uintptr_t abti_task_own_mutex(int task)
{
    int saved_errno = errno;
    int words[3];
    uintptr_t mutex = futex_of(task);
    bool is = mutex && abti_peek(words, (const void *)mutex, sizeof(words)) && words[0] == 2 && words[2] == task &&
              futex_of(task) == mutex;
    errno = saved_errno;
    return is ? mutex : 0;
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
    struct abti_module tsan, here;
    if (code == 0 || !blocks_all_signals(task) || !abti_module_of(code, &tsan))
        return false;
    for (int i = 0; i < TRIES; i++) {
        uintptr_t pc = sleeps_at(task);
        if (pc)
            return abti_module_of(pc, &here) && here.base == tsan.base;
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
