/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations as such: forms that do not wait, deadlines, cancels, and who may call. */
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include "io.h"

static void nb(void *arg)
{
    int fds[2];
    char a, b;
    ssize_t result = 77;
    abtio_op *ops[3] = {NULL};

    make_pair(fds);
    is_int(abtio_recv_nb(fds[0], &a, 1, 0, ABTIO_FOREVER, &ops[1]), 0, "%s: recv_nb", backend_name);
    is_int(abtio_recv_nb(fds[1], &b, 1, 0, ABTIO_FOREVER, &ops[2]), 0, "recv_nb");
    is_int(abtio_op_test(ops[1], &result), 0, "it is not done");
    is_int(result, 77, "nothing is reported");
    is_int(abtio_op_wait_any(3, ops, abtio_after(5 * MS)), -ETIMEDOUT, "none is done in time");
    is_int(abtio_send(fds[0], "x", 1, 0, ABTIO_FOREVER), 1, "send");
    is_int(abtio_op_wait_any(3, ops, ABTIO_FOREVER), 2, "one is done");
    is_int(abtio_op_test(ops[2], &result), 1, "that one");
    is_int(result, 1, "its result");
    is_int(abtio_op_wait(ops[2]), 1, "its result again");
    is_int(abtio_cancel(ops[2]), -EALREADY, "it cannot be cancelled");
    is_int(abtio_cancel(ops[1]), 0, "the other can be");
    is_int(abtio_op_wait(ops[1]), -ECANCELED, "its result");
    is_int(abtio_cancel(ops[1]), -EALREADY, "it is done, and cannot be cancelled again");
    is_int(abtio_op_wait_any(3, ops, ABTIO_FOREVER), 1, "the lowest of those that are done");
    abtio_op_free(&ops[1]);
    abtio_op_free(&ops[2]);
    is_ptr(ops[2], NULL, "the handle is gone");
    is_int(abtio_op_wait_any(3, ops, ABTIO_FOREVER), -EINVAL, "there is nothing to wait for");
    is_int(abtio_recv_nb(fds[0], &a, 1, 0, ABTIO_FOREVER, &ops[0]), 0, "recv_nb");
    abtio_op_free(&ops[0]); /* it is cancelled */
    is_int(abtio_send(fds[1], "y", 1, 0, ABTIO_FOREVER), 1, "send after that");
    is_int(abtio_recv(fds[0], &a, 1, MSG_DONTWAIT, ABTIO_FOREVER), 1, "nobody else has received it");
    close(fds[0]);
    close(fds[1]);
}

static void deadlines(void *arg)
{
    int fds[2];
    char byte;

    make_pair(fds);
    int64_t begin = abtio_after(0);
    is_int(abtio_recv(fds[0], &byte, 1, 0, abtio_after(20 * MS)), -ETIMEDOUT, "%s: recv until a deadline",
           backend_name);
    ok(abtio_after(0) - begin >= 20 * MS, "not before it");
    is_int(abtio_recv(fds[0], &byte, 1, 0, begin), -ETIMEDOUT, "a deadline that has passed");
    is_int(abtio_poll(fds[0], POLLIN, abtio_after(MS)), -ETIMEDOUT, "poll");
    is_int(abtio_sleep(60000 * MS, abtio_after(MS)), -ETIMEDOUT, "a sleep that is too long");
    begin = abtio_after(0);
    is_int(abtio_sleep(5 * MS, ABTIO_FOREVER), 0, "sleep");
    ok(abtio_after(0) - begin >= 5 * MS, "it lasts so long");
    is_int(abtio_sleep(-1, ABTIO_FOREVER), 0, "no sleep");
    is_int(abtio_send(fds[1], "z", 1, 0, abtio_after(60000 * MS)), 1, "send in time");
    is_int(abtio_recv_all(fds[0], (char[2]){0}, 2, 0, abtio_after(5 * MS)), -ETIMEDOUT, "recv_all of too little");
    close(fds[0]);
    close(fds[1]);
}

struct victim {
    abtio_op *op;
    ssize_t result;
};

static void wait_for_victim(void *arg)
{
    struct victim *victim = arg;
    victim->result = abtio_op_wait(victim->op);
}

/* A cancel wakes who waits. */
static void cancel_of_others(void *arg)
{
    int fds[2];
    char byte;
    struct victim victim = {NULL, 0};

    make_pair(fds);
    ABT_pool pool = main_pool();
    is_int(abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &victim.op), 0, "%s: recv_nb", backend_name);
    ABT_thread thread = ult_in(pool, wait_for_victim, &victim);
    must(ABT_thread_yield());
    is_int(abtio_cancel(victim.op), 0, "cancel while another waits");
    must(ABT_thread_free(&thread));
    is_int(victim.result, -ECANCELED, "who waited gets the code");
    abtio_op_free(&victim.op);
    close(fds[0]);
    close(fds[1]);
}

/* ---- Receives that are ended again and again ------------------------------------------------------------------- */

enum { NUM_BYTES = 300 };

/* Where they are started, and how: all receive the bytes of a native thread, one after another. */
static struct {
    int fds[2];
    abtio_buffers *buffers;
    abtio_receiver *receiver;
    unsigned num, wrong; /* bytes that have come, and those that were not the next */
} ended_;

static void *send_bytes(void *unused)
{
    for (unsigned i = 0; i < NUM_BYTES; i++) {
        unsigned char byte = (unsigned char)i;
        if (write(ended_.fds[1], &byte, 1) != 1)
            bail_out("write: %s", strerror(errno));
        if (i % 4 == 0)
            sched_yield();
    }
    return unused;
}

static void take_bytes(const unsigned char *bytes, ssize_t num)
{
    for (ssize_t i = 0; i < num; i++)
        ended_.wrong += bytes[i] != (unsigned char)ended_.num++;
}

static void take_buffer(void *buf, ssize_t num)
{
    take_bytes(buf, num);
    if (num > 0)
        must(abtio_buffers_give_back(ended_.buffers, buf));
}

static void cancel_receiver(void)
{
    void *buf;
    abtio_op *op;

    must(abtio_receiver_recv_nb(ended_.receiver, &buf, ABTIO_FOREVER, &op));
    if (abtio_cancel(op) != 0)
        take_buffer(buf, abtio_op_wait(op));
    abtio_op_free(&op);
}

/* Nobody learns what the operation has got: it is for who asks next. */
static void free_receiver(void)
{
    void *buf = NULL;
    abtio_op *op;

    must(abtio_receiver_recv_nb(ended_.receiver, &buf, ABTIO_FOREVER, &op));
    if (abtio_op_test(op, NULL))
        take_buffer(buf, abtio_op_wait(op));
    abtio_op_free(&op);
}

static void look_at_receiver(void)
{
    void *buf;
    ssize_t result = abtio_receiver_recv(ended_.receiver, &buf, abtio_after(0));

    if (result != -ETIMEDOUT)
        take_buffer(buf, result);
}

/* What has not begun when it is cancelled gets nothing, so that a receive without a handle comes between. */
static void cancel_recv(void)
{
    unsigned char bytes[4];
    abtio_op *op;

    must(abtio_recv_nb(ended_.fds[0], bytes, sizeof(bytes), 0, ABTIO_FOREVER, &op));
    if (abtio_cancel(op) != 0)
        take_bytes(bytes, abtio_op_wait(op));
    abtio_op_free(&op);
    ssize_t result = abtio_recv(ended_.fds[0], bytes, sizeof(bytes), 0, abtio_after(0));
    if (result != -ETIMEDOUT)
        take_bytes(bytes, result);
}

static void end_again_and_again(void (*one)(void))
{
    pthread_t thread;

    ended_.num = ended_.wrong = 0;
    if (pthread_create(&thread, NULL, send_bytes, NULL))
        bail_out("pthread_create");
    while (ended_.num < NUM_BYTES) {
        one();
        sched_yield(); /* other threads run, where there are few processors; the stream does not look */
    }
    pthread_join(thread, NULL);
    is_int(ended_.num, NUM_BYTES, "%s: all bytes come", backend_name);
    is_int(ended_.wrong, 0, "in their order");
}

/* The byte has come before the handle is freed, and no call has said so. */
static void free_done_receiver(void)
{
    void *buf = NULL;
    abtio_op *op;

    must(abtio_receiver_recv_nb(ended_.receiver, &buf, ABTIO_FOREVER, &op));
    is_int(write(ended_.fds[1], "x", 1), 1, "%s: a byte is sent", backend_name);
    for (int left = 1; left > 0; let_stream_look())
        must(ioctl(ended_.fds[0], FIONREAD, &left));
    abtio_op_free(&op);
    is_int(abtio_receiver_recv(ended_.receiver, &buf, abtio_after(0)), 1, "who asks next gets it");
    must(abtio_buffers_give_back(ended_.buffers, buf));
}

static void ends(void *unused)
{
    make_pair(ended_.fds);
    end_again_and_again(cancel_recv);
    must(abtio_buffers_create(8, 64, &ended_.buffers));
    must(abtio_receiver_create(ended_.fds[0], 0, ended_.buffers, &ended_.receiver));
    free_done_receiver();
    end_again_and_again(cancel_receiver);
    end_again_and_again(free_receiver);
    end_again_and_again(look_at_receiver);
    is_int(abtio_receiver_free(&ended_.receiver), 0, "the receiver is free");
    is_int(abtio_buffers_free(&ended_.buffers), 0, "no buffer is out");
    close(ended_.fds[0]);
    close(ended_.fds[1]);
}

/* ---- Others ---------------------------------------------------------------------------------------------------- */

static ssize_t foreign(void *arg)
{
    nap_ms(5);
    return (ssize_t)(pthread_equal(*(pthread_t *)arg, pthread_self()) ? 1 : -EINTR);
}

/* The stream runs others meanwhile, and whatever the function returns is the result. */
static void blocking(void *arg)
{
    pthread_t self = pthread_self();
    abtio_op *op;

    is_int(abtio_blocking(foreign, &self, ABTIO_FOREVER), -EINTR, "%s: blocking", backend_name);
    is_int(abtio_blocking_nb(foreign, &self, ABTIO_FOREVER, &op), 0, "blocking_nb");
    is_int(abtio_op_wait(op), -EINTR, "its result");
    abtio_op_free(&op);
}

/* A look-up that takes long: the program's own, which the library finds before that of the C library. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    nap_ms(200);
    if (strcmp(node, "slow") || strcmp(service, "http"))
        return EAI_FAIL;
    *list = calloc(1, sizeof(**list));
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    free(list);
}

static void lookups(void *arg)
{
    char node[] = "slow", service[] = "http";
    struct addrinfo *list = NULL;
    abtio_op *op;

    is_int(abtio_getaddrinfo(node, service, NULL, &list, ABTIO_FOREVER), 0, "%s: a slow look-up", backend_name);
    ok(list != NULL, "its result");
    freeaddrinfo(list);
    list = NULL;
    is_int(abtio_getaddrinfo(node, service, NULL, &list, abtio_after(5 * MS)), -ETIMEDOUT, "one with a deadline");
    is_int(abtio_getaddrinfo_nb(node, service, NULL, &list, ABTIO_FOREVER, &op), 0, "one with a handle");
    abtio_sleep(5 * MS, ABTIO_FOREVER);
    is_int(abtio_cancel(op), 0, "it can be cancelled");
    is_ptr(list, NULL, "nothing is reported");
    abtio_op_free(&op);
    memset(node, 'x', 4); /* it is the caller's again */
    abtio_sleep(250 * MS, ABTIO_FOREVER);
    is_ptr(list, NULL, "what comes too late is thrown away");
}

/* What any caller can do: tasklets and external threads as well. */
static void any_caller(void *arg)
{
    int fds[2];
    char byte;
    abtio_op *op;

    make_pair(fds);
    is_int(abtio_send(fds[1], "x", 1, 0, ABTIO_FOREVER), 1, "%s, %s: send", backend_name, (const char *)arg);
    is_int(abtio_recv(fds[0], &byte, 1, 0, ABTIO_FOREVER), 1, "recv");
    is_int(abtio_recv(fds[0], &byte, 1, 0, abtio_after(5 * MS)), -ETIMEDOUT, "recv until a deadline");
    is_int(abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &op), 0, "recv_nb");
    is_int(abtio_op_wait_any(1, &op, abtio_after(5 * MS)), -ETIMEDOUT, "wait_any until a deadline");
    is_int(abtio_send(fds[1], "y", 1, 0, ABTIO_FOREVER), 1, "send");
    is_int(abtio_op_wait(op), 1, "wait");
    abtio_op_free(&op);
    is_int(abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &op), 0, "recv_nb");
    is_int(abtio_cancel(op), 0, "cancel");
    abtio_op_free(&op);
    is_int(abtio_sleep(MS, ABTIO_FOREVER), 0, "sleep");
    close(fds[0]);
    close(fds[1]);
}

static void *external(void *arg)
{
    any_caller(arg);
    return NULL;
}

static void tests(void)
{
    char tasklet_name[] = "tasklet", external_name[] = "external thread", ult_name[] = "ULT";
    ABT_task task;
    pthread_t thread;

    in_ult(nb, NULL);
    in_ult(deadlines, NULL);
    in_ult(cancel_of_others, NULL);
    in_ult(blocking, NULL);
    in_ult(ends, NULL);
    in_ult(lookups, NULL);
    in_ult(any_caller, ult_name);
    ABT_pool pool = main_pool();
    must(ABT_task_create(pool, any_caller, tasklet_name, &task));
    must(ABT_task_free(&task));
    if (pthread_create(&thread, NULL, external, external_name))
        bail_out("pthread_create");
    pthread_join(thread, NULL);
}

/* Begin, end, and what is refused. */
static void begin_and_end(void)
{
    abtio_config config = {.backend = ABTIO_BACKEND_THREADS}, bad = {.ring_entries = 9};
    abtio_info info;
    abtio_op *op;

    is_int(abtio_init(NULL), -ENOTCONN, "abtio_init before ABT_init");
    must(ABT_init(0, NULL));
    is_int(abtio_close(-1, ABTIO_FOREVER), -ENOTCONN, "a call before abtio_init");
    is_int(abtio_close_nb(-1, ABTIO_FOREVER, &op), -ENOTCONN, "a call before abtio_init");
    is_int(abtio_get_info(&info), -ENOTCONN, "info before abtio_init");
    is_int(abtio_finalize(), -ENOTCONN, "abtio_finalize before abtio_init");
    is_int(abtio_init(&bad), -EINVAL, "9 entries");
    bad = (abtio_config){.backend = (abtio_backend)3};
    is_int(abtio_init(&bad), -EINVAL, "no such backend");
    bad = (abtio_config){.reserved = {0, 1}};
    is_int(abtio_init(&bad), -EINVAL, "a reserved field");
    setenv("ABTIO_BACKEND", "thread", 1);
    is_int(abtio_init(NULL), -EINVAL, "no such value of the variable");
    is_int(abtio_init(&config), 0, "the variable is not asked");
    setenv("ABTIO_BACKEND", "threads", 1);
    is_int(abtio_init(NULL), 0, "abtio_init nests");
    is_int(abtio_finalize(), 0, "abtio_finalize of the inner one");
    is_int(abtio_get_info(&info), 0, "info");
    is_int(info.backend, ABTIO_BACKEND_THREADS, "the backend");
    is_str(info.reason, "asked for by abtio_config", "its reason");
    is_int(abtio_close(-1, ABTIO_FOREVER), -EBADF, "a call");
    is_int(abtio_finalize(), 0, "abtio_finalize of the outer one");
    is_int(abtio_init(NULL), 0, "again, by the variable");
    is_int(abtio_get_info(&info), 0, "info");
    is_str(info.reason, "asked for by ABTIO_BACKEND", "its reason");
    is_int(abtio_finalize(), 0, "abtio_finalize");
    unsetenv("ABTIO_BACKEND");
    must(ABT_finalize());
}

int main(void)
{
    watchdog_begin(0);
    begin_and_end();
    with_each_backend(tests);
    return done_testing();
}
