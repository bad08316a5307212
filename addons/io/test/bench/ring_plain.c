/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop over one ring without any units: as fast as io_uring is. */
#include <liburing.h>

#include "ring.h"

static struct io_uring ring;

static void submit(const struct job *job, unsigned slot, uint64_t *state)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    expect(entry != NULL, "io_uring_get_sqe");
    io_uring_prep_read(entry, job->fd, job->buffers + (size_t)slot * PAGE, (unsigned)job->size,
                       (uint64_t)next_offset(job, state));
    io_uring_sqe_set_data64(entry, slot);
}

int main(int argc, char **argv)
{
    struct job job = read_job(argc, argv);
    uint64_t state = 1;
    long submitted = 0, done = 0;
    expect(!io_uring_queue_init(MAX_DEPTH, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
           "io_uring_queue_init");
    struct times start = times_now();
    for (; submitted < job.depth; submitted++)
        submit(&job, (unsigned)submitted, &state);
    while (done < job.operations) {
        expect(io_uring_submit_and_wait(&ring, 1) >= 0, "io_uring_submit_and_wait");
        struct io_uring_cqe *completion;
        unsigned head, num = 0;
        io_uring_for_each_cqe(&ring, head, completion)
        {
            expect(completion->res == job.expected, "a read");
            num++;
            if (submitted < job.operations) {
                submit(&job, (unsigned)completion->user_data, &state);
                submitted++;
            }
        }
        io_uring_cq_advance(&ring, num);
        done += num;
    }
    report(start, done);
    return 0;
}
