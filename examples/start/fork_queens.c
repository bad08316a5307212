/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I fork a number of tasks that I know only when I run? By a loop: it makes tasks as idle streams want them.
 *
 *   cc fork_queens.c $(pkg-config --cflags --libs argobots) -o fork_queens
 */
#include <abt_fork.h>
#include <stdio.h>

enum { STREAMS = 2, QUEENS = 10 };

/* Queens in the first rows, by bits: the columns they stand in, and the diagonals, moved down to the next row. */
struct board {
    int row;
    unsigned columns, left, right;
};

static void try_columns(ptrdiff_t begin, ptrdiff_t end, void *solutions, void *arg);

static void add(void *left, const void *right, void *arg)
{
    (void)arg;
    *(long *)left += *(const long *)right;
}

static void place_rest(struct board *board, long *solutions)
{
    static const long none;
    struct abtx_reduction how = {sizeof(long), &none, try_columns, add, board};

    if (board->row == QUEENS)
        ++*solutions;
    else if (board->row < 3) /* below, there are too few boards to be worth a task */
        abtx_reduce(0, QUEENS, 1, &how, solutions);
    else
        try_columns(0, QUEENS, solutions, board);
}

/* Puts the next queen into each of these columns, where it may stand, and counts the solutions. */
static void try_columns(ptrdiff_t begin, ptrdiff_t end, void *solutions, void *arg)
{
    const struct board *board = arg;

    for (ptrdiff_t column = begin; column < end; column++) {
        unsigned queen = 1u << column;
        if (queen & (board->columns | board->left | board->right))
            continue;
        struct board next = {board->row + 1, board->columns | queen, (board->left | queen) << 1,
                             (board->right | queen) >> 1};
        place_rest(&next, solutions);
    }
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    struct board empty = {0, 0, 0, 0};
    long solutions = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    ABTX_fork_start(STREAMS, streams);
    place_rest(&empty, &solutions);
    printf("%ld solutions for %d queens\n", solutions, QUEENS);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    ABT_finalize();
    return solutions != 724;
}
