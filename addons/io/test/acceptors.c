/* SPDX-License-Identifier: BSD-3-Clause */
/* Acceptors: connections for many who wait, deadlines, cancels, errors, and who closes what is left. */
#include <pthread.h>
#include <sys/resource.h>
#include "io.h"

static ABT_pool own; /* of the primary stream */
static struct sockaddr_in address;

static int listen_with(int type)
{
    int fd = socket(AF_INET, SOCK_STREAM | type, 0);

    listen_on_loopback(fd, 1024, &address);
    return fd;
}

static abtio_acceptor *make(int fd)
{
    abtio_acceptor *acceptor = NULL;
    int code = abtio_acceptor_create(fd, SOCK_CLOEXEC, &acceptor);

    if (code != 0 || !acceptor)
        bail_out("%s: abtio_acceptor_create gives %d", backend_name, code);
    return acceptor;
}

static void is_freed(abtio_acceptor **acceptor)
{
    is_int(abtio_acceptor_free(acceptor), 0, "%s: abtio_acceptor_free", backend_name);
    ok(!*acceptor, "it is gone");
}

/* A client: the kernel connects it whether somebody accepts or not. */
static int connect_one(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        bail_out("connect: %s", strerror(errno));
    return fd;
}

/* Whether two descriptors are the ends of one connection; closes both. */
static bool are_ends(int server, int client)
{
    char byte = 0;
    bool are = server >= 0 && write(client, "c", 1) == 1 && read(server, &byte, 1) == 1 && byte == 'c';

    close(server);
    close(client);
    return are;
}

/* ---- Many clients, and callers of all kinds -------------------------------------------------------------------- */

enum { CLIENTS = 300, SERVERS = 8 };

static atomic_int served, server_errors, num_outside;

static void serve(void *arg)
{
    char byte;
    int fd;

    while ((fd = abtio_acceptor_accept(arg, ABTIO_FOREVER)) >= 0) {
        bool ends = read(fd, &byte, 1) == 1 && byte == 'e';
        served += !ends;
        if (write(fd, "s", 1) != 1)
            server_errors++;
        close(fd);
        if (ends)
            return;
    }
    server_errors++;
}

static void *serve_outside(void *arg)
{
    serve(arg);
    num_outside--;
    return NULL;
}

/* One byte says to each connection which it is, an ordinary one or one that ends its server. */
static void *connect_many(void *arg)
{
    char byte;

    for (int i = 0; i < CLIENTS + SERVERS; i++) {
        int fd = connect_one();
        if (write(fd, i < CLIENTS ? "c" : "e", 1) != 1 || read(fd, &byte, 1) != 1)
            server_errors++;
        close(fd);
    }
    return NULL;
}

/* ULTs of two streams, a tasklet that blocks a third, and external threads. */
static void many(void)
{
    ABT_xstream second, third;
    ABT_thread ults[SERVERS - 3];
    ABT_task task;
    pthread_t outside[2], clients;
    int fd = listen_with(0);
    abtio_acceptor *acceptor = make(fd);

    served = server_errors = 0;
    num_outside = 2;
    must(ABT_xstream_create(ABT_SCHED_NULL, &second));
    must(ABT_xstream_create(ABT_SCHED_NULL, &third));
    for (int i = 0; i < SERVERS - 3; i++) {
        if (i % 2)
            must(ABT_thread_create_on_xstream(second, serve, acceptor, ABT_THREAD_ATTR_NULL, &ults[i]));
        else
            must(ABT_thread_create(own, serve, acceptor, ABT_THREAD_ATTR_NULL, &ults[i]));
    }
    abtio_sleep(MS, ABTIO_FOREVER);
    must(ABT_task_create_on_xstream(third, serve, acceptor, &task));
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&outside[i], NULL, serve_outside, acceptor))
            bail_out("pthread_create");
    }
    if (pthread_create(&clients, NULL, connect_many, NULL))
        bail_out("pthread_create");
    for (int i = 0; i < SERVERS - 3; i++)
        must(ABT_thread_free(&ults[i]));
    must(ABT_task_free(&task));
    while (num_outside > 0) /* this stream may be the one whose ring brings their connections */
        abtio_sleep(MS, ABTIO_FOREVER);
    for (int i = 0; i < 2; i++)
        pthread_join(outside[i], NULL);
    pthread_join(clients, NULL);
    is_int(served, CLIENTS, "%s: each client is served", backend_name);
    is_int(server_errors, 0, "without errors");
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
    must(ABT_xstream_join(third));
    must(ABT_xstream_free(&third));
    is_freed(&acceptor);
    close(fd);
}

/* A tasklet that is the first, and keeps its stream from looking; a ULT that never leaves. */
static void only_look(void *arg)
{
    abtio_op *op;
    ssize_t fd = -1;
    int client = connect_one();

    is_int(abtio_acceptor_accept_nb(arg, ABTIO_FOREVER, &op), 0, "%s: accept_nb", backend_name);
    while (!abtio_op_test(op, &fd))
        ;
    ok(are_ends((int)fd, client), "it is found by one who only looks");
    abtio_op_free(&op);
    is_int(abtio_acceptor_accept_nb(arg, abtio_after(MS), &op), 0, "accept_nb with a deadline");
    while (!abtio_op_test(op, &fd))
        ;
    is_int(fd, -ETIMEDOUT, "which is kept when one looks");
    abtio_op_free(&op);
}

static void in_tasklet(void *arg)
{
    int client = connect_one();
    ok(are_ends(abtio_acceptor_accept(arg, ABTIO_FOREVER), client), "%s: accept in a tasklet", backend_name);
    is_int(abtio_acceptor_accept(arg, abtio_after(MS)), -ETIMEDOUT, "and with a deadline");
}

static void look(void)
{
    ABT_task task;

    for (int i = 0; i < 2; i++) { /* with O_NONBLOCK, too */
        int fd = listen_with(i ? SOCK_NONBLOCK : 0);
        abtio_acceptor *acceptor = make(fd);
        in_ult(only_look, acceptor);
        must(ABT_task_create(own, in_tasklet, acceptor, &task));
        must(ABT_task_free(&task));
        is_freed(&acceptor);
        close(fd);
    }
}

/* ---- Waiters that leave ---------------------------------------------------------------------------------------- */

static void leave(void)
{
    abtio_op *ops[2];
    int fd = listen_with(0), client;
    abtio_acceptor *acceptor = make(fd);

    is_int(abtio_acceptor_accept(acceptor, abtio_after(MS)), -ETIMEDOUT, "%s: a deadline", backend_name);
    is_int(abtio_acceptor_accept_nb(acceptor, abtio_after(MS), &ops[0]), 0, "accept_nb with a deadline");
    is_int(abtio_op_wait(ops[0]), -ETIMEDOUT, "which is kept by wait");
    abtio_op_free(&ops[0]);
    for (int i = 0; i < 2; i++)
        is_int(abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &ops[i]), 0, "accept_nb");
    is_int(abtio_op_wait_any(2, ops, abtio_after(MS)), -ETIMEDOUT, "wait_any");
    is_int(abtio_acceptor_free(&acceptor), -EBUSY, "free while somebody waits");
    is_int(abtio_cancel(ops[0]), 0, "cancel");
    is_int(abtio_op_wait(ops[0]), -ECANCELED, "it is cancelled");
    client = connect_one();
    is_int(abtio_op_wait_any(2, &ops[0], ABTIO_FOREVER), 0, "wait_any finds it");
    ok(are_ends((int)abtio_op_wait(ops[1]), client), "the other gets the connection");
    is_int(abtio_cancel(ops[1]), -EALREADY, "cancel comes too late");
    abtio_op_free(&ops[0]);
    abtio_op_free(&ops[1]);
    client = connect_one();
    ok(are_ends(abtio_acceptor_accept(acceptor, abtio_after(60000 * MS)), client), "nothing is lost by those who left");
    is_freed(&acceptor);
    is_int(abtio_acceptor_free(&acceptor), 0, "free of NULL");
    close(fd);
}

static void *cancel_it(void *arg)
{
    abtio_cancel(arg);
    return NULL;
}

/* A cancel and a connection at once: it is one or the other, and then the next one gets the connection. */
static void race(void)
{
    int fd = listen_with(0), wrong = 0;
    abtio_acceptor *acceptor = make(fd);

    for (int i = 0; i < 200; i++) {
        abtio_op *op;
        pthread_t thread;
        wrong += abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &op) != 0;
        if (pthread_create(&thread, NULL, cancel_it, op))
            bail_out("pthread_create");
        int client = connect_one();
        ssize_t n = abtio_op_wait(op);
        if (n == -ECANCELED)
            n = abtio_acceptor_accept(acceptor, ABTIO_FOREVER);
        pthread_join(thread, NULL);
        abtio_op_free(&op);
        wrong += !are_ends((int)n, client);
    }
    is_int(wrong, 0, "%s: a connection is lost to no cancel", backend_name);
    is_freed(&acceptor);
    close(fd);
}

/* ---- Connections that nobody asks for -------------------------------------------------------------------------- */

static void unasked(void)
{
    static int clients[CLIENTS];
    int fd = listen_with(0), wrong = 0;
    char byte;
    abtio_acceptor *acceptor = make(fd);

    is_int(abtio_acceptor_accept(acceptor, abtio_after(MS)), -ETIMEDOUT, "%s: the first to ask", backend_name);
    int before = open_descriptors();
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_one();
        if (i % 10 == 0)
            abtio_sleep(MS / 10, ABTIO_FOREVER);
    }
    abtio_sleep(10 * MS, ABTIO_FOREVER);
    int taken = open_descriptors() - before - CLIENTS;
    ok(taken >= 0 && taken < 250, "not all of %d are taken in advance: %d", CLIENTS, taken);
    for (int i = 0; i < CLIENTS - 20; i++)
        wrong += !are_ends(abtio_acceptor_accept(acceptor, ABTIO_FOREVER), clients[i]);
    is_int(wrong, 0, "all come out in their order");
    is_freed(&acceptor);
    close(fd);
    for (int i = CLIENTS - 20; i < CLIENTS; i++) {
        wrong += read(clients[i], &byte, 1) > 0;
        close(clients[i]);
    }
    is_int(wrong, 0, "the rest is closed");
}

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

static void errors(void)
{
    abtio_op *op;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    abtio_acceptor *acceptor = make(fd);

    is_int(abtio_acceptor_accept(acceptor, ABTIO_FOREVER), -EINVAL, "%s: a socket that does not listen", backend_name);
    is_int(abtio_acceptor_accept(acceptor, ABTIO_FOREVER), -EINVAL, "each time");
    is_freed(&acceptor);
    close(fd);
    acceptor = make(1 << 20);
    is_int(abtio_acceptor_accept(acceptor, ABTIO_FOREVER), -EBADF, "no descriptor");
    is_freed(&acceptor);
    fd = listen_with(0);
    acceptor = make(fd);
    is_int(abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &op), 0, "accept_nb");
    abtio_sleep(MS, ABTIO_FOREVER);
    is_int(abtio_shutdown(fd, SHUT_RDWR, ABTIO_FOREVER), 0, "shutdown of the listener");
    is_int(abtio_op_wait(op), -EINVAL, "it ends who waits");
    abtio_op_free(&op);
    is_freed(&acceptor);
    close(fd);
}

/* As soon as there are descriptors again, it goes on. */
static void no_descriptors(void)
{
    struct rlimit limit, low;
    abtio_op *ops[2];
    int fd = listen_with(0), clients[2] = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0)};
    abtio_acceptor *acceptor = make(fd);

    getrlimit(RLIMIT_NOFILE, &limit);
    low = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    abtio_sleep(0, ABTIO_FOREVER); /* the stream has its ring */
    setrlimit(RLIMIT_NOFILE, &low);
    for (int i = 0; i < 2; i++) {
        is_int(abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &ops[i]), 0, "%s: accept_nb", backend_name);
        if (connect(clients[i], (struct sockaddr *)&address, sizeof(address)) < 0)
            bail_out("connect: %s", strerror(errno));
        is_int(abtio_op_wait(ops[i]), -EMFILE, "there is no descriptor");
        abtio_op_free(&ops[i]);
    }
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < 2; i++)
        ok(are_ends(abtio_acceptor_accept(acceptor, ABTIO_FOREVER), clients[i]), "now there is one");
    is_freed(&acceptor);
    close(fd);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------ */

static void accept_one(void *arg)
{
    abtio_acceptor *acceptor = arg;
    abtio_op *op;

    /* It is started here, and goes on when this stream has ended. */
    is_int(abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &op), 0, "%s: accept_nb of a second stream", backend_name);
    is_int(abtio_cancel(op), 0, "cancel");
    abtio_op_free(&op);
}

static void end_of_a_stream(void)
{
    ABT_thread thread;
    abtio_op *op;
    int fd = listen_with(0);
    abtio_acceptor *acceptor = make(fd);

    ABT_xstream second = new_xstream();
    must(ABT_thread_create_on_xstream(second, accept_one, acceptor, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    is_int(abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &op), 0, "one waits for it on the first");
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
    is_int(abtio_op_test(op, NULL), 0, "it goes on");
    int client = connect_one();
    ok(are_ends((int)abtio_op_wait(op), client), "and gets a connection");
    abtio_op_free(&op);
    client = connect_one();
    ok(are_ends(abtio_acceptor_accept(acceptor, ABTIO_FOREVER), client), "so does the next one");
    is_freed(&acceptor);
    close(fd);
}

static abtio_acceptor *left;
static int left_fd, left_client;

/* What abtio_finalize leaves. */
static void leave_one(void)
{
    left_fd = listen_with(0);
    left = make(left_fd);
    is_int(abtio_acceptor_accept(left, abtio_after(MS)), -ETIMEDOUT, "%s: nobody comes", backend_name);
    left_client = connect_one();
}

static void free_left(abtio_backend backend)
{
    char byte;
    abtio_op *op;
    int before;

    if (!begin_both(backend, &before))
        return;
    backend_name = backend == ABTIO_BACKEND_THREADS ? "threads" : "io_uring";
    leave_one();
    abtio_sleep(MS, ABTIO_FOREVER); /* it may be taken */
    int fd = listen_with(0);
    abtio_acceptor *waited_for = make(fd);
    is_int(abtio_acceptor_accept_nb(waited_for, ABTIO_FOREVER, &op), 0, "accept_nb");
    is_int(abtio_finalize(), 0, "abtio_finalize with two acceptors");
    is_int(abtio_op_wait(op), -ECANCELED, "who waits gets the code");
    abtio_op_free(&op);
    is_int(abtio_acceptor_accept(left, ABTIO_FOREVER), -ENOTCONN, "nothing is accepted any more");
    is_freed(&left);
    is_freed(&waited_for);
    close(left_fd);
    is_int(read(left_client, &byte, 1) > 0, 0, "who has connected is at the end");
    close(left_client);
    close(fd);
    must(ABT_finalize());
    is_int(open_descriptors(), before, "no descriptor is left");
}

static void tests(void)
{

    own = main_pool();
    many();
    look();
    leave();
    race();
    unasked();
    errors();
    no_descriptors();
    end_of_a_stream();
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(tests);
    free_left(ABTIO_BACKEND_THREADS);
    free_left(ABTIO_BACKEND_IO_URING);
    return done_testing();
}
