/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continuations: a wait without a ULT. It is on the heap, and the engine makes the ULT when all requests are done. That
 * ULT writes the statuses, so that nobody else touches memory of the program.
 */
#include <stdlib.h>

#include <real.h> /* made by generate.py */

#include "abtmpi.h"
#include "call.h"
#include "fatal.h"
#include "finish.h"
#include "progress.h"
#include "state.h"

typedef struct {
    abtmpi_wait wait; /* the first member: the engine knows only that */
    void (*function)(void *argument);
    void *argument;
    ABT_pool pool;
    MPI_Status *statuses; /* the program's */
    int count;
    MPI_Request *requests; /* copies, behind the parts */
    abtmpi_part parts[];   /* of those that were not done when it was made, the others behind them */
} continuation;

static void continue_call(continuation *c)
{
    void (*function)(void *) = c->function;
    void *argument = c->argument;

    free(c);
    function(argument);
}

/* A ULT: all requests are done. */
static void continue_run(void *arg)
{
    static const abtmpi_fatal_call call = {"ABTMPI_Continue", MPI_COMM_NULL, MPI_PROC_NULL, 0};
    continuation *c = arg;

    for (int i = 0; i < c->count; i++) {
        const abtmpi_part *part = &c->parts[i];
        int code = part->is_done ? part->code : c->wait.code;
        if (part->code != MPI_SUCCESS)
            abtmpi_fatal_end(call, part->code);
        if (c->statuses == MPI_STATUSES_IGNORE)
            continue;
        c->statuses[part->request - c->requests] = part->status;
        c->statuses[part->request - c->requests].MPI_ERROR = code;
    }
    continue_call(c);
}

/* A ULT that waits, for handlers of the program to run on its stack. */
static void continue_wait(void *arg)
{
    continuation *c = arg;

    for (int i = 0; c->statuses != MPI_STATUSES_IGNORE && i < c->count; i++)
        c->statuses[i].MPI_ERROR = MPI_SUCCESS;
    PMPI_Waitall(c->count, c->requests, c->statuses);
    continue_call(c);
}

static bool continue_begin(abtmpi_wait *wait)
{
    continuation *c = (continuation *)wait;
    return ABT_thread_create(c->pool, continue_run, c, ABT_THREAD_ATTR_NULL, NULL) == ABT_SUCCESS;
}

static continuation *continue_create(int count, const MPI_Request requests[])
{
    continuation *c = malloc(sizeof(*c) + (size_t)count * (sizeof(c->parts[0]) + sizeof(MPI_Request)));

    if (!c)
        return NULL;
    c->count = count;
    c->requests = (MPI_Request *)&c->parts[count];
    for (int i = 0; i < count; i++)
        c->requests[i] = requests[i];
    return c;
}

/* The requests that are not done become the first parts. Returns how many there are. */
static int continue_test(continuation *c)
{
    int left = 0, end = c->count;

    for (int i = 0; i < c->count; i++) {
        abtmpi_part part = {.request = &c->requests[i]};
        int found = 0;
        part.code = abtmpi_fatal_code(abtmpi_real.Test(part.request, &found, &part.status));
        part.is_done = found || part.code != MPI_SUCCESS;
        c->parts[part.is_done ? --end : left++] = part;
    }
    return left;
}

/* Hands the continuation over. False: it has not been. */
static bool continue_hand_over(continuation *c)
{
    if (abtmpi_handler_is_own())
        return ABT_thread_create(c->pool, continue_wait, c, ABT_THREAD_ATTR_NULL, NULL) == ABT_SUCCESS;
    int left = continue_test(c);
    c->wait = (abtmpi_wait){.call = "ABTMPI_Continue", .parts = c->parts, .num = left, .left = left};
    c->wait.begin = continue_begin;
    return left == 0 ? continue_begin(&c->wait) : abtmpi_progress_hand_in(&c->wait);
}

int ABTMPI_Continueall(int count, MPI_Request requests[], void (*function)(void *argument), void *argument,
                       ABT_pool pool, MPI_Status statuses[])
{
    if (count < 0 || !function || pool == ABT_POOL_NULL)
        return MPI_ERR_ARG;
    if (!abtmpi_enter())
        return MPI_ERR_OTHER;
    bool before = abtmpi_cancel_put_off();
    int code = MPI_ERR_NO_MEM;
    continuation *c = continue_create(count, requests);
    if (c) {
        c->function = function;
        c->argument = argument;
        c->pool = pool;
        c->statuses = statuses;
        const MPI_Request *copies = c->requests;
        bool is_handed_over = continue_hand_over(c); /* from then on c may be gone */
        for (int i = 0; i < count; i++)
            requests[i] = is_handed_over ? MPI_REQUEST_NULL : copies[i];
        if (!is_handed_over)
            free(c);
        code = is_handed_over ? MPI_SUCCESS : MPI_ERR_OTHER;
    }
    abtmpi_leave(MPI_SUCCESS);
    abtmpi_cancel_allow(before);
    return code;
}

int ABTMPI_Continue(MPI_Request *request, void (*function)(void *argument), void *argument, ABT_pool pool,
                    MPI_Status *status)
{
    MPI_Status *statuses = status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status;
    return ABTMPI_Continueall(1, request, function, argument, pool, statuses);
}
