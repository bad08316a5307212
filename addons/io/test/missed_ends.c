/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel tries a connect to a full backlog again and again, and hands it to a thread of its own at last. A deadline
 * or a cancel that came in between was lost, and the connect hung. The ends here come at all times of it.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include "io.h"

enum { TRIES = 300, STEP_NS = 2000 };

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int opened[16], num_opened;

static int new_socket(int flags)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0)
        bail_out("socket: %s", strerror(errno));
    return fd;
}

/* It stays open for a while. */
static int keep_socket(int flags)
{
    if (num_opened == (int)(sizeof(opened) / sizeof(opened[0])))
        bail_out("the backlog is too long");
    return opened[num_opened++] = new_socket(flags);
}

/* Connects until no more can. */
static void fill_backlog(void)
{
    int listener = keep_socket(0);

    /* An address that is no file. */
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "abtio-missed-ends-%d-%s", (int)getpid(),
             backend_name);
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 0))
        bail_out("listen: %s", strerror(errno));
    while (connect(keep_socket(SOCK_NONBLOCK), (struct sockaddr *)&address, sizeof(address)) == 0)
        ;
}

static void try_ends(void *unused)
{
    int late = 0, cancelled = 0;

    for (int i = 0; i < TRIES; i++) {
        abtio_op *op;
        int fd = new_socket(0);
        late += abtio_connect(fd, (struct sockaddr *)&address, sizeof(address), abtio_after(i * STEP_NS)) == -ETIMEDOUT;
        close(fd);
        fd = new_socket(0);
        if (abtio_connect_nb(fd, (struct sockaddr *)&address, sizeof(address), ABTIO_FOREVER, &op) != 0)
            bail_out("abtio_connect_nb");
        abtio_sleep(i * STEP_NS, ABTIO_FOREVER);
        abtio_cancel(op);
        cancelled += abtio_op_wait(op) == -ECANCELED;
        abtio_op_free(&op);
        close(fd);
    }
    is_int(late, TRIES, "%s: each connect ends at its deadline", backend_name);
    is_int(cancelled, TRIES, "%s: each connect ends when it is cancelled", backend_name);
}

static void all(void)
{
    fill_backlog();
    in_ult(try_ends, NULL);
    while (num_opened > 0)
        close(opened[--num_opened]);
}

int main(void)
{
    watchdog_begin(0);
    with_each_backend(all);
    return done_testing();
}
