/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server of files needs of HTTP/1.1. */
#ifndef HTTP_H_INCLUDED
#define HTTP_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_MAX_HEAD = 8192, HTTP_MAX_PATH = 1024 };

struct http_request {
    bool is_head;             /* HEAD: only the head of the answer is wanted */
    bool stays;               /* the connection goes on after the answer */
    bool has_range;           /* a single range of bytes is asked for: */
    int64_t first, last;      /* -1: not said; without a first byte, the last `last` bytes */
    char path[HTTP_MAX_PATH]; /* decoded, without the slash at the begin: relative to what is served */
};

/* The size of the head at the begin of the text, which ends with an empty line; 0 when it is not complete. */
size_t http_head_size(const char *text, size_t size);

/*
 * Reads a head, into which it writes. Returns 0, or the status that the answer has to have; the connection is not to
 * stay then.
 */
int http_parse(char *head, size_t size, struct http_request *request);

/* Which bytes of a file are to be sent: from *begin up to *end. Returns the status: 200, 206 or 416. */
int http_range(const struct http_request *request, int64_t size, int64_t *begin, int64_t *end);

/* What a status is called, and the type of a file by its name. */
const char *http_reason(int status);
const char *http_type(const char *path);

#endif
