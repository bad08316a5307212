/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenSSL reads and writes one end of a pair of buffers, and never waits; what moves bytes between the other end and
 * the socket waits outside of OpenSSL. So no ULT is suspended while OpenSSL works with variables of its native thread,
 * such as the queue of errors.
 */
#include "stream.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>

/* Sends what OpenSSL has written. 0 or -errno. */
static int send_written(struct stream *stream, abtio_deadline deadline)
{
    char *bytes;
    int size;
    while ((size = BIO_nread0(stream->network, &bytes)) > 0) {
        ssize_t sent = abtio_send(stream->fd, bytes, (size_t)size, 0, deadline);
        if (sent < 0)
            return (int)sent;
        BIO_nread(stream->network, &bytes, (int)sent);
    }
    return 0;
}

/* Gets bytes for OpenSSL to read: how many, 0 at the end, or -errno. */
static ssize_t receive(struct stream *stream, abtio_deadline deadline)
{
    char *bytes;
    int room = BIO_nwrite0(stream->network, &bytes);
    if (room <= 0)
        return -EPROTO;
    ssize_t size = abtio_recv(stream->fd, bytes, (size_t)room, 0, deadline);
    if (size > 0)
        BIO_nwrite(stream->network, &bytes, (int)size);
    return size;
}

typedef int operation(SSL *ssl, void *buf, int size);

/* Repeats what OpenSSL is to do until it is done: its result, 0 at the end, or -errno. */
static ssize_t repeat(struct stream *stream, operation *operation, void *buf, size_t size, abtio_deadline deadline)
{
    for (;;) {
        ERR_clear_error();
        int result = operation(stream->ssl, buf, size < INT_MAX ? (int)size : INT_MAX);
        int reason = SSL_get_error(stream->ssl, result);
        int status = send_written(stream, deadline);
        if (status < 0)
            return status;
        if (result > 0)
            return result;
        if (reason == SSL_ERROR_ZERO_RETURN)
            return 0;
        if (reason == SSL_ERROR_WANT_WRITE)
            continue;
        ssize_t received = reason == SSL_ERROR_WANT_READ ? receive(stream, deadline) : -EPROTO;
        if (received <= 0)
            return received;
    }
}

static int do_accept(SSL *ssl, void *buf, int size)
{
    (void)buf;
    (void)size;
    return SSL_accept(ssl);
}

static int do_write(SSL *ssl, void *buf, int size)
{
    return SSL_write(ssl, buf, size);
}

int stream_open(struct stream *stream, int fd, SSL_CTX *context, abtio_deadline deadline)
{
    *stream = (struct stream){.fd = fd};
    if (!context)
        return 0;
    BIO *own;
    stream->ssl = SSL_new(context);
    if (!stream->ssl || BIO_new_bio_pair(&own, 0, &stream->network, 0) != 1)
        return -ENOMEM;
    SSL_set_bio(stream->ssl, own, own);
    ssize_t result = repeat(stream, do_accept, NULL, 0, deadline);
    return result > 0 ? 0 : result < 0 ? (int)result : -ECONNRESET;
}

ssize_t stream_read(struct stream *stream, void *buf, size_t size, abtio_deadline deadline)
{
    if (!stream->ssl)
        return abtio_recv(stream->fd, buf, size, 0, deadline);
    return repeat(stream, SSL_read, buf, size, deadline);
}

int stream_write(struct stream *stream, const void *buf, size_t size, abtio_deadline deadline)
{
    if (!stream->ssl) {
        ssize_t sent = abtio_send_all(stream->fd, buf, size, 0, deadline);
        return sent < 0 ? (int)sent : 0;
    }
    for (const char *bytes = buf; size > 0;) {
        ssize_t written = repeat(stream, do_write, (void *)bytes, size, deadline);
        if (written <= 0)
            return written < 0 ? (int)written : -ECONNRESET;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

void stream_close(struct stream *stream)
{
    if (stream->ssl && SSL_is_init_finished(stream->ssl)) {
        ERR_clear_error();
        SSL_shutdown(stream->ssl); /* tells the peer, and does not wait for its answer */
        send_written(stream, abtio_after(1000000000));
    }
    SSL_free(stream->ssl);
    BIO_free(stream->network);
    abtio_close(stream->fd, ABTIO_FOREVER);
}
