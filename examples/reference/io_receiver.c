/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a server with many connections receive without a buffer for each? By receivers, which share buffers: one
 * that waits for data has none.
 *
 *   cc io_receiver.c $(pkg-config --cflags --libs abtio argobots) -o io_receiver
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { CONNECTIONS = 20, MESSAGES = 5, BUFFERS = 8, SIZE = 512 };

static abtio_buffers *buffers;
static int ends[CONNECTIONS][2], answered, wrong;

/* Answers with what has come, until the peer is at its end. */
static void serves(void *arg)
{
    int socket = *(int *)arg;
    abtio_receiver *receiver;
    void *buf;
    ssize_t n;

    if (abtio_receiver_create(socket, 0, buffers, &receiver) != 0)
        return;
    while ((n = abtio_receiver_recv(receiver, &buf, ABTIO_FOREVER)) > 0) {
        abtio_send_all(socket, buf, (size_t)n, 0, ABTIO_FOREVER);
        abtio_buffers_give_back(buffers, buf); /* as soon as may be: others may wait for it */
    }
    abtio_receiver_free(&receiver); /* before the socket is closed */
    abtio_close(socket, ABTIO_FOREVER);
}

static void asks(void *arg)
{
    int socket = *(int *)arg;
    char answer[6] = "";

    for (int i = 0; i < MESSAGES; i++) {
        if (abtio_send_all(socket, "hello", 5, 0, ABTIO_FOREVER) == 5 &&
            abtio_recv_all(socket, answer, 5, 0, ABTIO_FOREVER) == 5)
            answered += strcmp(answer, "hello") == 0;
    }
    abtio_close(socket, ABTIO_FOREVER);
}

/* One that does not wait, and ends it when nobody comes. */
static void give_up(void)
{
    int pair[2];
    abtio_receiver *receiver;
    abtio_op *op;
    void *buf;

    wrong += socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0;
    wrong += abtio_receiver_create(pair[0], 0, buffers, &receiver) != 0;
    wrong += abtio_receiver_recv_nb(receiver, &buf, ABTIO_FOREVER, &op) != 0;
    wrong += abtio_cancel(op) != 0;
    abtio_op_free(&op);
    printf("then: %s\n", strerror((int)-abtio_receiver_recv(receiver, &buf, abtio_after(1000000))));
    abtio_receiver_free(&receiver);
    abtio_close(pair[0], ABTIO_FOREVER);
    abtio_close(pair[1], ABTIO_FOREVER);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread ults[2 * CONNECTIONS];

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    ABT_self_get_last_pool(&pool);
    if (abtio_buffers_create(SIZE, BUFFERS, &buffers) != 0)
        return 1;
    for (int i = 0; i < CONNECTIONS; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) != 0)
            return 1;
        ABT_thread_create(pool, serves, &ends[i][0], ABT_THREAD_ATTR_NULL, &ults[2 * i]);
        ABT_thread_create(pool, asks, &ends[i][1], ABT_THREAD_ATTR_NULL, &ults[2 * i + 1]);
    }
    for (int i = 0; i < 2 * CONNECTIONS; i++)
        ABT_thread_free(&ults[i]);
    printf("%d connections and %d buffers: %d answers\n", CONNECTIONS, BUFFERS, answered);
    give_up();
    wrong += abtio_buffers_free(&buffers) != 0;
    abtio_finalize();
    ABT_finalize();
    return wrong || answered != CONNECTIONS * MESSAGES;
}
