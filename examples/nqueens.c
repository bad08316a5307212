/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N-Queens: in how many ways can n queens stand on an n x n board so that none attacks another? The classic fork-join
 * program: each placement of a queen is a ULT, which creates a ULT for each placement that is possible in the next
 * row, joins them and adds up what they found. Below a cutoff row it may go on with plain recursion instead.
 */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_QUEENS = 16 };

/* A board with queens in the first rows. A bit of the masks is a column of the next row that is under attack. */
struct board {
    int row;
    unsigned columns, left, right;
    long solutions; /* filled in by the ULT */
    long placements;
};

static const char *const published[MAX_QUEENS + 1] = {"-",     "1",     "0",      "0",       "2",       "10",
                                                      "4",     "40",    "92",     "352",     "724",     "2680",
                                                      "14200", "73712", "365596", "2279184", "14772512"};

static struct team team;
static int queens = 10;
static int cutoff = MAX_QUEENS; /* from this row on no ULTs are made */

static unsigned free_columns(const struct board *board)
{
    return ~(board->columns | board->left | board->right) & ((1u << queens) - 1);
}

static void place_queen(const struct board *board, unsigned column, struct board *next)
{
    next->row = board->row + 1;
    next->columns = board->columns | column;
    next->left = (board->left | column) << 1;
    next->right = (board->right | column) >> 1;
    next->solutions = next->row == queens;
    next->placements = 1;
}

static void solve_sequentially(struct board *board)
{
    struct board next;
    for (unsigned columns = free_columns(board); board->row < queens && columns != 0; columns &= columns - 1) {
        place_queen(board, columns & -columns, &next);
        solve_sequentially(&next);
        board->solutions += next.solutions;
    }
}

/* The body of a ULT. */
static void solve(void *arg)
{
    struct board *board = arg, next[MAX_QUEENS];
    ABT_thread ults[MAX_QUEENS];
    int num = 0;

    if (board->row >= cutoff) {
        solve_sequentially(board);
        return;
    }
    for (unsigned columns = free_columns(board); board->row < queens && columns != 0; columns &= columns - 1) {
        place_queen(board, columns & -columns, &next[num]);
        /* The first placements are dealt out to all streams, the others stay on the stream where they were made. */
        ABT_pool pool = board->row == 0 ? team_pool_for(&team, num) : team_pool(&team);
        CHECK(ABT_thread_create(pool, solve, &next[num], ABT_THREAD_ATTR_NULL, &ults[num]));
        num++;
    }
    /* Newest first: that is the order in which this stream takes them from a RANDWS pool. */
    while (num-- > 0) {
        CHECK(ABT_thread_free(&ults[num])); /* waits for it first */
        board->solutions += next[num].solutions;
        board->placements += next[num].placements;
    }
}

static int handle_option(int option, const char *value)
{
    if (option == 'n')
        queens = atoi(value);
    else
        cutoff = atoi(value);
    return queens < 1 || queens > MAX_QUEENS || cutoff < 0;
}

int main(int argc, char **argv)
{
    struct team_config config;
    struct board empty = {0, 0, 0, 0, 0, 0};
    char job[32], answer[32];
    ABT_thread root;

    team_options(argc, argv, &config, "n:c:", "[-n queens] [-c cutoff row]", handle_option);
    team_start(&team, &config);
    double seconds = team_seconds();
    if (config.num_streams > 0) {
        CHECK(ABT_thread_create(team_pool_for(&team, 0), solve, &empty, ABT_THREAD_ATTR_NULL, &root));
        CHECK(ABT_thread_free(&root));
    } else {
        solve_sequentially(&empty);
    }
    seconds = team_seconds() - seconds;
    team_stop(&team);

    snprintf(job, sizeof(job), "N-Queens %d", queens);
    snprintf(answer, sizeof(answer), "%ld", empty.solutions);
    return team_report(&(struct report){job, answer, published[queens], empty.placements, seconds});
}
