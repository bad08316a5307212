/* A pipe, one byte for each signal, where there is no eventfd. */
#include "os/wakefd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

static bool set_up(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

int abti_wakefd_open(struct abti_wakefd *w)
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

void abti_wakefd_close(struct abti_wakefd *w)
{
    close(w->wait_fd);
    close(w->signal_fd);
}

void abti_wakefd_signal(int signal_fd)
{
    char byte = 0;
    /* It fails only when the pipe is full, and then its other end is readable. */
    if (write(signal_fd, &byte, 1) < 0)
        return;
}

uint64_t abti_wakefd_drain(struct abti_wakefd *w)
{
    char bytes[64];
    uint64_t count = 0;
    ssize_t n;
    while ((n = read(w->wait_fd, bytes, sizeof(bytes))) > 0)
        count += (uint64_t)n;
    return count;
}

void abti_wakefd_wait(struct abti_wakefd *w, int milliseconds)
{
    struct pollfd pollfd = {.fd = w->wait_fd, .events = POLLIN};
    poll(&pollfd, 1, milliseconds);
}
