/* How a call is told to a ring. */
#ifndef ABTIO_SUBMIT_H
#define ABTIO_SUBMIT_H

#include "op.h"
#include "ring.h"

/* Whether there is a ring operation for it. */
bool abtioi_submit_knows(enum code code);

/* Fills in all but user_data. */
void abtioi_submit_call(struct io_uring_sqe *sqe, abtio_op *op);

/* Events of poll, as a submission has them: on big-endian machines with the halves of the word changed over. */
unsigned abtioi_submit_events(unsigned events);

/* The result of the system call, made of the ring's. */
ssize_t abtioi_submit_result(const abtio_op *op, int result);

#endif
