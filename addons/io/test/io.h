/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of libabtio have in common: each test runs with every backend that can be had here. */
#ifndef ABTIO_TEST_IO_H
#define ABTIO_TEST_IO_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#ifndef STATX_SIZE
#include <linux/stat.h> /* where the C library does not have it */
#endif
#include <unistd.h>
#include "abt.h"
#include "abtio.h"
#include "must.h"
#include "tap.h"
#include "watchdog.h"

#define MS INT64_C(1000000) /* nanoseconds */

static const char *backend_name = "?";

/* Descriptors of the process that are open, but for those of /proc, which the check for deadlocks reads. */
static inline int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    for (struct dirent *entry; (entry = readdir(dir));) {
        char target[16] = "";
        if (readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) > 0 && strncmp(target, "/proc/", 6) != 0)
            count++;
    }
    closedir(dir);
    return count;
}

/* Runs a function in a ULT of the caller's stream and waits for it. */
static inline void in_ult(void (*body)(void *), void *arg)
{
    ABT_pool pool = main_pool();
    ABT_thread thread = ult_in(pool, body, arg);
    must(ABT_thread_free(&thread));
}

/* Begins both libraries with a backend, and counts descriptors in between. False: it is skipped, there is none. */
static inline bool begin_both(abtio_backend backend, int *before)
{
    abtio_config config = {.backend = backend};

    must(ABT_init(0, NULL));
    *before = open_descriptors();
    if (abtio_init(&config) == 0)
        return true;
    skip(1, "there is no such backend");
    must(ABT_finalize());
    return false;
}

/* Runs `body` once with each backend, between begin and end of both libraries; no descriptor may be left. */
static inline void with_each_backend(void (*body)(void))
{
    static const struct {
        abtio_backend backend;
        const char *name;
    } backends[] = {{ABTIO_BACKEND_THREADS, "threads"}, {ABTIO_BACKEND_IO_URING, "io_uring"}};

    for (int i = 0; i < 2; i++) {
        abtio_config config = {.backend = backends[i].backend};
        backend_name = backends[i].name;
        must(ABT_init(0, NULL));
        int code = abtio_init(&config);
        if (code < 0 && backends[i].backend == ABTIO_BACKEND_IO_URING) {
            skip(1, "there is no io_uring: %s", strerror(-code));
        } else {
            is_int(code, 0, "abtio_init with %s", backend_name);
            int before = open_descriptors();
            body();
            is_int(abtio_finalize(), 0, "%s: abtio_finalize", backend_name);
            must(ABT_finalize());
            ok(open_descriptors() <= before, "%s: no descriptor is left", backend_name);
            continue;
        }
        must(ABT_finalize());
    }
}

/*
 * Lets the stream of the calling ULT check its events. One sleep does not do: one that is over when it is begun, as
 * may happen on a busy machine, goes on without a poll; but only 16 of them in a row (src/direct.h).
 */
static inline void let_stream_look(void)
{
    for (int i = 0; i < 17; i++)
        abtio_sleep(1, ABTIO_FOREVER);
}

/* A connected pair of stream sockets. */
static inline void make_pair(int fds[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
        bail_out("socketpair: %s", strerror(errno));
}

/* Binds a socket to a free port of the loopback device and listens there; *address says where. */
static inline void listen_on_loopback(int fd, int backlog, struct sockaddr_in *address)
{
    socklen_t size = sizeof(*address);

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)address, size) < 0 || listen(fd, backlog) < 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) < 0)
        bail_out("bind: %s", strerror(errno));
}

#endif
