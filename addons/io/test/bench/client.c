/*
 * The load for the echo servers: connections that each send 64 bytes, wait until they are back, and send the next.
 *
 *     client PORT CONNECTIONS MILLISECONDS    prints a line of JSON: the rate and the time of an echo
 *     client PORT CONNECTIONS 0               one echo each, the line "ready", and then the connections stay idle until
 *                                             the standard input ends
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "net.h"

enum { MESSAGE = 64, EVENTS = 256, MAX_SAMPLES = 1 << 20 };

struct connection {
    int fd;
    unsigned received; /* bytes of the echo that is under way */
    int64_t sent_at;
    uint64_t number; /* of that echo: the message begins with it */
    char message[MESSAGE];
};

static float samples[MAX_SAMPLES]; /* times of echoes in microseconds */
static long num_echoes, num_samples;
static int is_measuring;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void send_next(struct connection *connection, int64_t time)
{
    connection->number++;
    connection->received = 0;
    connection->sent_at = time;
    memcpy(connection->message, &connection->number, sizeof(connection->number));
    expect(send(connection->fd, connection->message, MESSAGE, MSG_NOSIGNAL) == MESSAGE, "send");
}

/* Takes what has come; whether the echo is complete. */
static int receive(struct connection *connection)
{
    char *to = connection->message + connection->received;
    ssize_t size = recv(connection->fd, to, MESSAGE - connection->received, 0);
    errno = size == 0 ? ECONNRESET : errno;
    expect(size > 0, "recv");
    connection->received += (unsigned)size;
    if (connection->received < MESSAGE)
        return 0;
    uint64_t number;
    memcpy(&number, connection->message, sizeof(number));
    errno = EBADMSG;
    expect(number == connection->number, "the echo");
    return 1;
}

static void note(const struct connection *connection, int64_t time)
{
    if (!is_measuring)
        return;
    num_echoes++;
    if (num_samples < MAX_SAMPLES)
        samples[num_samples++] = (float)(time - connection->sent_at) / 1000;
}

/* Takes and sends until the time, or until so many echoes are complete; returns how many there were. */
static long exchange(int epoll, int64_t until, long most, int goes_on)
{
    struct epoll_event events[EVENTS];
    long done = 0;
    while (done < most) {
        int num = epoll_wait(epoll, events, EVENTS, 10000);
        expect(num > 0, "epoll_wait");
        int64_t time = now();
        if (time >= until)
            break;
        for (int i = 0; i < num; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection))
                continue;
            done++;
            note(connection, time);
            if (goes_on)
                send_next(connection, time);
        }
    }
    return done;
}

static void open_connections(int epoll, int port, struct connection *connections, int num)
{
    struct sockaddr_in address = loopback(port);
    struct linger reset = {.l_onoff = 1}; /* the client's end leaves nothing that waits in the kernel */
    for (int i = 0; i < num; i++) {
        int fd = connections[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        expect(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)), "connect");
        set_no_delay(fd);
        expect(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), "SO_LINGER");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        expect(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
    }
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void measure(int epoll, int64_t milliseconds)
{
    exchange(epoll, now() + milliseconds * 250000, INT64_MAX, 1); /* until all is warm */
    is_measuring = 1;
    int64_t start = now();
    exchange(epoll, start + milliseconds * 1000000, INT64_MAX, 1);
    double seconds = (double)(now() - start) / 1e9;
    errno = ETIME;
    expect(num_samples > 0, "no echo came");
    qsort(samples, (size_t)num_samples, sizeof(samples[0]), compare);
    printf("{\"rate\": %.1f, \"p50_us\": %.2f, \"p99_us\": %.2f}\n", (double)num_echoes / seconds,
           samples[num_samples / 2], samples[num_samples * 99 / 100]);
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
    int num = atoi(argv[2]), milliseconds = atoi(argv[3]), epoll = epoll_create1(0);
    struct connection *connections = calloc((size_t)num, sizeof(*connections));
    expect(epoll >= 0 && connections != NULL, "begin");
    open_connections(epoll, atoi(argv[1]), connections, num);
    for (int i = 0; i < num; i++)
        send_next(&connections[i], now());
    if (milliseconds > 0) {
        measure(epoll, milliseconds);
    } else {
        errno = ETIME;
        expect(exchange(epoll, now() + INT64_C(60000000000), num, 0) == num, "the echoes");
        stay_idle();
    }
    return 0; /* the kernel closes the connections */
}
