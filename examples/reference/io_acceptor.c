/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do several ULTs take connections from one socket? By an acceptor: each asks it, and is served in its turn. Where
 * the kernel can do it, one operation goes on accepting for all of them.
 *
 *   cc io_acceptor.c $(pkg-config --cflags --libs abtio argobots) -o io_acceptor
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { SERVERS = 4, CLIENTS = 20 };

static struct sockaddr_in address;
static abtio_acceptor *acceptor;
static int answered, wrong;

/* Takes its part of the clients. */
static void serves(void *arg)
{
    char byte;
    (void)arg;
    for (int i = 0; i < CLIENTS / SERVERS; i++) {
        int socket = abtio_acceptor_accept(acceptor, ABTIO_FOREVER);
        if (abtio_recv(socket, &byte, 1, 0, ABTIO_FOREVER) == 1)
            abtio_send(socket, &byte, 1, 0, ABTIO_FOREVER);
        abtio_close(socket, ABTIO_FOREVER);
    }
}

static void asks(void *arg)
{
    char byte = 0;
    int socket = abtio_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, ABTIO_FOREVER);
    (void)arg;
    if (abtio_connect(socket, (struct sockaddr *)&address, sizeof(address), ABTIO_FOREVER) == 0 &&
        abtio_send(socket, "a", 1, 0, ABTIO_FOREVER) == 1 && abtio_recv(socket, &byte, 1, 0, ABTIO_FOREVER) == 1)
        answered += byte == 'a';
    abtio_close(socket, ABTIO_FOREVER);
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread servers[SERVERS], clients[CLIENTS];
    abtio_op *op;
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, CLIENTS) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return 1;
    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    ABT_self_get_last_pool(&pool);
    if (abtio_acceptor_create(listener, SOCK_CLOEXEC, &acceptor) != 0)
        return 1;
    for (int i = 0; i < SERVERS; i++)
        ABT_thread_create(pool, serves, NULL, ABT_THREAD_ATTR_NULL, &servers[i]);
    for (int i = 0; i < CLIENTS; i++)
        ABT_thread_create(pool, asks, NULL, ABT_THREAD_ATTR_NULL, &clients[i]);
    for (int i = 0; i < CLIENTS; i++)
        ABT_thread_free(&clients[i]);
    for (int i = 0; i < SERVERS; i++)
        ABT_thread_free(&servers[i]);
    printf("%d of %d clients are answered\n", answered, CLIENTS);

    /* Nobody comes any more. */
    printf("then: %s\n", strerror(-abtio_acceptor_accept(acceptor, abtio_after(1000000))));
    /* With a handle, too, which is freed before the acceptor. */
    wrong = abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &op) != 0;
    if (!wrong) {
        wrong = abtio_acceptor_free(&acceptor) == 0; /* somebody waits: it is refused */
        abtio_op_free(&op);
    }
    wrong += abtio_acceptor_free(&acceptor) != 0;
    abtio_close(listener, ABTIO_FOREVER);
    abtio_finalize();
    ABT_finalize();
    return wrong || answered != CLIENTS;
}
