/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I run a parallel loop inside of a parallel loop? Loops nest. None makes more tasks than streams wait for, so
 * that a call from a parallel program into a parallel library does no harm.
 *
 *   cc nested.c $(pkg-config --cflags --libs argobots) -o nested
 */
#include <abt_fork.h>
#include <stdio.h>

enum { STREAMS = 2, ROWS = 300, COLUMNS = 1000 };

static float matrix[ROWS][COLUMNS];

/* The library's part: a loop over the elements of a row, which knows nothing of its caller. */
static void add_one(ptrdiff_t begin, ptrdiff_t end, void *row)
{
    for (ptrdiff_t i = begin; i < end; i++)
        ((float *)row)[i] += 1;
}

static void add_one_to_row(float *row)
{
    abtx_for(0, COLUMNS, 100, add_one, row); /* parts of at most 100 elements */
}

/* The program's part: a loop over rows. */
static void each_row(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    (void)arg;
    for (ptrdiff_t i = begin; i < end; i++)
        add_one_to_row(matrix[i]);
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    double sum = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    ABTX_fork_start(STREAMS, streams);
    abtx_for(0, ROWS, 1, each_row, NULL);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    ABT_finalize();
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            sum += matrix[i][k];
    printf("%.0f\n", sum);
    return sum != ROWS * COLUMNS;
}
