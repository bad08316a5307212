/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I write a server? Each connection is a ULT that reads as a blocking program does. When there is nothing to
 * read it waits for an eventual; a driver of the stream looks into epoll between units, and sleeps there when the
 * stream is idle.
 *
 *   cc server.c $(pkg-config --cflags --libs argobots) -o server
 */
#include <abt.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 8, ROUNDS = 100 };
static int epoll;
static long answers;

struct connection {
    int fd, client_fd;
    ABT_eventual readable;
    ABT_thread unit;
};

/* Makes units ready whose connections can be read. It does not wait. */
static ABT_bool look(void *arg, ABT_bool about_to_sleep)
{
    struct epoll_event events[16];
    int n = epoll_wait(epoll, events, 16, 0);
    (void)arg, (void)about_to_sleep;
    for (int i = 0; i < n; i++)
        ABT_eventual_set(((struct connection *)events[i].data.ptr)->readable, NULL, 0);
    return n > 0;
}

/* The stream has nothing to do. fd is the library's own descriptor, which only wakes. */
static void idle(void *arg, int fd, int64_t deadline)
{
    struct pollfd fds[] = {{fd, POLLIN, 0}, {epoll, POLLIN, 0}};
    int64_t left = deadline - ABTX_after(0);
    poll(fds, 2, deadline == ABTX_FOREVER ? -1 : left > 0 ? (int)(left / 1000000) + 1 : 0);
    look(arg, ABT_FALSE);
}

static ssize_t wait_and_read(struct connection *connection, void *data, size_t size)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};
    ssize_t n;
    while ((n = read(connection->fd, data, size)) < 0 && errno == EAGAIN) {
        ABT_eventual_reset(connection->readable);
        epoll_ctl(epoll, EPOLL_CTL_MOD, connection->fd, &event); /* tells also what has come before this call */
        ABT_eventual_wait(connection->readable, NULL);
    }
    return n;
}

/* Sends back what comes, until the client closes. */
static void serve(void *arg)
{
    struct connection *connection = arg;
    char byte;
    while (wait_and_read(connection, &byte, 1) == 1 && write(connection->fd, &byte, 1) == 1)
        ;
}

static void be_clients(void *arg)
{
    struct connection *connections = arg;
    char byte = 'x';
    for (int i = 0; i < ROUNDS * CONNECTIONS; i++)
        if (write(connections[i % CONNECTIONS].client_fd, &byte, 1) == 1)
            answers += read(connections[i % CONNECTIONS].client_fd, &byte, 1);
    for (int i = 0; i < CONNECTIONS; i++)
        close(connections[i].client_fd);
}

static int open_connection(struct connection *connection, ABT_pool pool)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
        return ABT_ERR_SYS;
    *connection = (struct connection){.fd = fds[0], .client_fd = fds[1]};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &(struct epoll_event){.events = 0});
    ABT_eventual_create(0, &connection->readable);
    return ABT_thread_create(pool, serve, connection, ABT_THREAD_ATTR_NULL, &connection->unit);
}

int main(int argc, char **argv)
{
    struct connection connections[CONNECTIONS];
    ABT_xstream stream, clients;
    ABT_pool pool;
    ABTX_driver driver;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    ABT_self_get_xstream(&stream);
    ABT_self_get_last_pool(&pool);
    ABTX_driver_create(&(ABTX_driver_ops){.poll = look, .wait = idle}, NULL, &driver);
    ABTX_driver_attach(driver, stream);
    for (int i = 0; i < CONNECTIONS; i++)
        if (open_connection(&connections[i], pool) != ABT_SUCCESS)
            return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &clients); /* these make blocking calls, as other machines would */
    ABT_thread_create_on_xstream(clients, be_clients, connections, ABT_THREAD_ATTR_NULL, NULL);
    for (int i = 0; i < CONNECTIONS; i++) {
        ABT_thread_free(&connections[i].unit);
        ABT_eventual_free(&connections[i].readable);
    }
    ABT_xstream_free(&clients);
    ABTX_driver_free(&driver);
    ABT_finalize();
    printf("%ld answers\n", answers);
    return answers != ROUNDS * CONNECTIONS;
}
