/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of a connection, and their answers. */
#ifndef ANSWER_H_INCLUDED
#define ANSWER_H_INCLUDED

#include "http.h"
#include "stream.h"

enum { ANSWER_CHUNK = 64 << 10 };

struct connection {
    struct stream stream;
    int root;                 /* the directory that is served */
    size_t used;              /* bytes in head: those that have come */
    char head[HTTP_MAX_HEAD]; /* of the next request, and perhaps of some that follow */
    char chunk[ANSWER_CHUNK]; /* what is sent next */
};

/* Reads a request and answers it. Whether the connection goes on. */
bool answer_request(struct connection *connection);

#endif
