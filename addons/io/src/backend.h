/* Begin and end, and which side does an operation. */
#ifndef ABTIO_BACKEND_H
#define ABTIO_BACKEND_H

#include "op.h"

/* Whether abtio_init has been called. */
bool abtioi_is_begun(void);

/* Starts an operation whose fields are set: 0, or -errno: it has not been started. */
int abtioi_start(abtio_op *op);

/* Asks for the end of an operation that is under way or done; it stays the caller's to free. */
void abtioi_cancel(abtio_op *op, int why);

#endif
