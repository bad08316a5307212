/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a ULT talk over a socket? One ULT for each side, in straight lines; a deadline says how long each may wait.
 *
 *   cc io_sockets.c $(pkg-config --cflags --libs abtio argobots) -o io_sockets
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1 << 20, SECONDS = 60 };

static struct sockaddr_in address;
static char sent[SIZE], received[SIZE];
static int listener, wrong;

/* A minute from now: the point in time when a wait ends with -ETIMEDOUT. */
static abtio_deadline soon(void)
{
    return abtio_after((int64_t)SECONDS * 1000000000);
}

static ssize_t must(ssize_t result)
{
    if (result < 0)
        printf("%s\n", strerror((int)-result));
    wrong += result < 0;
    return result;
}

/* Says how many bytes have come. */
static void serves(void *arg)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    ssize_t bytes;
    char answer[20];
    int socket = (int)must(abtio_accept(listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC, soon()));
    (void)arg;
    bytes = must(abtio_recv_all(socket, received, SIZE, 0, soon())); /* all of them, or until the peer sends no more */
    snprintf(answer, sizeof(answer), "%d", (int)bytes);
    must(abtio_send(socket, answer, strlen(answer), 0, soon()));
    must(abtio_close(socket, ABTIO_FOREVER));
}

static void asks(void *arg)
{
    char answer[20] = "", head[4] = "head";
    struct iovec parts[2] = {{head, sizeof(head)}, {sent, 1000}}, room = {answer, sizeof(answer) - 1};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2}, reply = {.msg_iov = &room, .msg_iovlen = 1};
    int socket = (int)must(abtio_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, soon()));
    (void)arg;
    must(abtio_connect(socket, (struct sockaddr *)&address, sizeof(address), soon()));
    must(abtio_send_all(socket, sent, SIZE - 1004, 0, soon())); /* more than the socket holds: it waits */
    must(abtio_sendmsg(socket, &message, 0, soon()));           /* several parts in one call */
    must(abtio_shutdown(socket, SHUT_WR, soon()));              /* no more is to come */
    must(abtio_poll(socket, POLLIN, soon()));                   /* until there is something to read */
    must(abtio_recvmsg(socket, &reply, 0, soon()));
    printf("the other side has got %s bytes\n", answer);
    wrong += abtio_recv(socket, answer, 1, 0, soon()) != 0; /* 0: the connection is at its end */
    must(abtio_close(socket, ABTIO_FOREVER));
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread server, client;
    socklen_t size = sizeof(address);
    int late;

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    ABT_self_get_last_pool(&pool);
    listener = (int)must(abtio_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, ABTIO_FOREVER));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 5) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) /* these do not wait: call the system's */
        return 1;
    late =
        abtio_accept(listener, NULL, NULL, SOCK_CLOEXEC, abtio_after(1000000)); /* nobody comes within a millisecond */
    printf("before: %s\n", strerror(-late));
    ABT_thread_create(pool, serves, NULL, ABT_THREAD_ATTR_NULL, &server);
    ABT_thread_create(pool, asks, NULL, ABT_THREAD_ATTR_NULL, &client);
    ABT_thread_free(&server);
    ABT_thread_free(&client);
    must(abtio_close(listener, ABTIO_FOREVER));
    abtio_finalize();
    ABT_finalize();
    return wrong || late != -ETIMEDOUT;
}
