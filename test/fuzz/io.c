/* SPDX-License-Identifier: BSD-3-Clause */
/* Input and output by libabtio. */
#include <errno.h>
#include <sys/socket.h>

#include "abtio.h"
#include "world.h"

static bool is_begun; /* in this round */

bool io_begin(struct rng *rng)
{
    is_begun = one_in(rng, 2);
    if (is_begun)
        expect(abtio_init(NULL) == 0);
    return is_begun;
}

void io_end(void)
{
    if (is_begun)
        expect(abtio_finalize() == 0);
}

enum { SIZE = 100 };

struct talk {
    int fds[2];
    int num;
};

static void talker_live(struct actor *actor, void *arg)
{
    struct talk *talk = arg;
    char message[SIZE];

    for (int i = 0; i < talk->num; i++) {
        memset(message, i, SIZE);
        if (chance(actor, 2))
            relax(actor);
        expect(abtio_write_all(talk->fds[1], message, SIZE, ABTIO_FOREVER) == SIZE);
    }
}

/* A read that is late, or is cancelled. */
static void read_in_vain(struct actor *actor, int fd)
{
    char byte;
    abtio_op *op;

    if (chance(actor, 2)) {
        expect(abtio_read(fd, &byte, 1, abtio_after((int64_t)dice(actor, 1000000))) == -ETIMEDOUT);
        return;
    }
    expect(abtio_read_nb(fd, &byte, 1, ABTIO_FOREVER, &op) == 0);
    if (chance(actor, 2))
        relax(actor);
    expect(abtio_cancel(op) == 0);
    expect(abtio_op_wait(op) == -ECANCELED);
    abtio_op_free(&op);
}

static void read_next(struct actor *actor, struct talk *talk, int number)
{
    char message[SIZE];
    ssize_t got;
    abtio_op *op;

    if (chance(actor, 2)) {
        got = abtio_read_all(talk->fds[0], message, SIZE, ABTIO_FOREVER);
    } else {
        expect(abtio_recv_all_nb(talk->fds[0], message, SIZE, 0, ABTIO_FOREVER, &op) == 0);
        if (chance(actor, 2))
            relax(actor);
        got = abtio_op_wait(op);
        abtio_op_free(&op);
    }
    if (got != SIZE)
        fuzz_fail("a read gives %zd", got);
    expect(message[0] == number && message[SIZE - 1] == number);
}

static void talk_take(struct actor *actor)
{
    struct talk talk = {.num = 1 + (int)dice(actor, 5)};
    struct crew crew = {0};

    if (!is_begun)
        return;
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, talk.fds) == 0);
    if (chance(actor, 2))
        read_in_vain(actor, talk.fds[0]);
    crew_add(actor, &crew, talker_live, &talk, NATIVES);
    for (int i = 0; i < talk.num; i++)
        read_next(actor, &talk, i);
    crew_join(actor, &crew);
    expect(abtio_close(talk.fds[0], ABTIO_FOREVER) == 0);
    expect(abtio_close(talk.fds[1], ABTIO_FOREVER) == 0);
}

static ssize_t blocking_call(void *arg)
{
    return *(int *)arg;
}

/* Calls that helpers make, and sleeps. */
static void helper_take(struct actor *actor)
{
    int answer = (int)dice(actor, 1000);

    if (!is_begun)
        return;
    expect(abtio_blocking(blocking_call, &answer, ABTIO_FOREVER) == answer);
    expect(abtio_sleep((int64_t)dice(actor, 1000000), ABTIO_FOREVER) == 0);
}

const struct step io_steps[] = {
    {"talk", talk_take, 0},
    {"helper", helper_take, 0},
    {NULL, NULL, 0},
};
