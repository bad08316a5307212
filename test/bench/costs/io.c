/* SPDX-License-Identifier: BSD-3-Clause */
/* What libabtio does without the system: operations that are done. */
#include "costs.h"

#include <abtio.h>

static abtio_op *ops[TIMES];
static abtio_deadline deadline;
static abtio_info info;
static size_t bytes;

#define must_io(call) must((call) >= 0 ? ABT_SUCCESS : ABT_ERR_OTHER)

static void make_done(void)
{
    must_io(abtio_init(NULL));
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_sleep_nb(0, ABTIO_FOREVER, &ops[i]));
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_op_wait(ops[i]));
}

static void free_done(void)
{
    for (int i = 0; i < TIMES; i++)
        abtio_op_free(&ops[i]);
    must_io(abtio_finalize());
}

static void op_test(int i)
{
    must_io(abtio_op_test(ops[i], NULL));
}

static void op_wait(int i)
{
    must_io(abtio_op_wait(ops[i]));
}

static void op_wait_any(int i)
{
    must_io(abtio_op_wait_any(1, &ops[i], ABTIO_FOREVER));
}

/* It comes too late. */
static void op_cancel(int i)
{
    must_io(-abtio_cancel(ops[i]));
}

static void op_free(int i)
{
    abtio_op_free(&ops[i]);
}

static void get_info(int i)
{
    (void)i;
    must_io(abtio_get_info(&info));
}

static char memory[64];

static void begin_io(void)
{
    must_io(abtio_init(NULL));
}

static void end_io(void)
{
    must_io(abtio_finalize());
}

static void registered(int i)
{
    (void)i;
    must_io(abtio_register_memory(memory, sizeof(memory)));
    must_io(abtio_unregister_memory(memory));
}

static void registered_file(int i)
{
    (void)i;
    must_io(abtio_register_file(0));
    must_io(abtio_unregister_file(0));
}

static void after(int i)
{
    (void)i;
    deadline = abtio_after(1000);
}

static void moved(int i)
{
    (void)i;
    bytes = abtio_moved();
}

static abtio_acceptor *acceptors[TIMES];

static void begin(void)
{
    must_io(abtio_init(NULL));
}

static void finalize(void)
{
    must_io(abtio_finalize());
}

static void make_acceptors(void)
{
    begin();
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_acceptor_create(-1, 0, &acceptors[i]));
}

static void free_acceptors(void)
{
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_acceptor_free(&acceptors[i]));
    finalize();
}

static void acceptor_create(int i)
{
    must_io(abtio_acceptor_create(-1, 0, &acceptors[i]));
}

static void acceptor_free(int i)
{
    must_io(abtio_acceptor_free(&acceptors[i]));
}

static abtio_buffers *pools[TIMES];
static abtio_receiver *receivers[TIMES];

static void make_pools(void)
{
    begin();
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_buffers_create(64, 1, &pools[i]));
}

static void free_pools(void)
{
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_buffers_free(&pools[i]));
    finalize();
}

static void buffers_create(int i)
{
    must_io(abtio_buffers_create(64, 1, &pools[i]));
}

static void buffers_free(int i)
{
    must_io(abtio_buffers_free(&pools[i]));
}

static void make_receivers(void)
{
    make_pools();
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_receiver_create(-1, 0, pools[i], &receivers[i]));
}

static void free_receivers(void)
{
    for (int i = 0; i < TIMES; i++)
        must_io(abtio_receiver_free(&receivers[i]));
    free_pools();
}

static void receiver_create(int i)
{
    must_io(abtio_receiver_create(-1, 0, pools[i], &receivers[i]));
}

static void receiver_free(int i)
{
    must_io(abtio_receiver_free(&receivers[i]));
}

COST_ROW(op_test, "abtio_op_test", "it is done", make_done, op_test, free_done, 1, IN_ULT, NULL);
COST_ROW(op_wait, "abtio_op_wait", "it is done", make_done, op_wait, free_done, 1, IN_ULT, NULL);
COST_ROW(op_wait_any, "abtio_op_wait_any", "the only one is done", make_done, op_wait_any, free_done, 1, IN_ULT, NULL);
COST_ROW(op_cancel, "abtio_cancel", "it is done", make_done, op_cancel, free_done, 1, IN_ULT, NULL);
COST_ROW(op_free, "abtio_op_free", "it is done", make_done, op_free, free_done, 1, IN_ULT, NULL);
COST_ROW(get_info, "abtio_get_info", "no stream has a ring", make_done, get_info, free_done, 1, IN_ULT, NULL);
COST_ROW(memory, "abtio_register_memory", "and unregister: no stream has a ring", begin_io, registered, end_io, 1,
         IN_ULT, NULL);
COST_ROW(file, "abtio_register_file", "and unregister: no stream has a ring", begin_io, registered_file, end_io, 1,
         IN_ULT, NULL);
COST_ROW(after, "abtio_after", "without what the clock takes", NULL, after, NULL, 1, IN_ULT, NULL);
COST_ROW(moved, "abtio_moved", "what was noted", NULL, moved, NULL, 1, IN_ULT, NULL);
COST_ROW(acceptor_create, "abtio_acceptor_create", "an acceptor", begin, acceptor_create, free_acceptors, 1, IN_ULT,
         NULL);
COST_ROW(acceptor_free, "abtio_acceptor_free", "nobody has asked it", make_acceptors, acceptor_free, finalize, 1,
         IN_ULT, NULL);
COST_ROW(buffers_create, "abtio_buffers_create", "a buffer", begin, buffers_create, free_pools, 1, IN_ULT, NULL);
COST_ROW(buffers_free, "abtio_buffers_free", "nobody has received into it", make_pools, buffers_free, finalize, 1,
         IN_ULT, NULL);
COST_ROW(receiver_create, "abtio_receiver_create", "a receiver", make_pools, receiver_create, free_receivers, 1, IN_ULT,
         NULL);
COST_ROW(receiver_free, "abtio_receiver_free", "nobody has asked it", make_receivers, receiver_free, free_pools, 1,
         IN_ULT, NULL);
