/* SPDX-License-Identifier: BSD-3-Clause */
/* The echo server that is written for speed alone: one thread, one epoll, no task per connection. */
#include <sys/epoll.h>
#include <unistd.h>

#include "net.h"

enum { EVENTS = 256 };

static int listener, epoll;

static void watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    expect(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

static void take_connections(void)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        set_no_delay(fd);
        watch(fd);
    }
}

static void echo(int fd)
{
    char buffer[ECHO_BUFFER];
    ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
    if (size <= 0 || send(fd, buffer, (size_t)size, MSG_NOSIGNAL) != size)
        close(fd);
}

int main(void)
{
    epoll = epoll_create1(0);
    expect(epoll >= 0, "epoll_create1");
    listener = listen_and_tell(SOCK_NONBLOCK);
    watch(listener);
    for (;;) {
        struct epoll_event events[EVENTS];
        int num = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < num; i++) {
            if (events[i].data.fd == listener)
                take_connections();
            else
                echo(events[i].data.fd);
        }
    }
}
