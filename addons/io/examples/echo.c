/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An echo server: a ULT of its own serves each connection, those who say nothing for ten seconds are sent away, and
 * SIGINT or SIGTERM end all of it in order. Without a port it takes one that is free, tries itself, and ends.
 *
 *   cc echo.c $(pkg-config --cflags --libs abtio) -o echo
 */
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { NUM_STREAMS = 2, MAX_DESCRIPTORS = 4096 };
#define SECOND INT64_C(1000000000)
#define SILENCE (10 * SECOND)

static ABT_mutex_memory lock_memory = ABT_MUTEX_INITIALIZER;
static ABT_cond_memory gone_memory = ABT_COND_INITIALIZER;
#define LOCK ABT_MUTEX_MEMORY_GET_HANDLE(&lock_memory)
#define GONE ABT_COND_MEMORY_GET_HANDLE(&gone_memory)
static bool is_open[MAX_DESCRIPTORS], is_ending; /* guarded by LOCK, as the count */
static int num_clients;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void serve(void *arg)
{
    char buffer[2048]; /* on the stack of the ULT, which has 16 KiB */
    int fd = (int)(intptr_t)arg;
    ssize_t got;
    while ((got = abtio_recv(fd, buffer, sizeof(buffer), 0, abtio_after(SILENCE))) > 0)
        if (abtio_send_all(fd, buffer, (size_t)got, 0, abtio_after(SILENCE)) != got)
            break;
    if (got == -ETIMEDOUT)
        printf("client %d says nothing and is sent away\n", fd);
    ABT_mutex_lock(LOCK);
    is_open[fd] = false; /* and closed under the lock, so that nobody shuts another one down that gets this number */
    close(fd);
    num_clients--;
    ABT_cond_signal(GONE);
    ABT_mutex_unlock(LOCK);
}

/* Starts a ULT for the client, unless the server ends. */
static void admit(int fd, ABT_pool pool)
{
    ABT_mutex_lock(LOCK);
    if (is_ending || fd >= MAX_DESCRIPTORS ||
        ABT_thread_create(pool, serve, (void *)(intptr_t)fd, ABT_THREAD_ATTR_NULL, NULL)) {
        close(fd);
    } else {
        is_open[fd] = true;
        num_clients++;
    }
    ABT_mutex_unlock(LOCK);
}

static ABT_pool pools[NUM_STREAMS];

static void accept_clients(void *acceptor)
{
    for (int next = 0;; next++) {
        int fd = abtio_acceptor_accept(acceptor, ABTIO_FOREVER);
        if (fd >= 0)
            admit(fd, pools[next % NUM_STREAMS]);
        else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS)
            abtio_sleep(SECOND / 10, ABTIO_FOREVER); /* there are too many: wait until some have gone */
        else if (fd != -ECONNABORTED)
            break; /* -EINVAL: the socket has been shut down */
    }
}

/* Ends what others wait for, and waits until they have noticed. */
static void end_clients(void)
{
    ABT_mutex_lock(LOCK);
    is_ending = true;
    for (int fd = 0; fd < MAX_DESCRIPTORS; fd++)
        if (is_open[fd])
            shutdown(fd, SHUT_RDWR);
    while (num_clients > 0)
        ABT_cond_wait(GONE, LOCK);
    ABT_mutex_unlock(LOCK);
}

/* A client that says a line and waits for the echo, and then the signal that a user would send. */
static void try_it(void *arg)
{
    char line[] = "hello", echo[sizeof(line)] = "";
    int fd = abtio_socket(AF_INET, SOCK_STREAM, 0, ABTIO_FOREVER);
    if (abtio_connect(fd, (struct sockaddr *)&address, sizeof(address), ABTIO_FOREVER) == 0 &&
        abtio_send_all(fd, line, sizeof(line), 0, ABTIO_FOREVER) > 0)
        abtio_recv_all(fd, echo, sizeof(echo), 0, abtio_after(SILENCE));
    *(bool *)arg = strcmp(line, echo) == 0;
    printf("the echo of \"%s\" is \"%s\"\n", line, echo);
    kill(getpid(), SIGINT); /* while this client is connected */
    abtio_recv(fd, echo, 1, 0, ABTIO_FOREVER);
    close(fd);
}

/* Listens at the port; 0 is any that is free. */
static int start_listening(int port)
{
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return -1;
    printf("echoes at 127.0.0.1, port %d\n", ntohs(address.sin_port));
    return fd;
}

int main(int argc, char **argv)
{
    ABT_xstream streams[NUM_STREAMS];
    ABT_thread accepting, client = ABT_THREAD_NULL;
    abtio_acceptor *acceptor;
    struct signalfd_siginfo info;
    sigset_t signals;
    bool is_good = true;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before there are other threads, which take this over */
    int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC), listener = start_listening(argc > 1 ? atoi(argv[1]) : 0);
    if (listener < 0 || ABT_init(argc, argv) || abtio_init(NULL) ||
        abtio_acceptor_create(listener, SOCK_CLOEXEC, &acceptor))
        return 1;
    for (int i = 0; i < NUM_STREAMS; i++) {
        if (i == 0)
            ABT_self_get_xstream(&streams[0]);
        else if (ABT_xstream_create(ABT_SCHED_NULL, &streams[i]))
            return 1;
        ABT_xstream_get_main_pools(streams[i], 1, &pools[i]);
    }
    ABT_thread_create(pools[0], accept_clients, acceptor, ABT_THREAD_ATTR_NULL, &accepting);
    if (argc == 1)
        ABT_thread_create(pools[1], try_it, &is_good, ABT_THREAD_ATTR_NULL, &client);
    abtio_read(signal_fd, &info, sizeof(info), ABTIO_FOREVER); /* main waits here, as any ULT */
    printf("%s: the end\n", strsignal((int)info.ssi_signo));
    shutdown(listener, SHUT_RDWR); /* who waits for a connection gets -EINVAL */
    ABT_thread_free(&accepting);
    abtio_acceptor_free(&acceptor); /* -EBUSY if somebody still waited in it */
    close(listener);
    end_clients();
    if (client != ABT_THREAD_NULL)
        ABT_thread_free(&client);
    abtio_finalize();
    for (int i = 1; i < NUM_STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    close(signal_fd);
    return ABT_finalize() || !is_good;
}
