/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire.h. The tag of a message on the wire says for which process it is, too. */
#include "wire.h"

#include "team.h"

#include <stdlib.h>
#include <time.h>

enum { NAP_NS = 1000 };

struct parcel {
    struct parcel *next;
    double due;
    int num, tag;
    MPI_Request sending;
    double values[];
};

/* Oldest first: all are under way for the same time. */
struct queue {
    struct parcel *first, **last;
};

static int wire, tags;

void wire_prepare(int num_ranks, int num_tags)
{
    wire = num_ranks;
    tags = num_tags;
}

void wire_send(const double *values, int num, int to, int tag, MPI_Request *request)
{
    MPI_Isend(values, num, MPI_DOUBLE, wire, to * tags + tag, MPI_COMM_WORLD, request);
}

void wire_receive(double *values, int num, int rank, int tag)
{
    MPI_Recv(values, num, MPI_DOUBLE, wire, rank * tags + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void wire_end(void)
{
    MPI_Send(NULL, 0, MPI_DOUBLE, wire, wire * tags, MPI_COMM_WORLD);
}

static void append(struct queue *queue, struct parcel *parcel)
{
    parcel->next = NULL;
    *queue->last = parcel;
    queue->last = &parcel->next;
}

static struct parcel *remove_first(struct queue *queue)
{
    struct parcel *parcel = queue->first;

    queue->first = parcel->next;
    if (!queue->first)
        queue->last = &queue->first;
    return parcel;
}

/* Takes a message if one is there. */
static struct parcel *accept_one(double delay_s, int max_num)
{
    struct parcel *parcel;
    MPI_Status status;
    int is_there;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (!is_there)
        return NULL;
    parcel = team_alloc(sizeof(*parcel) + (size_t)max_num * sizeof(double));
    MPI_Recv(parcel->values, max_num, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &parcel->num);
    parcel->tag = status.MPI_TAG;
    parcel->due = team_seconds() + delay_s;
    return parcel;
}

void wire_run(double delay_s, int max_num)
{
    const struct timespec nap = {0, NAP_NS};
    struct queue waiting = {NULL, &waiting.first}, leaving = {NULL, &leaving.first};
    int has_ended = 0, is_sent;

    while (!has_ended || waiting.first || leaving.first) {
        struct parcel *parcel = accept_one(delay_s, max_num);
        if (parcel && parcel->tag == wire * tags) {
            has_ended = 1;
            free(parcel);
        } else if (parcel) {
            append(&waiting, parcel);
        } else if (waiting.first && waiting.first->due <= team_seconds()) {
            parcel = remove_first(&waiting);
            MPI_Isend(parcel->values, parcel->num, MPI_DOUBLE, parcel->tag / tags, parcel->tag, MPI_COMM_WORLD,
                      &parcel->sending);
            append(&leaving, parcel);
        } else if (leaving.first && (MPI_Test(&leaving.first->sending, &is_sent, MPI_STATUS_IGNORE), is_sent)) {
            free(remove_first(&leaving));
        } else {
            nanosleep(&nap, NULL);
        }
    }
}
