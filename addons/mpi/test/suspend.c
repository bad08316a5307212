/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT that waits for a message lets the others of its stream run: a token goes through all ULTs of two processes,
 * each with one stream, and those that get it last wait first; then messages in order and in any order.
 */
#include "job.h"

enum { ULTS = 64, MESSAGES = ULTS * 6, TAG_CHAIN = 1000 };

static int received;

/* The token goes from ULT i of rank 0 to ULT i of rank 1, and on to ULT i - 1 of rank 0. */
static void chain(void *arg)
{
    int i = *(int *)arg, token = 0;

    if (job_rank == 1 || i < ULTS - 1)
        MPI_Recv(&token, 1, MPI_INT, 1 - job_rank, TAG_CHAIN + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received++;
    token++;
    if (job_rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, TAG_CHAIN + i, MPI_COMM_WORLD);
    else if (i > 0)
        MPI_Send(&token, 1, MPI_INT, 0, TAG_CHAIN + i - 1, MPI_COMM_WORLD);
    else
        is_int(token, 2 * ULTS, "the token has been everywhere");
}

static void answer(void *arg)
{
    int i = *(int *)arg, value;

    for (int n = 0; n < MESSAGES / ULTS; n++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, &status);
        if (status.MPI_SOURCE != 0 || status.MPI_TAG != i)
            fail("a status of another message");
        value++;
        MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
}

static void ask(int to, int number)
{
    int value = number;

    MPI_Send(&value, 1, MPI_INT, 1, to, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, to, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received += value == number + 1;
}

/* Rank 0 asks one ULT after the other; with shuffled the order is any. */
static void ping_pong(int *numbers, bool shuffled)
{
    static int order[MESSAGES];

    if (job_rank == 1) {
        job_run(ULTS, answer, numbers, sizeof(*numbers));
        return;
    }
    received = 0;
    for (int i = 0; i < MESSAGES; i++)
        order[i] = i % ULTS;
    for (int i = MESSAGES - 1; shuffled && i > 0; i--) {
        int j = rand() % (i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (int i = 0; i < MESSAGES; i++)
        ask(order[i], i);
    is_int(received, MESSAGES, "all are answered, %s", shuffled ? "in any order" : "in order");
}

int main(int argc, char **argv)
{
    int numbers[ULTS], provided;

    job_begin("2");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    job_know();
    is_int(provided, MPI_THREAD_MULTIPLE, "the level is raised");
    ABT_init(argc, argv);
    for (int i = 0; i < ULTS; i++)
        numbers[i] = i;
    job_run(ULTS, chain, numbers, sizeof(numbers[0]));
    is_int(received, ULTS, "each ULT has had the token");
    ping_pong(numbers, false);
    ping_pong(numbers, true);
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
