/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do tasks fork each other, and what if they have no result? They are declared first and defined then, as functions
 * are. Here two players search a game; and an area is filled by cutting it along, across, along ...
 *
 *   cc fork_mutual.c $(pkg-config --cflags --libs argobots) -o fork_mutual
 */
#include <abt_fork.h>
#include <stdio.h>

enum { STREAMS = 2, MATCHES = 18, EDGE = 128, SMALL = 8 };

struct area {
    int top, left, bottom, right;
};

static int cells[EDGE][EDGE];

/* Players take one or two matches in turn; who takes the last one wins. 1: the first player wins, -1: the other. */
ABTX_TASK_DECLARE(int, first_moves, (int, matches));
ABTX_TASK_DECLARE(int, second_moves, (int, matches));

ABTX_TASK_DEFINE(int, first_moves, (int, matches))
{
    int one, two;
    if (matches <= 1)
        return matches == 1 ? 1 : -1; /* none are left: the other has taken the last one */
    ABTX_FORK(second_moves, take_one, matches - 1);
    two = ABTX_CALL(second_moves, matches - 2);
    one = ABTX_JOIN(second_moves, take_one);
    return one > two ? one : two; /* it takes what is best for it */
}

ABTX_TASK_DEFINE(int, second_moves, (int, matches))
{
    int one, two;
    if (matches <= 1)
        return matches == 1 ? -1 : 1;
    ABTX_FORK(first_moves, take_one, matches - 1);
    two = ABTX_CALL(first_moves, matches - 2);
    one = ABTX_JOIN(first_moves, take_one);
    return one < two ? one : two;
}

/* Tasks without a result. */
ABTX_VOID_TASK(fill, (struct area, area))
{
    for (int row = area.top; row < area.bottom; row++)
        for (int column = area.left; column < area.right; column++)
            cells[row][column]++;
}

ABTX_VOID_TASK_DECLARE(cut_along, (struct area, area));
ABTX_VOID_TASK_DECLARE(cut_across, (struct area, area));

ABTX_VOID_TASK_DEFINE(cut_along, (struct area, area))
{
    struct area upper = area, lower = area;
    upper.bottom = lower.top = (area.top + area.bottom) / 2;
    ABTX_FORK(cut_across, later, lower);
    ABTX_CALL(cut_across, upper);
    ABTX_JOIN(cut_across, later);
}

ABTX_VOID_TASK_DEFINE(cut_across, (struct area, area))
{
    struct area left = area, right = area;
    left.right = right.left = (area.left + area.right) / 2;
    if (area.right - area.left <= SMALL) {
        ABTX_CALL(fill, area);
        return;
    }
    ABTX_FORK(cut_along, later, right);
    ABTX_CALL(cut_along, left);
    ABTX_JOIN(cut_along, later);
}

int main(int argc, char **argv)
{
    const struct area whole = {0, 0, EDGE, EDGE};
    ABT_xstream streams[STREAMS];
    int lost, won, wrong = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    ABT_xstream_create(ABT_SCHED_NULL, &streams[1]);
    ABTX_fork_start(STREAMS, streams);
    lost = ABTX_RUN(first_moves, MATCHES); /* a multiple of three */
    won = ABTX_RUN(first_moves, MATCHES + 1);
    ABTX_RUN(cut_along, whole);
    ABT_xstream_free(&streams[1]);
    ABT_finalize();
    for (int row = 0; row < EDGE; row++)
        for (int column = 0; column < EDGE; column++)
            wrong += cells[row][column] != 1;
    printf("%d matches: %s, %d matches: %s; cells not filled once: %d\n", MATCHES, lost < 0 ? "lost" : "won",
           MATCHES + 1, won > 0 ? "won" : "lost", wrong);
    return lost != -1 || won != 1 || wrong;
}
