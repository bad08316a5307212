/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a connection, in TLS or as they are. While a call waits, the ULT that makes it is suspended. */
#ifndef STREAM_H_INCLUDED
#define STREAM_H_INCLUDED

#include <abtio.h>
#include <openssl/ssl.h>

struct stream {
    int fd;
    SSL *ssl;     /* NULL: without TLS */
    BIO *network; /* the other end of what ssl reads and writes */
};

/* Begins on a socket, which belongs to the stream, also after an error; with TLS if there is a context. 0 or -errno. */
int stream_open(struct stream *stream, int fd, SSL_CTX *context, abtio_deadline deadline);

/* Some bytes; 0: there are no more; or -errno. */
ssize_t stream_read(struct stream *stream, void *buf, size_t size, abtio_deadline deadline);

/* All of the bytes. 0 or -errno. */
int stream_write(struct stream *stream, const void *buf, size_t size, abtio_deadline deadline);

void stream_close(struct stream *stream);

#endif
