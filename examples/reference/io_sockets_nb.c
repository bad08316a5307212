/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does one ULT serve both ends of a connection, or many connections? By operations that are under way at the same
 * time. Here it connects to itself: accept and connect need each other, and so do send and receive.
 *
 *   cc io_sockets_nb.c $(pkg-config --cflags --libs abtio argobots) -o io_sockets_nb
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1 << 20 };

static char sent[SIZE], received[SIZE];
static int wrong;

/* Waits for an operation that has been started by a call with this code, and gives its result. */
static ssize_t result_of(int code, abtio_op **op)
{
    ssize_t result = code;
    if (code == 0) {
        result = abtio_op_wait(*op);
        abtio_op_free(op);
    }
    if (result < 0)
        printf("%s\n", strerror((int)-result));
    wrong += result < 0;
    return result;
}

static int new_socket(void)
{
    abtio_op *op;
    return (int)result_of(abtio_socket_nb(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, ABTIO_FOREVER, &op), &op);
}

/* Two sockets that are connected. */
static int pair(int listener, const struct sockaddr_in *address, int *ends)
{
    abtio_op *accept, *connect;
    int code = abtio_accept_nb(listener, NULL, NULL, SOCK_CLOEXEC, ABTIO_FOREVER, &accept);
    int other;
    ends[0] = new_socket();
    other = abtio_connect_nb(ends[0], (const struct sockaddr *)address, sizeof(*address), ABTIO_FOREVER, &connect);
    ends[1] = (int)result_of(code, &accept);
    return (int)result_of(other, &connect);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    char word[6] = "", list[6] = "";
    struct iovec out = {(void *)"lists", 5}, in = {list, 5};
    struct msghdr message = {.msg_iov = &out, .msg_iovlen = 1}, room = {.msg_iov = &in, .msg_iovlen = 1};
    abtio_op *one, *two;
    int listener, ends[2], code, other, is_whole;

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    listener = new_socket();
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 5) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0 || pair(listener, &address, ends) != 0)
        return 1;

    /* More than a socket holds: neither side could do it alone. */
    memset(sent, 'x', SIZE);
    code = abtio_recv_all_nb(ends[1], received, SIZE, 0, ABTIO_FOREVER, &one);
    other = abtio_send_all_nb(ends[0], sent, SIZE, 0, ABTIO_FOREVER, &two);
    result_of(other, &two);
    is_whole = result_of(code, &one) == SIZE && memcmp(sent, received, SIZE) == 0;
    printf("a MiB has come as it was sent: %s\n", is_whole ? "yes" : "no");

    /* One at a time: the other way round, and a message. */
    result_of(abtio_send_nb(ends[1], "words", 5, 0, ABTIO_FOREVER, &one), &one);
    result_of(abtio_poll_nb(ends[0], POLLIN, ABTIO_FOREVER, &one), &one);
    result_of(abtio_recv_nb(ends[0], word, 5, 0, ABTIO_FOREVER, &one), &one);
    code = abtio_recvmsg_nb(ends[0], &room, 0, ABTIO_FOREVER, &one);
    result_of(abtio_sendmsg_nb(ends[1], &message, 0, ABTIO_FOREVER, &two), &two);
    result_of(code, &one);
    printf("%s and %s\n", word, list);

    result_of(abtio_shutdown_nb(ends[0], SHUT_WR, ABTIO_FOREVER, &one), &one);
    for (int i = 0; i < 2; i++)
        result_of(abtio_close_nb(ends[i], ABTIO_FOREVER, &one), &one);
    result_of(abtio_close_nb(listener, ABTIO_FOREVER, &one), &one);
    abtio_finalize();
    ABT_finalize();
    return wrong || !is_whole || strcmp(word, "words") != 0 || strcmp(list, "lists") != 0;
}
