/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves the files of a directory by HTTP/1.1, with TLS if it is given a certificate. Each connection is a ULT, written
 * as if it blocked; one that waits for its client stops no other.
 *
 *     file_server [-a ADDRESS] [-p PORT] [-s STREAMS] [-n CONNECTIONS] [-c CERTIFICATE -k KEY] DIRECTORY
 *
 * It listens on 127.0.0.1:8080 unless an argument says otherwise; port 0 is one of the kernel's choice. Symbolic links
 * are followed, as whoever made them has wished. SIGINT and SIGTERM end it.
 */
#include <abt.h>
#include <abtio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "answer.h"

enum { MAX_STREAMS = 64, STACK = 128 << 10 /* OpenSSL wants some */ };

#define SECONDS INT64_C(1000000000)

/* A connection in the list of those that are open. */
struct client {
    struct connection connection;
    int fd;
    struct client **link, *next;
};

static struct {
    const char *address, *certificate, *key, *directory;
    int port, num_streams, max_clients;
} given = {.address = "127.0.0.1", .port = 8080, .num_streams = 1, .max_clients = 1024};

static int root, listener;
static SSL_CTX *tls; /* NULL: none */

static ABT_mutex_memory lock_memory = ABT_MUTEX_INITIALIZER;
static ABT_cond_memory left_memory = ABT_COND_INITIALIZER; /* a client has gone */
#define LOCK ABT_MUTEX_MEMORY_GET_HANDLE(&lock_memory)
#define LEFT ABT_COND_MEMORY_GET_HANDLE(&left_memory)

/* Guarded by the lock. */
static struct client *clients;
static int num_clients;
static bool is_ending;

static void expect(long result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "file_server: %s: %s\n", what, result < 0 ? strerror((int)-result) : "failed");
        exit(1);
    }
}

static void expect_system(int result, const char *what)
{
    expect(result >= 0 ? 0 : -errno, what);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static void enter_list(struct client *client)
{
    ABT_mutex_lock(LOCK);
    client->next = clients;
    client->link = &clients;
    if (clients)
        clients->link = &client->next;
    clients = client;
    num_clients++;
    if (is_ending)
        shutdown(client->fd, SHUT_RDWR);
    ABT_mutex_unlock(LOCK);
}

/* Behind this nobody else knows of the client's descriptor. */
static void leave_list(struct client *client)
{
    ABT_mutex_lock(LOCK);
    *client->link = client->next;
    if (client->next)
        client->next->link = client->link;
    ABT_mutex_unlock(LOCK);
}

/* Takes what the client still sends, for a moment: closing with bytes unread would cancel the answer on its way. */
static void let_client_end(struct client *client)
{
    abtio_deadline deadline = abtio_after(2 * SECONDS);
    abtio_shutdown(client->fd, SHUT_WR, deadline);
    while (abtio_recv(client->fd, client->connection.chunk, ANSWER_CHUNK, 0, deadline) > 0)
        ;
}

static void serve(void *arg)
{
    struct client *client = arg;
    enter_list(client);
    if (stream_open(&client->connection.stream, client->fd, tls, abtio_after(10 * SECONDS)) == 0) {
        while (answer_request(&client->connection))
            ;
        if (!tls)
            let_client_end(client);
    }
    leave_list(client);
    stream_close(&client->connection.stream);
    free(client);
    ABT_mutex_lock(LOCK);
    num_clients--;
    ABT_cond_signal(LEFT);
    ABT_mutex_unlock(LOCK);
}

/* Waits until there are fewer clients than that. */
static void wait_for_fewer(int number)
{
    ABT_mutex_lock(LOCK);
    while (num_clients >= number)
        ABT_cond_wait(LEFT, LOCK);
    ABT_mutex_unlock(LOCK);
}

/* Takes connections until the socket is shut down, and gives them to the streams in turn. */
static void accept_clients(const ABT_pool *pools)
{
    ABT_thread_attr attr;
    int one = 1;
    expect(ABT_thread_attr_create(&attr), "ABT_thread_attr_create");
    expect(ABT_thread_attr_set_stacksize(attr, STACK), "ABT_thread_attr_set_stacksize");
    for (int number = 0;; number++) {
        wait_for_fewer(given.max_clients);
        int fd = abtio_accept(listener, NULL, NULL, SOCK_CLOEXEC, ABTIO_FOREVER);
        if (fd == -EINVAL)
            break;
        struct client *client = fd >= 0 ? calloc(1, sizeof(*client)) : NULL;
        if (client) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
            client->fd = fd;
            client->connection.root = root;
            if (ABT_thread_create(pools[number % given.num_streams], serve, client, attr, NULL) == ABT_SUCCESS)
                continue;
        }
        /* No memory, or no descriptor: later there may be some. */
        free(client);
        if (fd >= 0)
            abtio_close(fd, ABTIO_FOREVER);
        abtio_sleep(SECONDS / 10, ABTIO_FOREVER);
    }
    ABT_thread_attr_free(&attr);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Waits for a signal, and ends what others wait for. */
static void wait_for_signal(void *arg)
{
    struct signalfd_siginfo info;
    int fd = (int)(intptr_t)arg;
    abtio_read(fd, &info, sizeof(info), ABTIO_FOREVER);
    close(fd);
    ABT_mutex_lock(LOCK);
    is_ending = true;
    for (struct client *client = clients; client; client = client->next)
        shutdown(client->fd, SHUT_RDWR);
    ABT_mutex_unlock(LOCK);
    shutdown(listener, SHUT_RDWR);
}

/* A descriptor by which the signals come that end the program. Before there are other threads. */
static int catch_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    expect(-pthread_sigmask(SIG_BLOCK, &signals, NULL), "pthread_sigmask");
    int fd = signalfd(-1, &signals, SFD_CLOEXEC);
    expect_system(fd, "signalfd");
    return fd;
}

/* ---- The begin --------------------------------------------------------------------------------------------------- */

static void start_listening(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)given.port)};
    socklen_t size = sizeof(address);
    int one = 1;
    expect(inet_pton(AF_INET, given.address, &address.sin_addr) != 1, given.address);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect_system(listener, "socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    expect_system(bind(listener, (struct sockaddr *)&address, size), "bind");
    expect_system(listen(listener, 1024), "listen");
    expect_system(getsockname(listener, (struct sockaddr *)&address, &size), "getsockname");
    printf("serving %s at %s://%s:%d/\n", given.directory, tls ? "https" : "http", given.address,
           ntohs(address.sin_port));
    fflush(stdout);
}

static void load_certificate(void)
{
    tls = SSL_CTX_new(TLS_server_method());
    if (!tls || SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) != 1 ||
        SSL_CTX_use_certificate_chain_file(tls, given.certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, given.key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(tls) != 1) {
        ERR_print_errors_fp(stderr);
        exit(1);
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: file_server [-a ADDRESS] [-p PORT] [-s STREAMS] [-n CONNECTIONS] "
                    "[-c CERTIFICATE -k KEY] DIRECTORY\n");
    return 2;
}

static bool read_arguments(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "a:p:s:n:c:k:")) != -1;) {
        switch (option) {
        case 'a': given.address = optarg; break;
        case 'p': given.port = atoi(optarg); break;
        case 's': given.num_streams = atoi(optarg); break;
        case 'n': given.max_clients = atoi(optarg); break;
        case 'c': given.certificate = optarg; break;
        case 'k': given.key = optarg; break;
        default: return false;
        }
    }
    given.directory = argv[optind];
    return optind == argc - 1 && given.port >= 0 && given.port < 65536 && given.num_streams >= 1 &&
           given.num_streams <= MAX_STREAMS && given.max_clients >= 1 && !given.certificate == !given.key;
}

static void start_streams(ABT_xstream *streams, ABT_pool *pools)
{
    expect(ABT_xstream_self(&streams[0]), "ABT_xstream_self");
    expect(ABT_xstream_get_main_pools(streams[0], 1, &pools[0]), "ABT_xstream_get_main_pools");
    for (int i = 1; i < given.num_streams; i++) {
        expect(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]), "ABT_xstream_create");
        expect(ABT_xstream_get_main_pools(streams[i], 1, &pools[i]), "ABT_xstream_get_main_pools");
    }
}

int main(int argc, char **argv)
{
    static ABT_xstream streams[MAX_STREAMS];
    static ABT_pool pools[MAX_STREAMS];
    ABT_thread ending;
    if (!read_arguments(argc, argv))
        return usage();
    root = open(given.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    expect_system(root, given.directory);
    if (given.certificate)
        load_certificate();
    int signals = catch_signals();
    expect(ABT_init(0, NULL), "ABT_init");
    start_streams(streams, pools);
    expect(abtio_init(NULL), "abtio_init");
    start_listening();
    expect(ABT_thread_create(pools[0], wait_for_signal, (void *)(intptr_t)signals, ABT_THREAD_ATTR_NULL, &ending),
           "ABT_thread_create");
    accept_clients(pools);
    expect(ABT_thread_free(&ending), "ABT_thread_free");
    wait_for_fewer(1);
    close(listener);
    expect(abtio_finalize(), "abtio_finalize");
    for (int i = 1; i < given.num_streams; i++) {
        expect(ABT_xstream_join(streams[i]), "ABT_xstream_join");
        expect(ABT_xstream_free(&streams[i]), "ABT_xstream_free");
    }
    expect(ABT_finalize(), "ABT_finalize");
    SSL_CTX_free(tls);
    close(root);
    return 0;
}
