/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N-Queens: queens SIZE DEPTH. Each placement in the first DEPTH rows is a ULT, which its creator joins; below it the
 * rows are searched by calls. Compiled for libabt directly (DIRECT), header-only (FASTGLT) and with the shared library.
 */
#ifdef DIRECT
#include "direct.h"
#else
#include <glt.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 16 };

struct board {
    int row;
    signed char column[MAX_SIZE]; /* of the queen in each row above */
    long solutions;
};

static int size, depth;

static int is_free(const struct board *board, int column)
{
    for (int row = 0; row < board->row; row++) {
        int distance = board->row - row;
        if (board->column[row] == column || abs(board->column[row] - column) == distance)
            return 0;
    }
    return 1;
}

static long count(struct board *board)
{
    long solutions = 0;

    if (board->row == size)
        return 1;
    for (int column = 0; column < size; column++) {
        if (!is_free(board, column))
            continue;
        board->column[board->row++] = (signed char)column;
        solutions += count(board);
        board->row--;
    }
    return solutions;
}

static void search(void *arg)
{
    struct board *board = arg, next[MAX_SIZE];
    GLT_ult ults[MAX_SIZE];
    int number = 0, here = glt_get_thread_num();

    if (board->row >= depth) {
        board->solutions = count(board);
        return;
    }
    for (int column = 0; column < size; column++) {
        if (!is_free(board, column))
            continue;
        next[number] = *board;
        next[number].column[next[number].row++] = (signed char)column;
        glt_ult_create_to(search, &next[number], &ults[number],
                          board->row == 0 ? column % glt_get_num_threads() : here);
        number++;
    }
    for (int i = 0; i < number; i++) {
        glt_ult_join(&ults[i]);
        board->solutions += next[i].solutions;
    }
}

int main(int argc, char **argv)
{
    struct board board;

    memset(&board, 0, sizeof(board));
    size = argc > 1 ? atoi(argv[1]) : 10;
    depth = argc > 2 ? atoi(argv[2]) : 3;
    if (size < 1 || size > MAX_SIZE)
        return 2;
    glt_init(argc, argv);
    double begin = glt_get_wtime();
    search(&board);
    printf("%ld solutions, %.6f s\n", board.solutions, glt_get_wtime() - begin);
    glt_finalize();
    return 0;
}
