/* SPDX-License-Identifier: BSD-3-Clause */
/* What the echo servers in C have in common. */
#ifndef NET_H_INCLUDED
#define NET_H_INCLUDED

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { ECHO_BUFFER = 1024 };

/* Ends the program when a call has failed. */
static inline void expect(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static inline struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Small answers go out at once. */
static inline void set_no_delay(int fd)
{
    int one = 1;
    expect(!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
}

/* A listening socket on a port of the kernel's choice, which is printed: the program that started this one reads it. */
static inline int listen_and_tell(int flags)
{
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    expect(fd >= 0 && !bind(fd, (struct sockaddr *)&address, size) && !listen(fd, 4096) &&
               !getsockname(fd, (struct sockaddr *)&address, &size),
           "listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

#endif
