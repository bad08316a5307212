/* SPDX-License-Identifier: BSD-3-Clause */
/* The echo server on libabtio: a ULT per connection, which reads and writes as a blocking program does. */
#include <abt.h>
#include <abtio.h>
#include <string.h>

#include "net.h"

static void expect_ok(long result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %ld\n", what, result);
        exit(1);
    }
}

static void serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char buffer[ECHO_BUFFER];
    ssize_t size;
    while ((size = abtio_recv(fd, buffer, sizeof(buffer), 0, ABTIO_FOREVER)) > 0 &&
           abtio_send(fd, buffer, (size_t)size, 0, ABTIO_FOREVER) == size)
        ;
    abtio_close(fd, ABTIO_FOREVER);
}

int main(void)
{
    ABT_xstream stream;
    ABT_pool pool;
    expect_ok(ABT_init(0, NULL), "ABT_init");
    expect_ok(ABT_xstream_self(&stream), "ABT_xstream_self");
    expect_ok(ABT_xstream_get_main_pools(stream, 1, &pool), "ABT_xstream_get_main_pools");
    expect_ok(abtio_init(NULL), "abtio_init");
    int listener = listen_and_tell(0);
    for (;;) {
        int fd = abtio_accept(listener, NULL, NULL, 0, ABTIO_FOREVER);
        if (fd < 0)
            expect_ok(fd, "abtio_accept");
        set_no_delay(fd);
        expect_ok(ABT_thread_create(pool, serve, (void *)(intptr_t)fd, ABT_THREAD_ATTR_NULL, NULL),
                  "ABT_thread_create");
    }
}
