/* SPDX-License-Identifier: BSD-3-Clause */
/* What a look-up of names needs that outlives its caller. */
#ifndef ABTIO_LOOKUP_H
#define ABTIO_LOOKUP_H

#include <netdb.h>
#include <stdbool.h>
#include <string.h>

/* A look-up of names cannot be interrupted. So it has copies of all, which the end of the operation leaves to it. */
struct lookup {
    char *node, *service;
    struct addrinfo hints, *list;
    const struct addrinfo *given;
};

static inline bool lookup_copy(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

#endif
