/* SPDX-License-Identifier: BSD-3-Clause */
/* The echo server as a plain loop over one ring, without any units: as fast as io_uring is. */
#include <liburing.h>
#include <stdint.h>
#include <unistd.h>

#include "net.h"

enum { ENTRIES = 4096, CONNECTIONS = 16384 };

/* What a completion is of, beside receives, which have their descriptor. */
enum { OF_LISTENER = CONNECTIONS, OF_SEND };

static struct io_uring ring;
static int listener;
static char buffers[CONNECTIONS][ECHO_BUFFER]; /* by descriptor */

static struct io_uring_sqe *next_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (!entry) { /* full */
        expect(io_uring_submit(&ring) >= 0, "io_uring_submit");
        entry = io_uring_get_sqe(&ring);
    }
    return entry;
}

static void take_next_connection(void)
{
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_accept(entry, listener, NULL, NULL, 0);
    io_uring_sqe_set_data64(entry, OF_LISTENER);
}

static void receive(int fd)
{
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_recv(entry, fd, buffers[fd], ECHO_BUFFER, 0);
    entry->ioprio |= IORING_RECVSEND_POLL_FIRST; /* it is not there yet */
    io_uring_sqe_set_data64(entry, (uint64_t)fd);
}

/* A send that succeeds is not reported. The client waits for it, so that nothing comes into the buffer before. */
static void echo(int fd, int size)
{
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_send(entry, fd, buffers[fd], (size_t)size, MSG_NOSIGNAL | MSG_WAITALL);
    io_uring_sqe_set_flags(entry, IOSQE_CQE_SKIP_SUCCESS);
    io_uring_sqe_set_data64(entry, OF_SEND);
    receive(fd);
}

static void take(uint64_t of, int result)
{
    if (of == OF_LISTENER) {
        expect(result >= 0 && result < CONNECTIONS, "accept");
        set_no_delay(result);
        receive(result);
        take_next_connection();
    } else if (of < OF_LISTENER) {
        if (result > 0)
            echo((int)of, result);
        else
            close((int)of);
    } /* else its receive ends, too */
}

int main(void)
{
    expect(!io_uring_queue_init(ENTRIES, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) &&
               io_uring_register_ring_fd(&ring) == 1,
           "io_uring_queue_init");
    listener = listen_and_tell(0);
    take_next_connection();
    for (;;) {
        struct io_uring_cqe *completion;
        unsigned head, num = 0;
        expect(io_uring_submit_and_wait(&ring, 1) >= 0, "io_uring_submit_and_wait");
        io_uring_for_each_cqe(&ring, head, completion)
        {
            take(completion->user_data, completion->res);
            num++;
        }
        io_uring_cq_advance(&ring, num);
    }
}
