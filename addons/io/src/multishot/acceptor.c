/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of acceptors: multishots of connections. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "backend.h"
#include "caller.h"
#include "multishot/multishot.h"

struct abtio_acceptor {
    struct multishot multishot;
    pthread_mutex_t lock;
};

/* Errors are for the waiters. */
static struct result *keep_connection(struct multishot *multishot, int value, void *buf)
{
    struct result *kept = value < 0 ? NULL : malloc(sizeof(*kept));

    abtioi_assert(!buf && abtioi_is_held(multishot->lock));
    if (kept)
        *kept = (struct result){.value = value, .buf = buf};
    else if (value >= 0)
        close(value);
    return kept;
}

static void free_place(struct result *kept)
{
    free(kept);
}

static void close_connection(struct multishot *multishot, struct result *kept)
{
    (void)multishot;
    abtioi_assert(kept->value >= 0);
    close(kept->value);
    free_place(kept);
}

int abtio_acceptor_create(int fd, int flags, abtio_acceptor **acceptor)
{
    static const struct multishot_kind kind = {.many = CODE_accept_many,
                                               .one = CODE_accept,
                                               .keep = keep_connection,
                                               .release = free_place,
                                               .discard = close_connection};

    if (!abtioi_is_begun())
        return -ENOTCONN;
    abtio_acceptor *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;
    pthread_mutex_init(&made->lock, NULL);
    abtioi_multishot_init(&made->multishot, &kind, &made->lock, 128);
    made->multishot.args = (struct args){.fd = fd, .flags = (unsigned)flags};
    *acceptor = made;
    return 0;
}

int abtio_acceptor_accept(abtio_acceptor *acceptor, abtio_deadline deadline)
{
    return (int)multishot_get(&acceptor->multishot, NULL, deadline);
}

int abtio_acceptor_accept_nb(abtio_acceptor *acceptor, abtio_deadline deadline, abtio_op **op)
{
    return abtioi_multishot_get_nb(&acceptor->multishot, NULL, deadline, op);
}

int abtio_acceptor_free(abtio_acceptor **acceptor)
{
    if (!*acceptor)
        return 0;
    ABT_bool before = put_off_cancel();
    int code = multishot_fini(&(*acceptor)->multishot);
    if (code == 0) {
        pthread_mutex_destroy(&(*acceptor)->lock);
        free(*acceptor);
        *acceptor = NULL;
    }
    allow_cancel(before);
    return code;
}
