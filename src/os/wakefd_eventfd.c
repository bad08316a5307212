#include "os/wakefd.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int abti_wakefd_open(struct abti_wakefd *w)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    w->wait_fd = w->signal_fd = fd;
    return 0;
}

void abti_wakefd_close(struct abti_wakefd *w)
{
    close(w->wait_fd);
}

void abti_wakefd_signal(int signal_fd)
{
    uint64_t one = 1;
    /* It fails only when the counter is full, and then the descriptor is readable. */
    if (write(signal_fd, &one, sizeof(one)) < 0)
        return;
}

uint64_t abti_wakefd_drain(struct abti_wakefd *w)
{
    uint64_t count = 0;
    if (read(w->wait_fd, &count, sizeof(count)) < 0)
        return 0;
    return count;
}

void abti_wakefd_wait(struct abti_wakefd *w, int milliseconds)
{
    struct pollfd pollfd = {.fd = w->wait_fd, .events = POLLIN};
    poll(&pollfd, 1, milliseconds);
}
