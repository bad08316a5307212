/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs in programs: a child with its own environment, whose stderr is looked at while it runs, several at a time.
 */
#ifndef TEST_API_CHILDREN_H
#define TEST_API_CHILDREN_H

#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "watchdog.h"

enum { MAX_SAYS = 4, TEXT_ROOM = 16384 };

struct child {
    const char *name;           /* of the case */
    const char *setting;        /* a variable with its value */
    void (*run)(void);          /* what the child does; it ends with it */
    const char *says[MAX_SAYS]; /* regular expressions that its stderr matches in this order. None: it says nothing */
    /* It ends by this signal; 0: it exits with 0, and gets SIGUSR1, which it ignores, when it has said all; -1: it is
     * killed then. */
    int sig;
};

struct running {
    const struct child *child;
    pid_t pid;
    int fd; /* its stderr */
    char text[TEXT_ROOM];
    size_t len;
    bool open, complete; /* it may say more; it has said all */
};

static inline void child_begin(struct running *r, const struct child *child)
{
    int ends[2];

    fflush(stdout);
    fflush(stderr);
    *r = (struct running){.child = child, .open = true};
    if (pipe(ends) || (r->pid = fork()) < 0)
        bail_out("no child");
    if (r->pid == 0) {
        signal(SIGUSR1, SIG_IGN);
        signal(SIGALRM, SIG_DFL); /* a handler could wake units, for all that the library knows */
        alarm(UNDER_TSAN || UNDER_ASAN || UNDER_DELAYS ? 200 : 60);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        putenv((char *)(uintptr_t)child->setting);
        child->run();
        _exit(0);
    }
    close(ends[1]);
    r->fd = ends[0];
}

/* What is said matches all of them, one behind the other. */
static inline bool child_has_said_all(const struct running *r)
{
    const char *from = r->text;

    for (int i = 0; i < MAX_SAYS && r->child->says[i]; i++) {
        regex_t regex;
        regmatch_t match;
        if (regcomp(&regex, r->child->says[i], REG_EXTENDED | REG_NEWLINE))
            bail_out("no regular expression: %s", r->child->says[i]);
        bool found = regexec(&regex, from, 1, &match, 0) == 0;
        regfree(&regex);
        if (!found)
            return false;
        from += match.rm_eo;
    }
    return true;
}

static inline void child_hear(struct running *r)
{
    ssize_t got = read(r->fd, r->text + r->len, TEXT_ROOM - 1 - r->len);

    if (got <= 0)
        r->open = false;
    else
        r->len += (size_t)got;
    if (!r->open || r->complete || !r->child->says[0] || !child_has_said_all(r))
        return;
    r->complete = true;
    if (r->child->sig == 0)
        kill(r->pid, SIGUSR1);
    if (r->child->sig < 0) {
        kill(r->pid, SIGKILL);
        r->open = false;
    }
}

static inline void child_judge(struct running *r)
{
    int status = 0, sig = r->child->sig;
    bool fine = r->child->says[0] ? child_has_said_all(r) : r->len == 0;

    close(r->fd);
    waitpid(r->pid, &status, 0);
    if (sig > 0)
        fine = fine && WIFSIGNALED(status) && WTERMSIG(status) == sig;
    else if (sig == 0)
        fine = fine && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ok(fine, "%s", r->child->name);
    if (!fine)
        fprintf(stderr, "# status %#x, said:\n%s\n", (unsigned)status, r->text);
}

/* Runs all of them, some at a time. */
static inline void run_children(const struct child *children, int num)
{
    enum { AT_A_TIME = 8 };
    static struct running running[AT_A_TIME];

    for (int first = 0; first < num; first += AT_A_TIME) {
        int many = num - first < AT_A_TIME ? num - first : AT_A_TIME, open = many;
        for (int i = 0; i < many; i++)
            child_begin(&running[i], &children[first + i]);
        while (open > 0) {
            struct pollfd fds[AT_A_TIME];
            for (int i = 0; i < many; i++)
                fds[i] = (struct pollfd){.fd = running[i].open ? running[i].fd : -1, .events = POLLIN};
            (void)poll(fds, (nfds_t)many, -1);
            open = 0;
            for (int i = 0; i < many; i++) {
                if (fds[i].fd >= 0 && fds[i].revents)
                    child_hear(&running[i]);
                open += running[i].open;
            }
        }
        for (int i = 0; i < many; i++)
            child_judge(&running[i]);
    }
}

#endif
