/* SPDX-License-Identifier: BSD-3-Clause */
/* N-Queens as a user of GLT writes it: a ULT for each placement in the first rows, joined and never freed otherwise. C
 * and C++. */
#include <glt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 9
#define ROWS_OF_ULTS 3

typedef struct {
    int row, column[SIZE];
    long solutions;
} board_t;

static int is_safe(const board_t *board, int column)
{
    int row;
    for (row = 0; row < board->row; row++) {
        int difference = board->column[row] - column, distance = board->row - row;
        if (difference == 0 || difference == distance || difference == -distance)
            return 0;
    }
    return 1;
}

static void place(void *arg)
{
    board_t *board = (board_t *)arg;
    board_t *next;
    GLT_ult *ults;
    int column, number = 0, i;

    if (board->row == SIZE) {
        board->solutions = 1;
        return;
    }
    next = (board_t *)malloc(SIZE * sizeof(board_t));
    ults = glt_ult_malloc(SIZE);
    for (column = 0; column < SIZE; column++) {
        if (!is_safe(board, column))
            continue;
        next[number] = *board;
        next[number].solutions = 0;
        next[number].column[next[number].row++] = column;
        if (board->row < ROWS_OF_ULTS)
            glt_ult_create_to(place, &next[number], &ults[number], number % glt_get_num_threads());
        else
            place(&next[number]);
        number++;
    }
    for (i = 0; i < number; i++) {
        if (board->row < ROWS_OF_ULTS)
            glt_ult_join(&ults[i]);
        board->solutions += next[i].solutions;
    }
    free(ults);
    free(next);
}

int main(int argc, char **argv)
{
    board_t board;
    GLT_timer timer;
    double seconds;

    memset(&board, 0, sizeof(board));
    glt_init(argc, argv);
    glt_timer_create(&timer);
    glt_timer_start(timer);
    place(&board);
    glt_timer_stop(timer);
    glt_timer_get_secs(timer, &seconds);
    glt_timer_free(&timer);
    printf("%ld solutions by %d threads in %f s\n", board.solutions, glt_get_num_threads(), seconds);
    glt_finalize();
    return board.solutions == 352 ? 0 : 1;
}
