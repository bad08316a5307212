/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on sockets, with peers on the same stream: who waits lets the others run. */
#include "io.h"

static int listen_anywhere(struct sockaddr_in *addr)
{
    int fd = abtio_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, ABTIO_FOREVER);

    ok(fd >= 0, "%s: socket", backend_name);
    listen_on_loopback(fd, 8, addr);
    return fd;
}

struct server {
    int fd, flags;
};

/* Sends back what comes until the peer sends no more. */
static void serve_one(void *arg)
{
    struct server *server = arg;
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    char buf[7];
    ssize_t n;

    int fd = abtio_accept(server->fd, (struct sockaddr *)&peer, &size, server->flags, ABTIO_FOREVER);
    ok(fd >= 0 && size == sizeof(peer) && peer.sin_family == AF_INET, "accept tells the peer");
    while ((n = abtio_recv(fd, buf, sizeof(buf), 0, ABTIO_FOREVER)) > 0)
        is_int(abtio_send_all(fd, buf, (size_t)n, 0, ABTIO_FOREVER), n, "send_all");
    is_int(n, 0, "recv tells the end");
    is_int(abtio_close(fd, ABTIO_FOREVER), 0, "close of a connection");
}

static void talk(const struct sockaddr_in *addr, int type)
{
    char buf[32] = "";
    struct iovec in = {buf, sizeof(buf)}, out = {(char[]){"message"}, 7};
    struct msghdr send_it = {.msg_iov = &out, .msg_iovlen = 1}, receive_it = {.msg_iov = &in, .msg_iovlen = 1};

    int fd = abtio_socket(AF_INET, SOCK_STREAM | type, 0, ABTIO_FOREVER);
    is_int(abtio_connect(fd, (const struct sockaddr *)addr, sizeof(*addr), ABTIO_FOREVER), 0, "connect");
    is_int(abtio_send(fd, "0123456789", 10, 0, ABTIO_FOREVER), 10, "send");
    is_int(abtio_recv_all(fd, buf, 10, 0, ABTIO_FOREVER), 10, "recv_all waits for all of it");
    is_str(buf, "0123456789", "what comes back");
    is_int(abtio_sendmsg(fd, &send_it, 0, ABTIO_FOREVER), 7, "sendmsg");
    ok(abtio_poll(fd, POLLIN, ABTIO_FOREVER) & POLLIN, "poll");
    ok(abtio_recvmsg(fd, &receive_it, 0, ABTIO_FOREVER) > 0 && !memcmp(buf, "mess", 4), "recvmsg");
    is_int(abtio_shutdown(fd, SHUT_WR, ABTIO_FOREVER), 0, "shutdown");
    while (abtio_recv(fd, buf, sizeof(buf), 0, ABTIO_FOREVER) > 0)
        ;
    is_int(abtio_send(fd, "x", 1, 0, ABTIO_FOREVER), -EPIPE, "send after shutdown, without a signal");
    is_int(abtio_close(fd, ABTIO_FOREVER), 0, "close");
}

/* With and without O_NONBLOCK, which makes no difference. */
static void client(void *arg)
{
    struct sockaddr_in addr;

    for (int i = 0; i < 2; i++) {
        ABT_thread thread;
        ABT_pool pool;
        struct server server = {listen_anywhere(&addr), i ? SOCK_NONBLOCK : 0};

        pool = main_pool();
        must(ABT_thread_create(pool, serve_one, &server, ABT_THREAD_ATTR_NULL, &thread));
        talk(&addr, server.flags);
        must(ABT_thread_free(&thread));
        is_int(abtio_close(server.fd, ABTIO_FOREVER), 0, "close of the listener");
    }
}

static void refused(void *arg)
{
    struct sockaddr_in addr;
    char byte;
    int fds[2];

    int fd = listen_anywhere(&addr);
    abtio_close(fd, ABTIO_FOREVER);
    fd = abtio_socket(AF_INET, SOCK_STREAM, 0, ABTIO_FOREVER);
    is_int(abtio_connect(fd, (struct sockaddr *)&addr, sizeof(addr), ABTIO_FOREVER), -ECONNREFUSED,
           "connect to nobody");
    abtio_close(fd, ABTIO_FOREVER);
    is_int(abtio_recv(1 << 20, &byte, 1, 0, ABTIO_FOREVER), -EBADF, "recv of no descriptor");
    make_pair(fds);
    is_int(abtio_recv(fds[0], &byte, 1, MSG_DONTWAIT, ABTIO_FOREVER), -EAGAIN, "MSG_DONTWAIT does not wait");
    close(fds[0]);
    close(fds[1]);
}

static void names(void *arg)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *list = NULL;

    is_int(abtio_getaddrinfo("127.0.0.1", "80", &hints, &list, ABTIO_FOREVER), 0, "getaddrinfo");
    ok(list && list->ai_family == AF_INET, "it gives the address");
    freeaddrinfo(list);
    is_int(abtio_getaddrinfo("no number", "80", &hints, &list, ABTIO_FOREVER), -EAI_NONAME, "getaddrinfo of no name");
}

/* Receives of a socket that the one before has left empty, and of one that it has not. */
static void emptied(void *arg)
{
    int fds[2];
    char buf[8];

    make_pair(fds);
    is_int(abtio_send(fds[1], "ab", 2, 0, ABTIO_FOREVER), 2, "%s: send before a receive", backend_name);
    is_int(abtio_recv(fds[0], buf, sizeof(buf), 0, ABTIO_FOREVER), 2, "a receive of all that there is");
    is_int(abtio_recv(fds[0], buf, 1, MSG_DONTWAIT, ABTIO_FOREVER), -EAGAIN, "one that does not wait");
    is_int(abtio_recv(fds[0], buf, 1, 0, abtio_after(MS)), -ETIMEDOUT, "one with a deadline");
    is_int(abtio_send(fds[1], "cd", 2, 0, ABTIO_FOREVER), 2, "send again");
    is_int(abtio_recv(fds[0], buf, 1, 0, ABTIO_FOREVER), 1, "what has come meanwhile");
    is_int(abtio_recv(fds[0], buf, 1, 0, ABTIO_FOREVER), 1, "and what that has left");
    is_int(abtio_close(fds[1], ABTIO_FOREVER), 0, "the peer closes");
    is_int(abtio_recv(fds[0], buf, 1, 0, ABTIO_FOREVER), 0, "the end");
    is_int(abtio_close(fds[0], ABTIO_FOREVER), 0, "close");
}

static void tests(void)
{
    in_ult(emptied, NULL);
    in_ult(client, NULL);
    in_ult(refused, NULL);
    in_ult(names, NULL);
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(tests);
    return done_testing();
}
