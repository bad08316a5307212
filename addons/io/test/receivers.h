/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of receivers have in common: a connection with a receiver at its end. */
#ifndef ABTIO_TEST_RECEIVERS_H
#define ABTIO_TEST_RECEIVERS_H

#include "io.h"

struct end {
    int fds[2]; /* the receiver is at the first */
    abtio_receiver *receiver;
};

static inline abtio_buffers *make_buffers(size_t size, unsigned num)
{
    abtio_buffers *buffers = NULL;
    int code = abtio_buffers_create(size, num, &buffers);

    if (code != 0 || !buffers)
        bail_out("%s: abtio_buffers_create gives %d", backend_name, code);
    return buffers;
}

static inline void make(struct end *end, abtio_buffers *buffers)
{
    make_pair(end->fds);
    int code = abtio_receiver_create(end->fds[0], 0, buffers, &end->receiver);
    if (code != 0 || !end->receiver)
        bail_out("%s: abtio_receiver_create gives %d", backend_name, code);
}

/* How many of them went wrong. */
static inline int unmake(struct end *end)
{
    int wrong = abtio_receiver_free(&end->receiver) != 0;

    wrong += end->receiver != NULL;
    close(end->fds[0]);
    if (end->fds[1] >= 0)
        close(end->fds[1]);
    return wrong;
}

static inline void is_unmade(struct end *end, abtio_buffers *buffers)
{
    is_int(unmake(end), 0, "%s: abtio_receiver_free", backend_name);
    is_int(abtio_buffers_free(&buffers), 0, "abtio_buffers_free: all are back");
}

static inline void tell(const struct end *end, const char *text)
{
    if (write(end->fds[1], text, strlen(text)) != (ssize_t)strlen(text))
        bail_out("write: %s", strerror(errno));
}

/* Receives this text, which may come in parts, and gives the buffers back. */
static inline bool hears(const struct end *end, abtio_buffers *buffers, const char *text)
{
    while (*text) {
        void *buf = NULL;
        ssize_t n = abtio_receiver_recv(end->receiver, &buf, abtio_after(60000 * MS));
        if (n <= 0 || !buf || strncmp(buf, text, (size_t)n) != 0) {
            diag("%s: %zd instead of '%s'", backend_name, n, text);
            return false;
        }
        text += n;
        if (abtio_buffers_give_back(buffers, buf) != 0)
            return false;
    }
    return true;
}

#endif
