/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers: errors and other ends of the data, misuse, and the ends of streams, of a fork and of the library. */
#include "receivers.h"
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- Ends of the data ------------------------------------------------------------------------------------------ */

/* What the socket has had first comes first. */
static void errors(void)
{
    struct end end;
    struct sockaddr_in address;
    struct linger at_once = {.l_onoff = 1};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    void *buf = NULL;
    abtio_buffers *buffers = make_buffers(4, 8);

    make(&end, buffers);
    is_int(abtio_receiver_recv(end.receiver, &buf, abtio_after(MS)), -ETIMEDOUT, "%s: it is asked", backend_name);
    tell(&end, "rest of it");
    close(end.fds[1]);
    end.fds[1] = -1;
    abtio_sleep(5 * MS, ABTIO_FOREVER); /* the end may be there already */
    ok(hears(&end, buffers, "rest of it"), "the data comes first");
    is_int(abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER), 0, "then the end");
    is_int(abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER), 0, "and again");
    is_int(unmake(&end), 0, "abtio_receiver_free");

    listen_on_loopback(listener, 1, &address);
    end.fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end.fds[0], (struct sockaddr *)&address, sizeof(address)) < 0)
        bail_out("connect: %s", strerror(errno));
    end.fds[1] = accept(listener, NULL, NULL);
    is_int(abtio_receiver_create(end.fds[0], 0, buffers, &end.receiver), 0, "create");
    is_int(abtio_receiver_recv(end.receiver, &buf, abtio_after(MS)), -ETIMEDOUT, "it is asked");
    tell(&end, "data");
    abtio_sleep(5 * MS, ABTIO_FOREVER); /* it is taken in advance, or was waited for and is there */
    ssize_t n = abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER);
    ok(n == 4 && !memcmp(buf, "data", 4), "the data");
    is_int(abtio_buffers_give_back(buffers, buf), 0, "give back");
    setsockopt(end.fds[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(end.fds[1]);
    end.fds[1] = -1;
    abtio_sleep(5 * MS, ABTIO_FOREVER); /* the error may be there before anybody asks */
    is_int(abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER), -ECONNRESET, "the next call gets an error");
    is_int(abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER), 0, "once");
    is_int(unmake(&end), 0, "abtio_receiver_free");
    close(listener);
    is_int(abtio_buffers_free(&buffers), 0, "all are back");
}

/* Datagrams are kept apart, also empty ones, and cut. */
static void datagrams(void)
{
    struct end end;
    void *buf;
    abtio_buffers *buffers = make_buffers(4, 8);
    static const char *const texts[] = {"a", "", "bb", "cut off", "", "d"};
    int wrong = 0;

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, end.fds) < 0)
        bail_out("socketpair: %s", strerror(errno));
    is_int(abtio_receiver_create(end.fds[0], 0, buffers, &end.receiver), 0, "%s: of datagrams", backend_name);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 6; i++)
            wrong += send(end.fds[1], texts[i], strlen(texts[i]), 0) < 0;
        for (int i = 0; i < 6; i++) {
            ssize_t size = (ssize_t)strlen(texts[i]), n;
            size = size < 4 ? size : 4;
            n = abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER);
            wrong += n != size;
            if (n > 0)
                wrong += memcmp(buf, texts[i], (size_t)n) != 0 || abtio_buffers_give_back(buffers, buf) != 0;
        }
    }
    is_int(wrong, 0, "each is received");
    is_unmade(&end, buffers);
}

static void misuse(void)
{
    abtio_buffers *buffers = NULL, *others = make_buffers(8, 1);
    abtio_receiver *receiver = NULL;
    struct end end;
    void *buf = NULL;
    int fds[2];

    is_int(abtio_buffers_create(0, 1, &buffers), -EINVAL, "%s: buffers of no size", backend_name);
    is_int(abtio_buffers_create(((size_t)1 << 30) + 1, 1, &buffers), -EINVAL, "too large");
    is_int(abtio_buffers_create(1, 0, &buffers), -EINVAL, "none");
    is_int(abtio_buffers_create(1, 32769, &buffers), -EINVAL, "too many");
    ok(!buffers, "nothing is made");
    buffers = make_buffers(1, 32768);
    is_int(abtio_receiver_create(0, MSG_PEEK, buffers, &receiver), -EINVAL, "a flag");
    ok(!receiver, "nothing is made");
    make(&end, buffers);
    tell(&end, "xy");
    is_int(abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER), 1, "a byte");
    is_int(abtio_buffers_give_back(others, buf), -EINVAL, "given to others");
    is_int(abtio_buffers_give_back(buffers, NULL), -EINVAL, "NULL is given back");
    is_int(abtio_buffers_give_back(buffers, buf), 0, "given back");
    is_int(abtio_buffers_give_back(buffers, buf), -EINVAL, "a second time");
    is_unmade(&end, buffers);
    is_int(abtio_receiver_create(1 << 20, 0, others, &receiver), 0, "no descriptor");
    is_int(abtio_receiver_recv(receiver, &buf, ABTIO_FOREVER), -EBADF, "is reported by recv");
    is_int(abtio_receiver_free(&receiver), 0, "abtio_receiver_free");
    if (pipe(fds) < 0)
        bail_out("pipe");
    is_int(abtio_receiver_create(fds[0], 0, others, &receiver), 0, "no socket");
    is_int(abtio_receiver_recv(receiver, &buf, ABTIO_FOREVER), -ENOTSOCK, "is reported by recv");
    is_int(abtio_receiver_recv(receiver, &buf, ABTIO_FOREVER), -ENOTSOCK, "each time");
    is_int(abtio_receiver_free(&receiver), 0, "abtio_receiver_free");
    close(fds[0]);
    close(fds[1]);
    is_int(abtio_buffers_free(&others), 0, "all are back");
}

/* Against the rule: the receiver must still be there to be ended. */
static void closed(void)
{
    struct end end;
    abtio_op *op;
    void *buf;
    abtio_buffers *buffers = make_buffers(8, 2);

    make(&end, buffers);
    is_int(abtio_receiver_recv_nb(end.receiver, &buf, ABTIO_FOREVER, &op), 0, "%s: recv_nb", backend_name);
    abtio_sleep(MS, ABTIO_FOREVER);
    syscall(SYS_close, end.fds[0]); /* TSan would call close a race with the receive, which it is */
    is_int(abtio_op_wait_any(1, &op, abtio_after(MS)), -ETIMEDOUT, "a close in between ends nothing");
    is_int(abtio_cancel(op), 0, "a cancel does");
    abtio_op_free(&op);
    is_int(abtio_receiver_free(&end.receiver), 0, "so does free");
    ok(send(end.fds[1], "x", 1, MSG_NOSIGNAL) < 0, "then the socket is gone");
    close(end.fds[1]);
    is_int(abtio_buffers_free(&buffers), 0, "all are back");
}

/* ---- Ends of streams and of the library ------------------------------------------------------------------------ */

enum { ROUNDS = 3 };

static void *held[ROUNDS];
static int num_held;

static void receive_one(void *arg)
{
    struct end *end = arg;

    tell(end, "first");
    is_int(abtio_receiver_recv(end->receiver, &held[num_held++], ABTIO_FOREVER), 5, "%s: of a second stream",
           backend_name);
    tell(end, "unread"); /* it comes into a buffer of this stream, which ends */
    abtio_sleep(MS, ABTIO_FOREVER);
}

/* Its buffers are there afterwards, and are those of the next stream, but for what is held. */
static void end_of_a_stream(void)
{
    ABT_xstream second;
    ABT_thread thread;
    abtio_op *op;
    void *buf;
    int wrong = 0;
    abtio_buffers *buffers = make_buffers(10, ROUNDS + 1);

    num_held = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct end end;
        make(&end, buffers);
        must(ABT_xstream_create(ABT_SCHED_NULL, &second));
        must(ABT_thread_create_on_xstream(second, receive_one, &end, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        ok(hears(&end, buffers, "unread"), "the next is for the first stream");
        is_int(abtio_receiver_recv_nb(end.receiver, &buf, ABTIO_FOREVER, &op), 0, "where one waits");
        must(ABT_xstream_join(second));
        must(ABT_xstream_free(&second));
        is_int(abtio_op_test(op, NULL), 0, "it goes on");
        tell(&end, "later");
        is_int(abtio_op_wait(op), 5, "and receives");
        abtio_op_free(&op);
        is_int(abtio_buffers_give_back(buffers, buf), 0, "give back");
        is_int(unmake(&end), 0, "abtio_receiver_free");
    }
    for (int i = 0; i < ROUNDS; i++)
        wrong += memcmp(held[i], "first", 5) != 0 || abtio_buffers_give_back(buffers, held[i]) != 0;
    is_int(wrong, 0, "what is held stays as it is, and can be given back");
    is_int(abtio_buffers_free(&buffers), 0, "all are back");
}

/* The parent goes on, and the child has no libabtio. */
static void fork_between(void)
{
    struct end end;
    abtio_op *op;
    void *buf;
    int status;
    abtio_buffers *buffers = make_buffers(8, 2);

    make(&end, buffers);
    tell(&end, "before");
    ok(hears(&end, buffers, "before"), "%s: before fork", backend_name);
    is_int(abtio_receiver_recv_nb(end.receiver, &buf, ABTIO_FOREVER, &op), 0, "recv_nb");
    pid_t child = fork();
    if (child == 0)
        _exit(abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER) == -ENOTCONN &&
                      abtio_buffers_create(1, 1, &buffers) == -ENOTCONN
                  ? 0
                  : 1);
    ok(waitpid(child, &status, 0) == child && status == 0, "the child has none of it");
    tell(&end, "after");
    is_int(abtio_op_wait(op), 5, "the parent goes on");
    abtio_op_free(&op);
    is_int(abtio_buffers_give_back(buffers, buf), 0, "give back");
    for (int i = 0; i < 5; i++) {
        tell(&end, "again");
        ok(hears(&end, buffers, "again"), "with buffers that come round");
    }
    is_unmade(&end, buffers);
}

/* As many as there may be, and one more. */
static void limits(void)
{
    enum { MOST = 1024 };
    static abtio_buffers *all[MOST];
    abtio_buffers *more = NULL;
    int made = 0, wrong = 0;

    let_stream_look(); /* rings release what was freed before */
    while (made < MOST && abtio_buffers_create(64, 2, &all[made]) == 0)
        made++;
    is_int(made, MOST, "%s: as many can be made", backend_name);
    is_int(abtio_buffers_create(64, 2, &more), -ENOSPC, "and no more");
    for (int i = 0; i < made; i++) {
        struct end end;
        make(&end, all[i]);
        tell(&end, "x");
        wrong += !hears(&end, all[i], "x");
        wrong += unmake(&end) + (abtio_buffers_free(&all[i]) != 0);
    }
    is_int(wrong, 0, "each of them is good");
    let_stream_look(); /* the ring releases them */
    is_int(abtio_buffers_create(64, 2, &more), 0, "then there is room again");
    is_int(abtio_buffers_free(&more), 0, "abtio_buffers_free");
}

/* What abtio_finalize leaves: who waits for data, who waits for a buffer, and data that nobody has asked for. */
static void free_left(abtio_backend backend)
{
    struct end waits, lacks, unread;
    abtio_op *ops[2];
    void *buf[3];
    int before;

    if (!begin_both(backend, &before))
        return;
    backend_name = backend == ABTIO_BACKEND_THREADS ? "threads" : "io_uring";
    abtio_buffers *one = make_buffers(8, 1), *buffers = make_buffers(8, 8);
    make(&waits, buffers);
    make(&lacks, one);
    make(&unread, buffers);
    tell(&lacks, "sometext");
    is_int(abtio_receiver_recv(lacks.receiver, &buf[2], ABTIO_FOREVER), 8, "%s: the only buffer", backend_name);
    is_int(abtio_receiver_recv_nb(lacks.receiver, &buf[0], ABTIO_FOREVER, &ops[0]), 0, "one waits for it");
    is_int(abtio_receiver_recv_nb(waits.receiver, &buf[1], ABTIO_FOREVER, &ops[1]), 0, "one waits for data");
    is_int(abtio_receiver_recv(unread.receiver, &buf[0], abtio_after(MS)), -ETIMEDOUT, "one has asked");
    tell(&unread, "unread");
    abtio_sleep(MS, ABTIO_FOREVER);
    is_int(abtio_finalize(), 0, "abtio_finalize");
    for (int i = 0; i < 2; i++) {
        is_int(abtio_op_wait(ops[i]), -ECANCELED, "who waits gets the code");
        abtio_op_free(&ops[i]);
    }
    is_int(abtio_receiver_recv(unread.receiver, &buf[0], ABTIO_FOREVER), -ENOTCONN, "nothing is received any more");
    is_int(unmake(&waits) + unmake(&unread), 0, "abtio_receiver_free");
    is_int(abtio_buffers_free(&buffers), 0, "the buffers go");
    abtio_config config = {.backend = backend};
    is_int(abtio_init(&config), 0, "the library begins once more");
    is_int(abtio_buffers_give_back(one, buf[2]), 0, "the buffer comes back");
    tell(&lacks, "more");
    ok(hears(&lacks, one, "more"), "and is good");
    is_int(abtio_finalize(), 0, "abtio_finalize");
    is_unmade(&lacks, one);
    must(ABT_finalize());
    is_int(open_descriptors(), before, "no descriptor is left");
}

static void tests(void)
{
    errors();
    datagrams();
    misuse();
    closed();
    end_of_a_stream();
    fork_between();
    limits();
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(tests);
    free_left(ABTIO_BACKEND_THREADS);
    free_left(ABTIO_BACKEND_IO_URING);
    return done_testing();
}
