/* The public calls of acceptors: sources of connections. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "backend.h"
#include "source.h"

struct abtio_acceptor {
    struct source source;
};

static void close_connection(int fd)
{
    close(fd);
}

int abtio_acceptor_create(int fd, int flags, abtio_acceptor **acceptor)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    abtio_acceptor *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;
    made->source.many = CODE_accept_many;
    made->source.one = CODE_accept;
    made->source.discard = close_connection;
    made->source.args = (struct args){.fd = fd, .flags = (unsigned)flags};
    abtioi_source_init(&made->source);
    *acceptor = made;
    return 0;
}

int abtio_acceptor_accept(abtio_acceptor *acceptor, abtio_deadline deadline)
{
    return (int)abtioi_source_get(&acceptor->source, deadline);
}

int abtio_acceptor_accept_nb(abtio_acceptor *acceptor, abtio_deadline deadline, abtio_op **op)
{
    return abtioi_source_get_nb(&acceptor->source, deadline, op);
}

int abtio_acceptor_free(abtio_acceptor **acceptor)
{
    if (!*acceptor)
        return 0;
    int code = abtioi_source_fini(&(*acceptor)->source);
    if (code < 0)
        return code;
    free(*acceptor);
    *acceptor = NULL;
    return 0;
}
