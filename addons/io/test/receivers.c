/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers: data in its order for callers of all kinds, buffers that run out and come back, waiters that leave. */
#include "receivers.h"
#include <pthread.h>
#include <stdlib.h>

static ABT_pool own; /* of the primary stream */

/* ---- Data in its order ----------------------------------------------------------------------------------------- */

enum { BYTES = 300000, STEP = 7 };

static unsigned char byte_of(int i)
{
    return (unsigned char)(i * STEP >> 3);
}

static void *send_many(void *arg)
{
    const struct end *end = arg;
    unsigned char part[977];

    for (int at = 0; at < BYTES;) {
        int size = at % 13 == 0 ? 1 : 977;
        size = size < BYTES - at ? size : BYTES - at;
        for (int i = 0; i < size; i++)
            part[i] = byte_of(at + i);
        if (write(end->fds[1], part, (size_t)size) != size)
            bail_out("write: %s", strerror(errno));
        at += size;
    }
    shutdown(end->fds[1], SHUT_WR);
    return NULL;
}

struct reading {
    struct end end;
    abtio_buffers *buffers;
    int wrong, ends, received;
};

/* Holds up to three buffers before it gives them back, the last one first. */
static void read_all(void *arg)
{
    struct reading *reading = arg;
    void *held[3];
    int num = 0;
    ssize_t n;

    while ((n = abtio_receiver_recv(reading->end.receiver, &held[num], ABTIO_FOREVER)) > 0) {
        const unsigned char *bytes = held[num++];
        for (ssize_t i = 0; i < n; i++)
            reading->wrong += bytes[i] != byte_of(reading->received++);
        reading->wrong += n > 500 || (uintptr_t)bytes % 64 != 0;
        while (num > 0 && (num == 3 || n < 100))
            reading->wrong += abtio_buffers_give_back(reading->buffers, held[--num]) != 0;
    }
    while (num > 0)
        reading->wrong += abtio_buffers_give_back(reading->buffers, held[--num]) != 0;
    reading->ends += n == 0;
    for (int i = 0; i < 3; i++)
        reading->ends += abtio_receiver_recv(reading->end.receiver, &held[0], ABTIO_FOREVER) == 0;
}

static void is_read(struct reading *reading, const char *by)
{
    is_int(reading->received, BYTES, "%s: %s receives all", backend_name, by);
    is_int(reading->wrong, 0, "as it was sent");
    is_int(reading->ends, 4, "and then the end, each time");
}

static void *read_all_outside(void *arg)
{
    read_all(arg);
    return NULL;
}

/* With few buffers, and with enough of them; ULTs, an external thread, and a tasklet that blocks another stream. */
static void order(void)
{
    static const unsigned nums[] = {3, 5, 64, 1000};
    static const char *const callers[] = {"a ULT", "a ULT of a second stream", "an external thread", "a tasklet"};
    ABT_thread ult;
    ABT_task task;
    pthread_t sender, thread;

    ABT_xstream second = new_xstream();
    for (int i = 0; i < 4; i++) {
        struct reading reading = {.buffers = make_buffers(500, nums[i])};
        make(&reading.end, reading.buffers);
        if (pthread_create(&sender, NULL, send_many, &reading.end))
            bail_out("pthread_create");
        if (i == 0) {
            in_ult(read_all, &reading);
        } else if (i == 1) {
            must(ABT_thread_create_on_xstream(second, read_all, &reading, ABT_THREAD_ATTR_NULL, &ult));
            must(ABT_thread_free(&ult));
        } else if (i == 2) {
            if (pthread_create(&thread, NULL, read_all_outside, &reading))
                bail_out("pthread_create");
            pthread_join(thread, NULL);
        } else {
            must(ABT_task_create_on_xstream(second, read_all, &reading, &task));
            must(ABT_task_free(&task));
        }
        pthread_join(sender, NULL);
        is_read(&reading, callers[i]);
        is_unmade(&reading.end, reading.buffers);
    }
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
}

/* ---- Many receivers, streams and callers at once --------------------------------------------------------------- */

enum { CONNECTIONS = 40, ECHOES = 50, STREAMS = 3 };

static abtio_buffers *shared;
static struct end ends[CONNECTIONS];
static atomic_int echo_errors;

/* Each text names its turn; the buffer is sent from, and then given back. */
static void echo(void *arg)
{
    struct end *end = arg;
    void *buf;
    ssize_t n;

    while ((n = abtio_receiver_recv(end->receiver, &buf, ABTIO_FOREVER)) > 0) {
        echo_errors += abtio_send_all(end->fds[0], buf, (size_t)n, 0, ABTIO_FOREVER) != n;
        echo_errors += abtio_buffers_give_back(shared, buf) != 0;
    }
    echo_errors += n != 0;
}

static void *ask_many(void *arg)
{
    char text[32], answer[16];

    for (int i = 0; i < ECHOES; i++) {
        for (int c = 0; c < CONNECTIONS; c++) {
            snprintf(text, sizeof(text), "%05d-%05d", c, i);
            echo_errors += write(ends[c].fds[1], text, 11) != 11;
        }
        for (int c = 0; c < CONNECTIONS; c++) {
            snprintf(text, sizeof(text), "%05d-%05d", c, i);
            echo_errors += recv(ends[c].fds[1], answer, 11, MSG_WAITALL) != 11 || memcmp(text, answer, 11) != 0;
        }
    }
    for (int c = 0; c < CONNECTIONS; c++)
        shutdown(ends[c].fds[1], SHUT_WR);
    return NULL;
}

static void many_with(unsigned num)
{
    ABT_xstream streams[STREAMS];
    ABT_thread ults[CONNECTIONS];
    pthread_t client;
    int wrong = 0;

    shared = make_buffers(16, num);
    echo_errors = 0;
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
    must(ABT_self_get_xstream(&streams[0]));
    for (int c = 0; c < CONNECTIONS; c++) {
        make(&ends[c], shared);
        must(ABT_thread_create_on_xstream(streams[c % STREAMS], echo, &ends[c], ABT_THREAD_ATTR_NULL, &ults[c]));
    }
    if (pthread_create(&client, NULL, ask_many, NULL))
        bail_out("pthread_create");
    for (int c = 0; c < CONNECTIONS; c++) {
        must(ABT_thread_free(&ults[c]));
        wrong += unmake(&ends[c]);
    }
    pthread_join(client, NULL);
    is_int(echo_errors, 0, "%s: %d receivers and %d streams share buffers, %u each", backend_name, CONNECTIONS, STREAMS,
           num);
    for (int i = 1; i < STREAMS; i++) {
        must(ABT_xstream_join(streams[i]));
        must(ABT_xstream_free(&streams[i]));
    }
    is_int(wrong, 0, "all are freed");
    is_int(abtio_buffers_free(&shared), 0, "and the buffers");
}

/* With one buffer for each ring every receiver waits for it most of the time. */
static void many(void)
{
    many_with(1);
    many_with(8);
    many_with(200);
}

/* Several who wait at one receiver, and a ULT of a stream that the receiver does not live in. */
static atomic_int parts, part_errors;

static void receive_parts(void *arg)
{
    const struct end *end = arg;
    void *buf;
    ssize_t n;

    while ((n = abtio_receiver_recv(end->receiver, &buf, ABTIO_FOREVER)) > 0) {
        parts += (int)n;
        part_errors += abtio_buffers_give_back(shared, buf) != 0;
    }
    part_errors += n != 0;
}

static void together(void)
{
    ABT_thread ults[6];
    pthread_t sender;
    struct end end;

    shared = make_buffers(100, 16);
    make(&end, shared);
    parts = part_errors = 0;
    ABT_xstream second = new_xstream();
    for (int i = 0; i < 6; i++) {
        if (i % 2)
            must(ABT_thread_create_on_xstream(second, receive_parts, &end, ABT_THREAD_ATTR_NULL, &ults[i]));
        else
            must(ABT_thread_create(own, receive_parts, &end, ABT_THREAD_ATTR_NULL, &ults[i]));
    }
    if (pthread_create(&sender, NULL, send_many, &end))
        bail_out("pthread_create");
    for (int i = 0; i < 6; i++)
        must(ABT_thread_free(&ults[i]));
    pthread_join(sender, NULL);
    is_int(parts, BYTES, "%s: six of two streams receive all from one", backend_name);
    is_int(part_errors, 0, "without errors");
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
    is_unmade(&end, shared);
}

/* ---- Buffers that run out -------------------------------------------------------------------------------------- */

static void give_back_elsewhere(void *arg)
{
    is_int(abtio_buffers_give_back(shared, arg), 0, "%s: it comes back from a second stream", backend_name);
}

static void *give_back_outside(void *arg)
{
    usleep(1000);
    abtio_buffers_give_back(shared, arg);
    return NULL;
}

/* Two buffers; who has both of them waits for one. */
static void run_out(void)
{
    ABT_thread ult;
    pthread_t thread;
    struct end end, other;
    void *held[2] = {NULL, NULL}, *buf;
    abtio_op *op;

    ABT_xstream second = new_xstream();
    shared = make_buffers(4, 2);
    make(&end, shared);
    make(&other, shared);
    tell(&end, "aaaabbbbccccdddd");
    for (int i = 0; i < 2; i++)
        is_int(abtio_receiver_recv(end.receiver, &held[i], ABTIO_FOREVER), 4, "%s: a buffer", backend_name);
    ok(held[0] && held[1] && held[0] != held[1], "they are two");
    tell(&other, "eeee");
    is_int(abtio_receiver_recv(end.receiver, &buf, abtio_after(5 * MS)), -ETIMEDOUT, "there is no third");
    is_int(abtio_receiver_recv(other.receiver, &buf, abtio_after(5 * MS)), -ETIMEDOUT, "for nobody");
    is_int(abtio_receiver_recv_nb(end.receiver, &buf, ABTIO_FOREVER, &op), 0, "one waits");
    is_int(abtio_op_wait_any(1, &op, abtio_after(MS)), -ETIMEDOUT, "and gets none");
    ok(!memcmp(held[0], "aaaa", 4) && !memcmp(held[1], "bbbb", 4), "what is held stays as it is");
    must(ABT_thread_create_on_xstream(second, give_back_elsewhere, held[0], ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    is_int(abtio_op_wait(op), 4, "then who waits goes on");
    abtio_op_free(&op);
    ok(!memcmp(buf, "cccc", 4), "with what came next");
    if (pthread_create(&thread, NULL, give_back_outside, held[1]))
        bail_out("pthread_create");
    is_int(abtio_receiver_recv(other.receiver, &held[1], ABTIO_FOREVER), 4, "another one gets that of a thread");
    pthread_join(thread, NULL);
    ok(!memcmp(held[1], "eeee", 4), "with its own data");
    is_int(abtio_buffers_free(&shared), -EBUSY, "buffers are held, and have receivers");
    is_int(abtio_receiver_recv_nb(other.receiver, &held[0], ABTIO_FOREVER, &op), 0, "one waits");
    is_int(abtio_cancel(op), 0, "and is cancelled");
    abtio_op_free(&op);
    is_int(unmake(&other), 0, "a receiver that has waited for a buffer is freed");
    is_int(abtio_buffers_give_back(shared, buf), 0, "give back");
    ok(hears(&end, shared, "dddd"), "nothing is lost");
    is_int(unmake(&end), 0, "abtio_receiver_free");
    is_int(abtio_buffers_free(&shared), -EBUSY, "a buffer is held");
    is_int(abtio_buffers_give_back(shared, held[1]), 0, "give back without a receiver");
    is_int(abtio_buffers_free(&shared), 0, "now they go");
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
}

/* ---- Waiters that leave ---------------------------------------------------------------------------------------- */

static void leave(void)
{
    abtio_op *ops[2];
    void *buf[2] = {NULL, NULL};
    struct end end;
    abtio_buffers *buffers = make_buffers(100, 8);

    make(&end, buffers);
    is_int(abtio_receiver_recv(end.receiver, &buf[0], abtio_after(MS)), -ETIMEDOUT, "%s: a deadline", backend_name);
    is_int(abtio_receiver_recv_nb(end.receiver, &buf[0], abtio_after(MS), &ops[0]), 0, "recv_nb with a deadline");
    is_int(abtio_op_wait(ops[0]), -ETIMEDOUT, "which is kept by wait");
    abtio_op_free(&ops[0]);
    for (int i = 0; i < 2; i++)
        is_int(abtio_receiver_recv_nb(end.receiver, &buf[i], ABTIO_FOREVER, &ops[i]), 0, "recv_nb");
    is_int(abtio_receiver_free(&end.receiver), -EBUSY, "free while somebody waits");
    is_int(abtio_cancel(ops[0]), 0, "cancel");
    is_int(abtio_op_wait(ops[0]), -ECANCELED, "it is cancelled");
    tell(&end, "one");
    is_int(abtio_op_wait(ops[1]), 3, "the other gets it");
    ok(buf[1] && !memcmp(buf[1], "one", 3) && !buf[0], "and only he");
    is_int(abtio_cancel(ops[1]), -EALREADY, "cancel comes too late");
    abtio_op_free(&ops[0]);
    abtio_op_free(&ops[1]);
    is_int(abtio_buffers_give_back(buffers, buf[1]), 0, "give back");
    tell(&end, "two");
    ok(hears(&end, buffers, "two"), "nothing is lost by those who left");
    tell(&end, "unasked");
    abtio_sleep(MS, ABTIO_FOREVER);
    is_unmade(&end, buffers); /* with data that nobody has asked for */
    abtio_receiver *none = NULL;
    abtio_buffers *nothing = NULL;
    is_int(abtio_receiver_free(&none), 0, "free of no receiver");
    is_int(abtio_buffers_free(&nothing), 0, "free of no buffers");
}

static void *cancel_it(void *arg)
{
    abtio_cancel(arg);
    return NULL;
}

/* A cancel and data at once: it is one or the other, and then the next one gets it. */
static void race(void)
{
    struct end end;
    int wrong = 0;
    abtio_buffers *buffers = make_buffers(8, 4);

    make(&end, buffers);
    for (int i = 0; i < 300; i++) {
        abtio_op *op;
        void *buf = NULL;
        pthread_t thread;
        char text[16];
        snprintf(text, sizeof(text), "%05d", i);
        wrong += abtio_receiver_recv_nb(end.receiver, &buf, ABTIO_FOREVER, &op) != 0;
        if (pthread_create(&thread, NULL, cancel_it, op))
            bail_out("pthread_create");
        tell(&end, text);
        ssize_t n = abtio_op_wait(op);
        if (n == -ECANCELED)
            n = abtio_receiver_recv(end.receiver, &buf, ABTIO_FOREVER);
        pthread_join(thread, NULL);
        abtio_op_free(&op);
        wrong += n != 5 || !buf || memcmp(buf, text, 5) != 0 || abtio_buffers_give_back(buffers, buf) != 0;
    }
    is_int(wrong, 0, "%s: no data is lost to a cancel", backend_name);
    is_unmade(&end, buffers);
}

/* Receivers are freed while data comes in. */
static void free_race(void)
{
    int wrong = 0;
    abtio_buffers *buffers = make_buffers(8, 4);

    for (int i = 0; i < 100; i++) {
        struct end end;
        void *buf;
        make(&end, buffers);
        wrong += abtio_receiver_recv(end.receiver, &buf, 0) != -ETIMEDOUT;
        for (int k = 0; k < i % 10; k++)
            tell(&end, "datadata");
        if (i % 3 == 0)
            wrong += abtio_sleep(MS / 10, ABTIO_FOREVER) != 0;
        wrong += unmake(&end);
    }
    is_int(wrong, 0, "%s: freed while data comes", backend_name);
    is_int(abtio_buffers_free(&buffers), 0, "all are back");
}

/* A tasklet that keeps its stream from looking, and a ULT that never leaves. */
static void only_look(void *arg)
{
    struct reading *reading = arg;
    abtio_op *op;
    void *buf = NULL;
    ssize_t n = -1;

    is_int(abtio_receiver_recv_nb(reading->end.receiver, &buf, ABTIO_FOREVER, &op), 0, "%s: recv_nb", backend_name);
    tell(&reading->end, "look");
    while (!abtio_op_test(op, &n))
        ;
    ok(n == 4 && !memcmp(buf, "look", 4), "it is found by one who only looks");
    is_int(abtio_buffers_give_back(reading->buffers, buf), 0, "give back");
    abtio_op_free(&op);
    is_int(abtio_receiver_recv_nb(reading->end.receiver, &buf, abtio_after(MS), &op), 0, "recv_nb with a deadline");
    while (!abtio_op_test(op, &n))
        ;
    is_int(n, -ETIMEDOUT, "which is kept when one looks");
    abtio_op_free(&op);
}

struct waiting {
    abtio_buffers *buffers;
    abtio_op *op;
    void *kept; /* the only buffer, until another thread gives it back */
    bool looks;
};

static void *give_kept_back(void *arg)
{
    struct waiting *w = arg;

    usleep(5000);
    return abtio_buffers_give_back(w->buffers, w->kept) == 0 ? w : NULL;
}

/* The stream is kept from looking while a buffer is given back for which its receiver waits. */
static void wait_for_buffer(void *arg)
{
    struct waiting *w = arg;
    pthread_t thread;
    void *well;
    ssize_t n = -1;

    if (pthread_create(&thread, NULL, give_kept_back, w))
        bail_out("pthread_create");
    if (w->looks) {
        while (!abtio_op_test(w->op, &n))
            ;
    } else {
        n = abtio_op_wait(w->op);
    }
    pthread_join(thread, &well);
    is_int(n, 4, "%s: one that %s gets a buffer that comes back", backend_name, w->looks ? "looks" : "waits");
    ok(well != NULL, "give back");
}

static void buffer_comes_back(void)
{
    for (int i = 0; i < 3; i++) {
        struct waiting w = {.buffers = make_buffers(4, 1), .looks = i > 0};
        struct end first, second;
        void *buf = NULL;
        ABT_task task;
        make(&first, w.buffers);
        make(&second, w.buffers);
        tell(&first, "kept");
        tell(&second, "next");
        is_int(abtio_receiver_recv(first.receiver, &w.kept, ABTIO_FOREVER), 4, "%s: one keeps it", backend_name);
        is_int(abtio_receiver_recv_nb(second.receiver, &buf, ABTIO_FOREVER, &w.op), 0, "another waits for it");
        if (i < 2) {
            must(ABT_task_create(own, wait_for_buffer, &w, &task));
            must(ABT_task_free(&task));
        } else {
            in_ult(wait_for_buffer, &w);
        }
        abtio_op_free(&w.op);
        is_int(abtio_buffers_give_back(w.buffers, buf), 0, "give back");
        is_int(unmake(&first), 0, "free");
        is_unmade(&second, w.buffers);
    }
}

/* Each with a buffer that comes back in between, and with O_NONBLOCK too. */
static void look(void)
{
    ABT_task task;

    for (int i = 0; i < 2; i++) {
        struct reading reading = {.buffers = make_buffers(4, 1)};
        make(&reading.end, reading.buffers);
        if (i && fcntl(reading.end.fds[0], F_SETFL, O_NONBLOCK) < 0)
            bail_out("fcntl");
        in_ult(only_look, &reading);
        must(ABT_task_create(own, only_look, &reading, &task));
        must(ABT_task_free(&task));
        is_unmade(&reading.end, reading.buffers);
    }
}

static void tests(void)
{

    own = main_pool();
    order();
    many();
    together();
    run_out();
    leave();
    race();
    free_race();
    look();
    buffer_comes_back();
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(tests);
    return done_testing();
}
