/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlines that have passed, however long ago, in each call that waits: nothing is waited for, and what is there is
 * got. And what calls of the _all kind tell about what they have moved until then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "io.h"

/* What the calls wait for without success: an empty pair, a full pipe, a socket that nobody connects to. */
static struct {
    int empty[2], full[2], pipe[2], listener;
    abtio_acceptor *acceptor;
    abtio_buffers *buffers;
    abtio_receiver *receiver;
} in_vain;

static void make_in_vain(void)
{
    struct sockaddr_in address;

    make_pair(in_vain.empty);
    if (pipe2(in_vain.full, O_NONBLOCK) < 0 || pipe(in_vain.pipe) < 0)
        bail_out("pipe: %s", strerror(errno));
    while (write(in_vain.full[1], &address, sizeof(address)) > 0)
        ;
    while (write(in_vain.full[1], "", 1) > 0)
        ;
    in_vain.listener = socket(AF_INET, SOCK_STREAM, 0);
    listen_on_loopback(in_vain.listener, 5, &address);
    is_int(abtio_acceptor_create(in_vain.listener, 0, &in_vain.acceptor), 0, "acceptor");
    is_int(abtio_buffers_create(64, 4, &in_vain.buffers), 0, "buffers");
    is_int(abtio_receiver_create(in_vain.empty[1], 0, in_vain.buffers, &in_vain.receiver), 0, "receiver");
}

static void free_in_vain(void)
{
    is_int(abtio_acceptor_free(&in_vain.acceptor), 0, "the acceptor is free");
    is_int(abtio_receiver_free(&in_vain.receiver), 0, "the receiver is free");
    is_int(abtio_buffers_free(&in_vain.buffers), 0, "the buffers are free");
    for (int i = 0; i < 2; i++) {
        close(in_vain.empty[i]);
        close(in_vain.full[i]);
        close(in_vain.pipe[i]);
    }
    close(in_vain.listener);
}

/* ---- Each call ------------------------------------------------------------------------------------------------- */

static ssize_t try_readv(abtio_deadline deadline)
{
    char byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    return abtio_preadv(in_vain.pipe[0], &iov, 1, -1, 0, deadline);
}

static ssize_t try_writev(abtio_deadline deadline)
{
    char byte = 0;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    return abtio_pwritev(in_vain.full[1], &iov, 1, -1, 0, deadline);
}

static ssize_t try_recvmsg(abtio_deadline deadline)
{
    char byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    return abtio_recvmsg(in_vain.empty[0], &message, 0, deadline);
}

static ssize_t try_receiver(abtio_deadline deadline)
{
    void *buf;
    return abtio_receiver_recv(in_vain.receiver, &buf, deadline);
}

static ssize_t with_handle(abtio_op *op, abtio_deadline deadline)
{
    ssize_t result = abtio_op_wait_any(1, &op, deadline);
    abtio_op_free(&op);
    return result;
}

static ssize_t try_wait_any(abtio_deadline deadline)
{
    abtio_op *op;
    int code = abtio_sleep_nb(60000 * MS, ABTIO_FOREVER, &op);
    return code < 0 ? code : with_handle(op, deadline);
}

static ssize_t try_handle(abtio_deadline deadline)
{
    char byte;
    abtio_op *op;
    int code = abtio_recv_nb(in_vain.empty[0], &byte, 1, 0, deadline, &op);
    if (code < 0)
        return code;
    ssize_t result = abtio_op_wait(op);
    abtio_op_free(&op);
    return result;
}

static ssize_t try_accept_handle(abtio_deadline deadline)
{
    abtio_op *op;
    int code = abtio_acceptor_accept_nb(in_vain.acceptor, deadline, &op);
    if (code < 0)
        return code;
    ssize_t result = abtio_op_wait(op);
    abtio_op_free(&op);
    return result;
}

/* It need not wait, so that it may be done. */
static ssize_t try_lookup(abtio_deadline deadline)
{
    struct addrinfo *list = NULL, hints = {.ai_flags = AI_NUMERICHOST};
    int code = abtio_getaddrinfo("127.0.0.1", NULL, &hints, &list, deadline);
    if (code == 0)
        freeaddrinfo(list);
    return code == 0 ? -ETIMEDOUT : code;
}

#define TRY(name, call)                                                                                                \
    static ssize_t try_##name(abtio_deadline deadline)                                                                 \
    {                                                                                                                  \
        char byte = 0;                                                                                                 \
        (void)byte;                                                                                                    \
        return call;                                                                                                   \
    }
TRY(read, abtio_read(in_vain.pipe[0], &byte, 1, deadline))
TRY(read_all, abtio_read_all(in_vain.pipe[0], &byte, 1, deadline))
TRY(write, abtio_write(in_vain.full[1], &byte, 1, deadline))
TRY(write_all, abtio_write_all(in_vain.full[1], &byte, 1, deadline))
TRY(pread, abtio_pread(in_vain.pipe[0], &byte, 1, -1, deadline))
TRY(pwrite, abtio_pwrite(in_vain.full[1], &byte, 1, -1, deadline))
TRY(recv, abtio_recv(in_vain.empty[0], &byte, 1, 0, deadline))
TRY(recv_all, abtio_recv_all(in_vain.empty[0], &byte, 1, 0, deadline))
TRY(accept, abtio_accept(in_vain.listener, NULL, NULL, 0, deadline))
TRY(acceptor, abtio_acceptor_accept(in_vain.acceptor, deadline))
TRY(poll, abtio_poll(in_vain.empty[0], POLLIN, deadline))
TRY(sleep, abtio_sleep(60000 * MS, deadline))

static const struct {
    const char *name;
    ssize_t (*call)(abtio_deadline deadline);
} calls[] = {
    {"read", try_read},
    {"read_all", try_read_all},
    {"write", try_write},
    {"write_all", try_write_all},
    {"pread", try_pread},
    {"pwrite", try_pwrite},
    {"preadv", try_readv},
    {"pwritev", try_writev},
    {"recv", try_recv},
    {"recv_all", try_recv_all},
    {"recvmsg", try_recvmsg},
    {"accept", try_accept},
    {"poll", try_poll},
    {"sleep", try_sleep},
    {"acceptor_accept", try_acceptor},
    {"acceptor_accept_nb", try_accept_handle},
    {"receiver_recv", try_receiver},
    {"op_wait_any", try_wait_any},
    {"recv_nb", try_handle},
    {"getaddrinfo", try_lookup},
};

static void try_each(void *who)
{
    static const abtio_deadline deadlines[] = {
        1, 0, -1, -5, -1000000000, -1500000000, INT64_MIN / 2, INT64_MIN, INT64_MIN + 1};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        int wrong = 0;
        for (size_t k = 0; k < sizeof(deadlines) / sizeof(deadlines[0]); k++) {
            ssize_t result = calls[i].call(deadlines[k]);
            if (result != -ETIMEDOUT)
                diag("with %lld: %zd", (long long)deadlines[k], result);
            wrong += result != -ETIMEDOUT;
        }
        is_int(wrong, 0, "%s, %s: deadlines that have passed", backend_name, (const char *)who);
        if (wrong)
            diag("by %s", calls[i].name);
    }
}

static void *try_each_outside(void *unused)
{
    try_each("thread");
    return NULL;
}

static void past(void)
{
    ABT_pool pool;
    ABT_thread task;
    pthread_t thread;

    make_in_vain();
    in_ult(try_each, "ULT");
    pthread_create(&thread, NULL, try_each_outside, NULL);
    pthread_join(thread, NULL);
    must(ABT_self_get_last_pool(&pool));
    must(ABT_task_create(pool, try_each, "tasklet", &task));
    must(ABT_task_free(&task));
    free_in_vain();
}

/* ---- What need not be waited for ------------------------------------------------------------------------------- */

struct gate {
    int listener;
    struct sockaddr_un address;
    socklen_t size;
};

static struct {
    int pipe[2], pair[2], receiver_s[2]; /* what comes */
    int room[2], peer[2];                /* where there is room */
    int file;
    struct gate gate, acceptor_s;
    abtio_acceptor *acceptor;
    abtio_buffers *buffers;
    abtio_receiver *receiver;
} there;

/* Connections between local sockets are made at once, other than those of TCP on a busy machine. */
static void open_gate(struct gate *gate)
{
    gate->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    gate->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    gate->size = sizeof(gate->address);
    if (bind(gate->listener, (struct sockaddr *)&gate->address, sizeof(gate->address.sun_family)) < 0 ||
        listen(gate->listener, 100) < 0 ||
        getsockname(gate->listener, (struct sockaddr *)&gate->address, &gate->size) < 0)
        bail_out("bind: %s", strerror(errno));
}

static int knock(const struct gate *gate)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (connect(fd, (const struct sockaddr *)&gate->address, gate->size) < 0)
        bail_out("connect: %s", strerror(errno));
    return close(fd);
}

static void make_there(void)
{
    make_pair(there.pair);
    make_pair(there.receiver_s);
    make_pair(there.peer);
    if (pipe(there.pipe) < 0 || pipe(there.room) < 0)
        bail_out("pipe: %s", strerror(errno));
    there.file = open("/dev/null", O_RDWR);
    open_gate(&there.gate);
    open_gate(&there.acceptor_s);
    is_int(abtio_acceptor_create(there.acceptor_s.listener, 0, &there.acceptor), 0, "acceptor");
    is_int(abtio_buffers_create(64, 4, &there.buffers), 0, "buffers");
    is_int(abtio_receiver_create(there.receiver_s[0], 0, there.buffers, &there.receiver), 0, "receiver");
}

static void free_there(void)
{
    is_int(abtio_acceptor_free(&there.acceptor), 0, "the acceptor is free");
    is_int(abtio_receiver_free(&there.receiver), 0, "the receiver is free");
    is_int(abtio_buffers_free(&there.buffers), 0, "the buffers are free");
    for (int i = 0; i < 2; i++) {
        close(there.pipe[i]);
        close(there.pair[i]);
        close(there.receiver_s[i]);
        close(there.room[i]);
        close(there.peer[i]);
    }
    close(there.file);
    close(there.gate.listener);
    close(there.acceptor_s.listener);
}

/* The result, with a descriptor, which is closed, as 0. */
static ssize_t closed(int fd)
{
    return fd < 0 ? fd : close(fd);
}

static ssize_t got_connection(abtio_deadline late)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), code;

    code = abtio_connect(fd, (struct sockaddr *)&there.gate.address, there.gate.size, late);
    close(fd);
    return code < 0 ? code : closed(accept(there.gate.listener, NULL, NULL));
}

static ssize_t got_by_handle(abtio_deadline late)
{
    char byte;
    abtio_op *op;

    if (write(there.pair[1], "x", 1) != 1 || abtio_recv_nb(there.pair[0], &byte, 1, 0, late, &op) != 0)
        return -1;
    ssize_t result = abtio_op_wait(op);
    abtio_op_free(&op);
    return result;
}

/* These are got by a later call where a native thread or another stream does the operation. */
static ssize_t got_by_receiver(abtio_deadline late)
{
    void *buf;
    ssize_t result;

    if (write(there.receiver_s[1], "x", 1) != 1)
        return -1;
    while ((result = abtio_receiver_recv(there.receiver, &buf, late)) == -ETIMEDOUT)
        ;
    return result > 0 ? abtio_buffers_give_back(there.buffers, buf) : result;
}

static ssize_t got_by_acceptor(abtio_deadline late)
{
    int fd;

    knock(&there.acceptor_s);
    while ((fd = abtio_acceptor_accept(there.acceptor, late)) == -ETIMEDOUT)
        ;
    return closed(fd);
}

#define GOT(name, first, call)                                                                                         \
    static ssize_t got_##name(abtio_deadline late)                                                                     \
    {                                                                                                                  \
        char bytes[1] = "";                                                                                            \
        struct iovec iov = {.iov_base = bytes, .iov_len = 1};                                                          \
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};                                                    \
        (void)message;                                                                                                 \
        return (first) < 0 ? -1 : (call);                                                                              \
    }
#define GIVE(to) write(there.to[1], "x", 1)
GOT(read, GIVE(pipe), abtio_read(there.pipe[0], bytes, 1, late))
GOT(read_all, GIVE(pipe), abtio_read_all(there.pipe[0], bytes, 1, late))
GOT(pread, GIVE(pipe), abtio_pread(there.pipe[0], bytes, 1, -1, late))
GOT(preadv, GIVE(pipe), abtio_preadv(there.pipe[0], &iov, 1, -1, 0, late))
GOT(splice, GIVE(pipe), abtio_splice(there.pipe[0], -1, there.room[1], -1, 1, 0, late))
GOT(write, 0, abtio_write(there.room[1], bytes, 1, late))
GOT(write_all, 0, abtio_write_all(there.room[1], bytes, 1, late))
GOT(pwrite, 0, abtio_pwrite(there.room[1], bytes, 1, -1, late))
GOT(pwritev, 0, abtio_pwritev(there.room[1], &iov, 1, -1, 0, late))
GOT(recv, GIVE(pair), abtio_recv(there.pair[0], bytes, 1, 0, late))
GOT(recv_all, GIVE(pair), abtio_recv_all(there.pair[0], bytes, 1, 0, late))
GOT(recvmsg, GIVE(pair), abtio_recvmsg(there.pair[0], &message, 0, late))
GOT(send, 0, abtio_send(there.peer[0], bytes, 1, 0, late))
GOT(send_all, 0, abtio_send_all(there.peer[0], bytes, 1, 0, late))
GOT(sendmsg, 0, abtio_sendmsg(there.peer[0], &message, 0, late))
GOT(poll, 0, abtio_poll(there.peer[0], POLLOUT, late) - POLLOUT)
GOT(nothing, 0, abtio_recv(there.peer[0], bytes, 1, MSG_DONTWAIT, late) + EAGAIN)
GOT(accept, knock(&there.gate), closed(abtio_accept(there.gate.listener, NULL, NULL, 0, late)))
GOT(openat, 0, closed(abtio_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0, late)))
GOT(socket, 0, closed(abtio_socket(AF_UNIX, SOCK_STREAM, 0, late)))
GOT(close, 0, abtio_close(dup(there.file), late))
GOT(statx, 0, abtio_statx(AT_FDCWD, "/", 0, STATX_SIZE, &(struct statx){0}, late))

static const struct {
    const char *name;
    ssize_t (*call)(abtio_deadline deadline);
    ssize_t result;
} got[] = {
    {"read", got_read, 1},
    {"read_all", got_read_all, 1},
    {"pread", got_pread, 1},
    {"preadv", got_preadv, 1},
    {"splice", got_splice, 1},
    {"write", got_write, 1},
    {"write_all", got_write_all, 1},
    {"pwrite", got_pwrite, 1},
    {"pwritev", got_pwritev, 1},
    {"recv", got_recv, 1},
    {"recv_all", got_recv_all, 1},
    {"recvmsg", got_recvmsg, 1},
    {"recv_nb", got_by_handle, 1},
    {"send", got_send, 1},
    {"send_all", got_send_all, 1},
    {"sendmsg", got_sendmsg, 1},
    {"poll", got_poll, 0},
    {"recv with MSG_DONTWAIT", got_nothing, 0},
    {"accept", got_accept, 0},
    {"connect", got_connection, 0},
    {"openat", got_openat, 0},
    {"socket", got_socket, 0},
    {"close", got_close, 0},
    {"statx", got_statx, 0},
    {"acceptor_accept", got_by_acceptor, 0},
    {"receiver_recv", got_by_receiver, 0},
};

static void get_each(void *who)
{
    for (size_t i = 0; i < sizeof(got) / sizeof(got[0]); i++) {
        for (abtio_deadline late = 0; late < 2; late++)
            is_int(got[i].call(late ? abtio_after(0) : INT64_MIN), got[i].result,
                   "%s, %s: %s is done though it is late", backend_name, (const char *)who, got[i].name);
    }
}

static atomic_bool outside_ends;

static void *get_each_outside(void *unused)
{
    get_each("thread");
    outside_ends = true;
    return unused;
}

static void what_is_there(void)
{
    ABT_pool pool;
    ABT_thread task;
    pthread_t thread;

    make_there();
    in_ult(get_each, "ULT");
    outside_ends = false;
    pthread_create(&thread, NULL, get_each_outside, NULL);
    while (!outside_ends)
        ABT_thread_yield(); /* the stream's ring has what its acceptor and receiver bring */
    pthread_join(thread, NULL);
    must(ABT_self_get_last_pool(&pool));
    must(ABT_task_create(pool, get_each, "tasklet", &task));
    must(ABT_task_free(&task));
    free_there();
}

/* ---- How much was moved ---------------------------------------------------------------------------------------- */

static void count_moved(void *arg)
{
    int fds[2], peer[2];
    char buf[16] = {0};
    abtio_op *op;

    make_pair(fds);
    make_pair(peer);
    is_int(write(fds[1], "abc", 3), 3, "write");
    /* On a busy machine a helper reads late what is there. */
    is_int(abtio_recv_all(fds[0], buf, 10, 0, abtio_after(1000 * MS)), -ETIMEDOUT, "%s: recv_all of too little",
           backend_name);
    is_int(abtio_moved(), 3, "so much was moved");
    is_int(abtio_read_all(fds[0], buf, 10, abtio_after(MS)), -ETIMEDOUT, "read_all of nothing");
    is_int(abtio_moved(), 0, "nothing was moved");
    is_int(abtio_write_all(fds[1], "abcdef", 6, ABTIO_FOREVER), 6, "write_all");
    is_int(abtio_moved(), 6, "all was moved");
    is_int(abtio_read_all_nb(fds[0], buf, 10, ABTIO_FOREVER, &op), 0, "read_all_nb");
    for (struct pollfd left = {.fd = fds[0], .events = POLLIN}; poll(&left, 1, 0) > 0;)
        abtio_sleep(MS, ABTIO_FOREVER); /* until it has been read */
    is_int(abtio_cancel(op), 0, "it is cancelled");
    is_int(abtio_op_wait(op), -ECANCELED, "its result");
    is_int(abtio_moved(), 6, "so much was moved");
    is_int(abtio_read_all(fds[0], buf, 10, abtio_after(MS)), -ETIMEDOUT, "read_all of nothing");
    is_int(abtio_op_test(op, NULL), 1, "it is done");
    is_int(abtio_moved(), 6, "abtio_op_test tells it, too");
    abtio_op_free(&op);
    is_int(abtio_recv_all(peer[0], buf, 1, MSG_PEEK, abtio_after(MS)), -EINVAL, "recv_all does not peek");
    is_int(abtio_recv_all_nb(peer[0], buf, 1, MSG_PEEK, abtio_after(MS), &op), -EINVAL, "nor does recv_all_nb");
    is_int(write(peer[1], "x", 1), 1, "write");
    is_int(abtio_recv(peer[0], buf, 1, MSG_PEEK, ABTIO_FOREVER), 1, "recv does");
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        close(peer[i]);
    }
}

/* A datagram that does not fit, and whose length is reported. */
static void cut_off(void *arg)
{
    int fds[2];
    struct {
        char buf[4], beyond[4];
    } room = {"", "abc"};

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0)
        bail_out("socketpair: %s", strerror(errno));
    is_int(write(fds[1], "0123456789", 10), 10, "write");
    is_int(write(fds[1], "0123456789", 10), 10, "write");
    is_int(abtio_recv_all(fds[0], room.buf, sizeof(room.buf), MSG_TRUNC, ABTIO_FOREVER), 10,
           "%s: a datagram that is cut off", backend_name);
    is_str(room.beyond, "abc", "nothing is written beyond the buffer");
    is_int(abtio_recv(fds[0], room.buf, 1, 0, ABTIO_FOREVER), 1, "the next one is there");
    close(fds[0]);
    close(fds[1]);
}

static void body(void)
{
    past();
    what_is_there();
    in_ult(count_moved, NULL);
    in_ult(cut_off, NULL);
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(body);
    return done_testing();
}
