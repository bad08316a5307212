/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs something in a process of its own, and tells how that ended and what it has said. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "watchdog.h"

static inline void child_main(int stderr_fd, int (*act)(void *), void *arg)
{
    struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    if (stderr_fd >= 0)
        dup2(stderr_fd, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm(WATCHDOG_SECONDS);
    _exit(act(arg));
}

/*
 * A child that exits with act(arg). What it says on stderr is put into `words`; NULL: it goes where that of the parent
 * goes. Returns how the child ended, as a shell says it: its code, or 128 and its signal.
 */
static inline int child_run(int (*act)(void *), void *arg, char *words, size_t size)
{
    int fds[2] = {-1, -1}, status = 0;
    size_t len = 0;

    if (words && pipe(fds))
        bail_out("pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        bail_out("fork");
    if (child == 0) {
        close(fds[0]);
        child_main(fds[1], act, arg);
    }
    if (words) {
        close(fds[1]);
        for (ssize_t n; len < size - 1 && (n = read(fds[0], words + len, size - 1 - len)) > 0;)
            len += (size_t)n;
        words[len] = '\0';
        close(fds[0]);
    }
    if (waitpid(child, &status, 0) != child)
        bail_out("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
