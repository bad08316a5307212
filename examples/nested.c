/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nested parallel loops: v[i][j] += 1 for 1000 x 1000 elements, where both the loop over i and the loop over j are
 * parallel, as when a parallel program calls a parallel library. Each i is a ULT, since it has to wait for its inner
 * loop; the inner loop is cut into tasklets, which never wait and so need no stack. See openmp.c for the same in
 * OpenMP.
 */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLUMNS = 1000, SWEEPS = 50, MAX_PARTS = 64 };

struct part {
    float *begin, *end;
};

static float matrix[ROWS][COLUMNS];
static struct team team;
static int num_parts; /* of an inner loop */

/* The body of a tasklet. */
static void add_to_part(void *arg)
{
    const struct part *part = arg;
    for (float *v = part->begin; v < part->end; v++)
        *v += 1;
}

/* The body of a ULT. */
static void add_to_row(void *arg)
{
    float *row = arg;
    struct part parts[MAX_PARTS];
    ABT_task tasks[MAX_PARTS];

    for (int i = 0; i < num_parts; i++) {
        parts[i] = (struct part){row + i * COLUMNS / num_parts, row + (i + 1) * COLUMNS / num_parts};
        CHECK(ABT_task_create(team_pool(&team), add_to_part, &parts[i], &tasks[i]));
    }
    for (int i = num_parts - 1; i >= 0; i--)
        CHECK(ABT_task_free(&tasks[i])); /* waits for it first */
}

static void sweep_in_parallel(void)
{
    static ABT_thread ults[ROWS];
    for (int i = 0; i < ROWS; i++)
        CHECK(ABT_thread_create(team_pool_for(&team, i), add_to_row, matrix[i], ABT_THREAD_ATTR_NULL, &ults[i]));
    for (int i = ROWS - 1; i >= 0; i--)
        CHECK(ABT_thread_free(&ults[i]));
}

static void sweep_sequentially(void)
{
    add_to_part(&(struct part){matrix[0], matrix[0] + ROWS * COLUMNS});
}

static int handle_option(int option, const char *value)
{
    (void)option;
    num_parts = atoi(value);
    return num_parts < 1 || num_parts > MAX_PARTS;
}

int main(int argc, char **argv)
{
    struct team_config config;
    char answer[32];
    double sum = 0;

    num_parts = team_num_cores() < MAX_PARTS ? team_num_cores() : MAX_PARTS;
    team_options(argc, argv, &config, "k:", "[-k parts of an inner loop]", handle_option);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i / COLUMNS][i % COLUMNS] = (float)i;

    team_start(&team, &config);
    double seconds = team_seconds();
    for (int i = 0; i < SWEEPS; i++) {
        if (config.num_streams > 0)
            sweep_in_parallel();
        else
            sweep_sequentially();
    }
    seconds = team_seconds() - seconds;
    team_stop(&team);

    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += matrix[i / COLUMNS][i % COLUMNS];
    snprintf(answer, sizeof(answer), "%.0f", sum);
    /* The numbers 0 to 999999 and, for each of them, 1 in each sweep. */
    return team_report(
        &(struct report){"nested loops", answer, "500049500000", SWEEPS * ROWS * (1L + num_parts), seconds});
}
