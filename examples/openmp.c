/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler's OpenMP on three of the jobs, to compare with: the same algorithms, cut into the same units. */
#include "team.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "xs_grid.h"

enum { ROWS = 1000, COLUMNS = 1000, SWEEPS = 50, MAX_QUEENS = 16 };

static float matrix[ROWS][COLUMNS];
static int queens;

/* nested.c */
static void sweep(void)
{
    int num_threads = omp_get_max_threads();
#pragma omp parallel for num_threads(num_threads)
    for (int i = 0; i < ROWS; i++) {
#pragma omp parallel for num_threads(num_threads)
        for (int j = 0; j < COLUMNS; j++)
            matrix[i][j] += 1;
    }
}

/* nqueens.c, where each placement is a task */
static long solve(int row, unsigned columns, unsigned left, unsigned right)
{
    long solutions[MAX_QUEENS], sum = row == queens;
    int num = 0;

    for (unsigned open = ~(columns | left | right) & ((1u << queens) - 1); row < queens && open; open &= open - 1) {
        unsigned column = open & -open;
        long *result = &solutions[num++];
#pragma omp task firstprivate(column, result)
        *result = solve(row + 1, columns | column, (left | column) << 1, (right | column) >> 1);
    }
#pragma omp taskwait
    while (num-- > 0)
        sum += solutions[num];
    return sum;
}

static void run_nested(char *answer, size_t size)
{
    double sum = 0;
    for (int i = 0; i < SWEEPS; i++)
        sweep();
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += matrix[i / COLUMNS][i % COLUMNS];
    snprintf(answer, size, "%.0f", sum);
}

static void run_queens(char *answer, size_t size)
{
    long solutions = 0;
#pragma omp parallel
#pragma omp single
    solutions = solve(0, 0, 0, 0);
    snprintf(answer, size, "%ld", solutions);
}

/* xs.c, where each few lookups are an iteration */
static void run_lookups(char *answer, size_t size)
{
    enum { PER_UNIT = 32 };
    struct xs_lookup *sorted = team_alloc(XS_LOOKUPS * sizeof(*sorted));
    unsigned long sum = 0;
    xs_sort(sorted, 4096);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < XS_LOOKUPS; i += PER_UNIT)
        sum += xs_do(&sorted[i], PER_UNIT);
    snprintf(answer, size, "%lu", sum);
}

int main(int argc, char **argv)
{
    char job[64], answer[32];
    int is_xs = argc == 2 && strcmp(argv[1], "xs") == 0;

    queens = argc > 1 ? atoi(argv[1]) : 0;
    if (argc > 2 || queens < 0 || queens > MAX_QUEENS) {
        fprintf(stderr, "usage: %s [queens | xs]\n       (without an argument: nested loops)\n", argv[0]);
        return 2;
    }
    if (is_xs)
        xs_make();
    snprintf(job, sizeof(job),
             is_xs        ? "OpenMP lookups in 4096 bands"
             : queens > 0 ? "OpenMP N-Queens %d"
                          : "OpenMP nested loops",
             queens);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i / COLUMNS][i % COLUMNS] = (float)i;
    omp_set_max_active_levels(2);

    double seconds = team_seconds();
    if (is_xs)
        run_lookups(answer, sizeof(answer));
    else if (queens > 0)
        run_queens(answer, sizeof(answer));
    else
        run_nested(answer, sizeof(answer));
    seconds = team_seconds() - seconds;
    return team_report(&(struct report){job, answer, is_xs ? XS_CHECKSUM : NULL, 0, seconds});
}
