/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECONDS INT64_C(1000000000)

/* How long a client may be silent between two requests, may take for a head, and for taking a chunk. */
#define IDLE_TIME (30 * SECONDS)
#define HEAD_TIME (10 * SECONDS)
#define CHUNK_TIME (30 * SECONDS)

enum { MAX_EXTRA = 3 * HTTP_MAX_PATH + 256 }; /* a path that is encoded, and some words */

static void format_time(char text[64], time_t time)
{
    struct tm parts;
    strftime(text, 64, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&time, &parts));
}

/* The head of an answer, at the begin of the chunk; `extra` is more lines of it. Returns its size. */
static size_t write_head(struct connection *connection, const struct http_request *request, int status,
                         const char *type, int64_t size, const char *extra)
{
    char date[64];
    format_time(date, time(NULL));
    return (size_t)snprintf(connection->chunk, sizeof(connection->chunk),
                            "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\n"
                            "%sConnection: %s\r\n\r\n",
                            status, http_reason(status), date, type, (long long)size, extra,
                            request->stays ? "keep-alive" : "close");
}

static bool send_chunk(struct connection *connection, size_t size)
{
    return stream_write(&connection->stream, connection->chunk, size, abtio_after(CHUNK_TIME)) == 0;
}

/* An answer that says only what is the matter. */
static bool send_status(struct connection *connection, const struct http_request *request, int status,
                        const char *extra)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "%d %s\n", status, http_reason(status));
    size_t size = write_head(connection, request, status, "text/plain; charset=utf-8", length, extra);
    if (!request->is_head) {
        memcpy(connection->chunk + size, text, (size_t)length);
        size += (size_t)length;
    }
    return send_chunk(connection, size) && request->stays;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Sends a part of a file behind the head, which is in the chunk already. */
static bool send_part(struct connection *connection, size_t head_size, int fd, int64_t begin, int64_t end)
{
    size_t filled = head_size;
    do {
        size_t room = sizeof(connection->chunk) - filled;
        size_t wanted = end - begin < (int64_t)room ? (size_t)(end - begin) : room;
        ssize_t got = wanted == 0 ? 0 : abtio_pread_all(fd, connection->chunk + filled, wanted, begin, ABTIO_FOREVER);
        /* A file that has become shorter cannot be sent as the head says: the connection ends. */
        if (got != (ssize_t)wanted || !send_chunk(connection, filled + wanted))
            return false;
        begin += got;
        filled = 0;
    } while (begin < end);
    return true;
}

static bool send_file(struct connection *connection, const struct http_request *request, int fd,
                      const struct statx *file, const char *path)
{
    char extra[MAX_EXTRA], time[64];
    int64_t begin, end, size = (int64_t)file->stx_size;
    int status = http_range(request, size, &begin, &end);
    if (status == 416) {
        snprintf(extra, sizeof(extra), "Content-Range: bytes */%lld\r\n", (long long)size);
        return send_status(connection, request, status, extra);
    }
    format_time(time, (time_t)file->stx_mtime.tv_sec);
    int length = snprintf(extra, sizeof(extra), "Accept-Ranges: bytes\r\nLast-Modified: %s\r\n", time);
    if (status == 206)
        snprintf(extra + length, sizeof(extra) - (size_t)length, "Content-Range: bytes %lld-%lld/%lld\r\n",
                 (long long)begin, (long long)end - 1, (long long)size);
    size_t head_size = write_head(connection, request, status, http_type(path), end - begin, extra);
    if (request->is_head)
        begin = end;
    return send_part(connection, head_size, fd, begin, end) && request->stays;
}

/* A directory is at its name with a slash: what its page refers to is found from there. */
static bool send_redirect(struct connection *connection, const struct http_request *request)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    char extra[MAX_EXTRA];
    int length = snprintf(extra, sizeof(extra), "Location: /");
    for (const char *c = request->path; *c; c++)
        length += snprintf(extra + length, sizeof(extra) - (size_t)length, strchr(plain, *c) ? "%c" : "%%%02X",
                           (unsigned char)*c);
    snprintf(extra + length, sizeof(extra) - (size_t)length, "/\r\n");
    return send_status(connection, request, 301, extra);
}

static int status_of(int error)
{
    switch (-error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG: return 404;
    case EACCES:
    case EPERM: return 403;
    default: return 500;
    }
}

static bool answer_path(struct connection *connection, const struct http_request *request)
{
    char path[HTTP_MAX_PATH + 16];
    struct statx file;
    size_t length = strlen(request->path);
    bool is_directory = length == 0 || request->path[length - 1] == '/';
    snprintf(path, sizeof(path), "%s%s", request->path, is_directory ? "index.html" : "");
    /* Nothing but a file is waited for: the open of a pipe returns at once. */
    int fd = abtio_openat(connection->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0, ABTIO_FOREVER);
    if (fd < 0)
        return send_status(connection, request, status_of(fd), "");
    int status = abtio_statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE | STATX_MTIME, &file, ABTIO_FOREVER);
    bool goes_on;
    if (status < 0)
        goes_on = send_status(connection, request, 500, "");
    else if (S_ISDIR(file.stx_mode))
        goes_on = send_redirect(connection, request);
    else if (!S_ISREG(file.stx_mode))
        goes_on = send_status(connection, request, 403, "");
    else
        goes_on = send_file(connection, request, fd, &file, path);
    abtio_close(fd, ABTIO_FOREVER);
    return goes_on;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/*
 * Waits for a whole head, whose size is stored. Returns 0, or a status of HTTP, or a negative number where there is
 * nobody to answer. The time for a head begins with its first byte, so that one which trickles in does not stay for
 * ever.
 */
static int read_head(struct connection *connection, size_t *size)
{
    abtio_deadline deadline = connection->used ? abtio_after(HEAD_TIME) : abtio_after(IDLE_TIME);
    while ((*size = http_head_size(connection->head, connection->used)) == 0) {
        size_t room = sizeof(connection->head) - connection->used;
        if (room == 0)
            return 431;
        ssize_t got = stream_read(&connection->stream, connection->head + connection->used, room, deadline);
        if (got == -ETIMEDOUT && connection->used > 0)
            return 408;
        if (got <= 0)
            return -1;
        if (connection->used == 0)
            deadline = abtio_after(HEAD_TIME);
        connection->used += (size_t)got;
    }
    return 0;
}

bool answer_request(struct connection *connection)
{
    struct http_request request = {.stays = false};
    size_t size;
    int status = read_head(connection, &size);
    if (status < 0)
        return false;
    if (status == 0) {
        status = http_parse(connection->head, size, &request);
        connection->used -= size;
        memmove(connection->head, connection->head + size, connection->used);
    }
    if (status != 0)
        return send_status(connection, &request, status, status == 405 ? "Allow: GET, HEAD\r\n" : "");
    return answer_path(connection, &request);
}
