/* SPDX-License-Identifier: BSD-3-Clause */
/* It is an eventfd, or a pipe where that is refused. Both carry words, each a count of signals. */
#include "os/wakefd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "os/annotate.h"

static bool set_up(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static int open_pipe(struct abti_wakefd *w)
{
    int fds[2];
    if (pipe(fds))
        return -errno;
    *w = (struct abti_wakefd){.wait_fd = fds[0], .signal_fd = fds[1]};
    if (set_up(fds[0]) && set_up(fds[1]))
        return 0;
    int err = errno;
    abti_wakefd_close(w);
    return -err;
}

/* A filter may refuse an eventfd; a pipe needs twice as many descriptors. */
int abti_wakefd_open(struct abti_wakefd *w)
{
    abti_annotate_begin_private();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = 0;
    if (fd < 0)
        result = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : open_pipe(w);
    else
        w->wait_fd = w->signal_fd = fd;
    abti_annotate_end_private();
    return result;
}

void abti_wakefd_close(struct abti_wakefd *w)
{
    abti_annotate_begin_private();
    close(w->wait_fd);
    if (w->signal_fd != w->wait_fd)
        close(w->signal_fd);
    abti_annotate_end_private();
}

void abti_wakefd_signal(int signal_fd)
{
    uint64_t one = 1;
    /* It fails only when the counter or the pipe is full, and then it is readable. A pipe takes the whole word or none.
     */
    abti_annotate_begin_private();
    if (write(signal_fd, &one, sizeof(one)) < 0)
        one = 0; /* nothing else is to be done */
    abti_annotate_end_private();
}

uint64_t abti_wakefd_drain(struct abti_wakefd *w)
{
    uint64_t words[32], count = 0;
    ssize_t n;
    abti_annotate_begin_private();
    /* An eventfd gives one word, with all that have come. */
    do {
        n = read(w->wait_fd, words, sizeof(words));
        for (ssize_t i = 0; i < n / (ssize_t)sizeof(words[0]); i++)
            count += words[i];
    } while (n == sizeof(words));
    abti_annotate_end_private();
    return count;
}

void abti_wakefd_wait(struct abti_wakefd *w, int milliseconds)
{
    struct pollfd pollfd = {.fd = w->wait_fd, .events = POLLIN};
    poll(&pollfd, 1, milliseconds);
}
