/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does one ULT have several operations under way? By the forms of the calls that end in _nb: they start the
 * operation and give a handle, to wait for it, to look at it, to cancel it, and to free.
 *
 *   cc io_operations.c $(pkg-config --cflags --libs abtio argobots) -o io_operations
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { READ, POLL, SLEEP, OPERATIONS };

static ssize_t computes(void *arg)
{
    usleep(1000);
    return *(int *)arg + 1;
}

/* Which of a read, a poll and a sleep is done first. */
static int race(const int *quiet, const int *loud, char *byte)
{
    abtio_op *ops[OPERATIONS];
    ssize_t result = 0;
    int first, is_done, cancelled;

    if (abtio_read_nb(quiet[0], byte, 1, ABTIO_FOREVER, &ops[READ]) != 0 ||
        abtio_poll_nb(loud[0], POLLIN, ABTIO_FOREVER, &ops[POLL]) != 0 ||
        abtio_sleep_nb((int64_t)3600 * 1000000000, ABTIO_FOREVER, &ops[SLEEP]) != 0)
        return -1;
    is_done = abtio_op_test(ops[READ], &result); /* 0: nobody has written; does not wait */
    if (write(loud[1], "x", 1) != 1)
        return -1;
    first = abtio_op_wait_any(OPERATIONS, ops, abtio_after((int64_t)60 * 1000000000));
    /* The byte belonged to the read until now; when the cancel returns it is ours again. */
    cancelled = abtio_cancel(ops[READ]);
    result = abtio_op_wait(ops[READ]);
    printf("first: %d; the read was done before: %d, and cancelled: %s\n", first, is_done,
           cancelled == 0 && result == -ECANCELED ? "yes" : "no");
    for (int i = 0; i < OPERATIONS; i++)
        abtio_op_free(&ops[i]); /* cancels the sleep: it has an hour to go */
    return first == POLL && !is_done && cancelled == 0 && result == -ECANCELED ? 0 : -1;
}

/* A look-up and a call of foreign code side by side. */
static int side_by_side(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_NUMERICHOST}, *list = NULL;
    abtio_op *look_up, *call;
    int number = 41;
    ssize_t found, answer;

    if (abtio_getaddrinfo_nb("127.0.0.1", "80", &hints, &list, ABTIO_FOREVER, &look_up) != 0 ||
        abtio_blocking_nb(computes, &number, ABTIO_FOREVER, &call) != 0)
        return -1;
    answer = abtio_op_wait(call);
    found = abtio_op_wait(look_up);
    abtio_op_free(&call);
    abtio_op_free(&look_up);
    if (list)
        freeaddrinfo(list);
    printf("the answer is %d, the name was found: %s\n", (int)answer, found == 0 ? "yes" : "no");
    return answer == 42 && found == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    int quiet[2], loud[2], wrong;
    char byte;

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0 || pipe(quiet) != 0 || pipe(loud) != 0)
        return 1;
    wrong = race(quiet, loud, &byte) | side_by_side();
    for (int i = 0; i < 2; i++) {
        close(quiet[i]);
        close(loud[i]);
    }
    abtio_finalize();
    ABT_finalize();
    return wrong != 0;
}
