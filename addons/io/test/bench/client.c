/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load for the echo servers: connections that each send 64 bytes, wait until they are back, and send the next.
 *
 *     client PORT CONNECTIONS MILLISECONDS    prints a line of JSON: the rate and the time of an echo; the rate is the
 *                                             median over slices of 10 ms, so that what else the machine does for a
 *                                             moment does not count
 *     client PORT CONNECTIONS 0               one echo each, the line "ready", and then the connections stay idle until
 *                                             the standard input ends
 *
 * It goes by one ring, so that it is quicker than the servers: a batch of echoes is one system call.
 */
#include <errno.h>
#include <liburing.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net.h"

enum { MESSAGE = 64, ENTRIES = 8192, MAX_SAMPLES = 1 << 20, MAX_SLICES = 1 << 12 };

#define SLICE INT64_C(10000000) /* nanoseconds */

struct connection {
    int fd;
    unsigned received; /* bytes of the echo that is under way */
    int64_t sent_at;
    uint64_t number;       /* of that echo: the message begins with it */
    char message[MESSAGE]; /* what is sent, into which the echo comes */
};

static struct io_uring ring;

static float samples[MAX_SAMPLES]; /* times of echoes in microseconds */
static long num_samples, slices[MAX_SLICES];
static int64_t start; /* 0: what comes is not counted yet */

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Prints a ring's error and ends the program, unless the result is one of success. */
static int expect_done(int result, const char *what)
{
    errno = result < 0 ? -result : 0;
    expect(result >= 0, what);
    return result;
}

static struct io_uring_sqe *next_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (!entry) { /* full */
        expect_done(io_uring_submit(&ring), "io_uring_submit");
        entry = io_uring_get_sqe(&ring);
    }
    return entry;
}

static void wait_for_echo(struct connection *connection)
{
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_recv(entry, connection->fd, connection->message + connection->received,
                       MESSAGE - connection->received, 0);
    entry->ioprio |= IORING_RECVSEND_POLL_FIRST; /* it is not there yet */
    io_uring_sqe_set_data(entry, connection);
}

/* A send that succeeds is not reported: only its echo is. */
static void send_next(struct connection *connection, int64_t time)
{
    connection->number++;
    connection->received = 0;
    connection->sent_at = time;
    memcpy(connection->message, &connection->number, sizeof(connection->number));
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_send(entry, connection->fd, connection->message, MESSAGE, MSG_NOSIGNAL | MSG_WAITALL);
    io_uring_sqe_set_flags(entry, IOSQE_CQE_SKIP_SUCCESS);
    io_uring_sqe_set_data(entry, NULL);
    wait_for_echo(connection);
}

/* Looks at what has come; whether the echo is complete. */
static int take(struct connection *connection, int size)
{
    expect_done(connection || size < 0 ? size : -EIO, connection ? "recv" : "send");
    expect_done(size != 0 ? size : -ECONNRESET, "recv");
    connection->received += (unsigned)size;
    if (connection->received < MESSAGE) {
        wait_for_echo(connection);
        return 0;
    }
    uint64_t number;
    memcpy(&number, connection->message, sizeof(number));
    errno = EBADMSG;
    expect(number == connection->number, "the echo");
    return 1;
}

static void note(const struct connection *connection, int64_t time)
{
    int64_t slice = (time - start) / SLICE;
    if (start == 0 || slice >= MAX_SLICES)
        return;
    slices[slice]++;
    if (num_samples < MAX_SAMPLES)
        samples[num_samples++] = (float)(time - connection->sent_at) / 1000;
}

/* Takes and sends until the time, or until that number of echoes is complete; returns how many there were. */
static long exchange(int64_t until, long most, int goes_on)
{
    long done = 0;
    while (done < most) {
        struct io_uring_cqe *completion;
        unsigned head, num = 0;
        expect_done(io_uring_submit_and_wait(&ring, 1), "io_uring_submit_and_wait");
        int64_t time = now();
        if (time >= until)
            break;
        io_uring_for_each_cqe(&ring, head, completion)
        {
            struct connection *connection = io_uring_cqe_get_data(completion);
            num++;
            if (!take(connection, completion->res))
                continue;
            done++;
            note(connection, time);
            if (goes_on)
                send_next(connection, time);
        }
        io_uring_cq_advance(&ring, num);
    }
    return done;
}

static void open_connections(int port, struct connection *connections, int num)
{
    struct sockaddr_in address = loopback(port);
    struct linger reset = {.l_onoff = 1}; /* the client's end leaves nothing that waits in the kernel */
    for (int i = 0; i < num; i++) {
        int fd = connections[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        expect(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
        set_no_delay(fd);
        expect(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), "SO_LINGER");
    }
}

static int compare_times(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int compare_counts(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void measure(int64_t milliseconds)
{
    int64_t num_slices = milliseconds * 1000000 / SLICE;
    errno = EINVAL;
    expect(num_slices > 0 && num_slices <= MAX_SLICES, "the time");
    exchange(now() + milliseconds * 250000, INT64_MAX, 1); /* until all is warm */
    start = now();
    exchange(start + num_slices * SLICE, INT64_MAX, 1);
    errno = ETIME;
    expect(num_samples > 0, "no echo came");
    qsort(samples, (size_t)num_samples, sizeof(samples[0]), compare_times);
    qsort(slices, (size_t)num_slices, sizeof(slices[0]), compare_counts);
    printf("{\"rate\": %.1f, \"p50_us\": %.2f, \"p99_us\": %.2f}\n",
           (double)slices[num_slices / 2] * 1e9 / (double)SLICE, samples[num_samples / 2],
           samples[num_samples * 99 / 100]);
}

static void stay_idle(void)
{
    char byte;
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: client PORT CONNECTIONS MILLISECONDS\n");
        return 2;
    }
    int num = atoi(argv[2]), milliseconds = atoi(argv[3]);
    struct connection *connections = calloc((size_t)num, sizeof(*connections));
    expect(connections != NULL, "calloc");
    expect_done(io_uring_queue_init(ENTRIES, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
                "io_uring_queue_init");
    open_connections(atoi(argv[1]), connections, num);
    for (int i = 0; i < num; i++)
        send_next(&connections[i], now());
    if (milliseconds > 0) {
        measure(milliseconds);
    } else {
        errno = ETIME;
        expect(exchange(now() + INT64_C(60000000000), num, 0) == num, "the echoes");
        stay_idle();
    }
    return 0; /* the kernel closes the connections */
}
