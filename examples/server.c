/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server: each connection is a ULT that reads like a blocking program, and each stream waits for work units and for
 * its connections at once, in epoll. An idle stream waits in the wait of a driver; a busy one looks by its poll. The
 * clients are native threads at the other ends; each sends numbers over all its connections and adds up the squares
 * that come back.
 */
#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2, CONNECTIONS = 64, ROUNDS = 400, EVENTS = 32 };

/* The event loop of a stream. */
struct loop {
    ABT_xstream stream;
    ABT_pool pool;
    int epoll;
    ABTX_driver driver;
    int wake_fd; /* the library's; -1: not yet known */
};

struct connection {
    struct loop *loop;
    int fd;
    ABT_eventual readable;
    ABT_thread ult;
};

static struct loop loops[TEAM_MAX_STREAMS];
static struct connection connections[CONNECTIONS];
static int client_fds[CONNECTIONS];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* --- The loop --- */

/* Waits so long, -1: for ever, and makes those ready that wait for what has happened. How many that were. */
static int look(struct loop *loop, int milliseconds)
{
    struct epoll_event events[EVENTS];
    int found = 0, n = epoll_wait(loop->epoll, events, EVENTS, milliseconds);

    for (int i = 0; i < n; i++) {
        struct connection *connection = events[i].data.ptr;
        if (connection) { /* the library's own descriptor has none */
            CHECK(ABT_eventual_set(connection->readable, NULL, 0));
            found++;
        }
    }
    return found;
}

static void idle_wait(void *arg, int fd, int64_t deadline)
{
    struct loop *loop = arg;
    int64_t left = (deadline - ABTX_after(0) + 999999) / 1000000; /* milliseconds */

    if (fd != loop->wake_fd) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
        if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            fail("epoll_ctl");
        loop->wake_fd = fd;
    }
    look(loop, deadline == ABTX_FOREVER ? -1 : left > 0 ? (int)left : 0);
}

static ABT_bool look_between(void *arg, ABT_bool about_to_sleep)
{
    (void)about_to_sleep;
    return look(arg, 0) ? ABT_TRUE : ABT_FALSE;
}

static void start_loop(struct loop *loop, ABT_xstream stream)
{
    const ABTX_driver_ops ops = {.poll = look_between, .wait = idle_wait};

    loop->stream = stream;
    loop->wake_fd = -1;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0)
        fail("epoll_create1");
    CHECK(ABT_xstream_get_main_pools(stream, 1, &loop->pool));
    CHECK(ABTX_driver_create(&ops, loop, &loop->driver));
    CHECK(ABTX_driver_attach(loop->driver, stream));
}

static void stop_loop(struct loop *loop)
{
    CHECK(ABTX_driver_free(&loop->driver));
    close(loop->epoll);
}

/* --- The connections --- */

/* For ULTs: read(), which suspends the caller until there is something to read. */
static ssize_t wait_and_read(struct connection *connection, void *data, size_t size)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};
    ssize_t n;

    while ((n = read(connection->fd, data, size)) < 0 && errno == EAGAIN) {
        CHECK(ABT_eventual_reset(connection->readable));
        if (epoll_ctl(connection->loop->epoll, EPOLL_CTL_MOD, connection->fd, &event) != 0)
            fail("epoll_ctl");
        CHECK(ABT_eventual_wait(connection->readable, NULL));
    }
    return n;
}

/* The body of a ULT. */
static void serve(void *arg)
{
    struct connection *connection = arg;
    long number;

    while (wait_and_read(connection, &number, sizeof(number)) == sizeof(number)) {
        number *= number;
        if (write(connection->fd, &number, sizeof(number)) != sizeof(number))
            fail("write");
    }
}

static void open_connection(int i, struct loop *loop)
{
    struct connection *connection = &connections[i];
    struct epoll_event nothing_yet = {.events = 0, .data.ptr = connection};
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
        fail("socketpair");
    client_fds[i] = fds[1];
    connection->fd = fds[0];
    connection->loop = loop;
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fds[0], &nothing_yet) != 0)
        fail("epoll_ctl");
    CHECK(ABT_eventual_create(0, &connection->readable));
    CHECK(ABT_thread_create(loop->pool, serve, connection, ABT_THREAD_ATTR_NULL, &connection->ult));
}

static void close_connection(struct connection *connection)
{
    CHECK(ABT_thread_free(&connection->ult)); /* it ends when its client has closed the other end */
    CHECK(ABT_eventual_free(&connection->readable));
    close(connection->fd);
}

/* --- The clients --- */

struct client {
    int *fds;
    long sum;
    pthread_t thread;
};

static void *be_client(void *arg)
{
    struct client *client = arg;
    enum { MINE = CONNECTIONS / CLIENTS };
    long square;

    for (long number = 1; number <= ROUNDS; number++) {
        for (int i = 0; i < MINE; i++) {
            if (write(client->fds[i], &number, sizeof(number)) != sizeof(number))
                fail("write");
        }
        for (int i = 0; i < MINE; i++) {
            if (read(client->fds[i], &square, sizeof(square)) != sizeof(square))
                fail("read");
            client->sum += square;
        }
    }
    for (int i = 0; i < MINE; i++)
        close(client->fds[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    struct team_config config;
    struct client clients[CLIENTS];
    char answer[32];
    long sum = 0;

    team_options(argc, argv, &config, NULL, "", NULL);
    config.num_streams += config.num_streams == 0; /* without streams there is no server */
    double seconds = team_seconds();
    CHECK(ABT_init(0, NULL));
    for (int i = 0; i < config.num_streams; i++) {
        ABT_xstream stream;
        if (i == 0)
            CHECK(ABT_xstream_self(&stream));
        else
            CHECK(ABT_xstream_create(ABT_SCHED_NULL, &stream));
        start_loop(&loops[i], stream);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        open_connection(i, &loops[i % config.num_streams]);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.fds = client_fds + CONNECTIONS / CLIENTS * i};
        if (pthread_create(&clients[i].thread, NULL, be_client, &clients[i]) != 0)
            fail("pthread_create");
    }
    for (int i = 0; i < CONNECTIONS; i++)
        close_connection(&connections[i]); /* main() waits as a ULT: its stream serves meanwhile */
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        sum += clients[i].sum;
    }
    for (int i = 0; i < config.num_streams; i++) {
        stop_loop(&loops[i]);
        if (i > 0)
            CHECK(ABT_xstream_free(&loops[i].stream));
    }
    CHECK(ABT_finalize());
    seconds = team_seconds() - seconds;

    snprintf(answer, sizeof(answer), "%ld", sum);
    return team_report(&(struct report){"server", answer, "1370457600", (long)CONNECTIONS * ROUNDS, seconds});
}
