/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cross-section lookups (xs_grid.h) by energy: a unit for each few of them. In random order each lookup reads parts of
 * the tables that no other needs soon. Sorted into bands of energy first, units that run one after the other read the
 * same parts, and each stream has bands of its own, which are next to each other. doc/guide/by-energy.md has figures.
 */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include "xs_grid.h"

enum { PER_UNIT = 32, UNITS = XS_LOOKUPS / PER_UNIT };

struct unit {
    const struct xs_lookup *lookups;
    unsigned long sum;
    ABT_task task;
};

static struct team team;
static int num_bands = 4096;

/* The body of a tasklet: lookups never wait. */
static void look_up(void *arg)
{
    struct unit *unit = arg;
    unit->sum = xs_do(unit->lookups, PER_UNIT);
}

/* Each stream gets units of neighbouring energies. */
static void look_up_in_parallel(struct unit *units)
{
    for (int i = 0; i < UNITS; i++) {
        ABT_pool pool = team_pool_for(&team, (int)((long)i * team.num_streams / UNITS));
        CHECK(ABT_task_create(pool, look_up, &units[i], &units[i].task));
    }
    for (int i = 0; i < UNITS; i++)
        CHECK(ABT_task_free(&units[i].task)); /* waits for it first */
}

static int handle_option(int option, const char *value)
{
    (void)option;
    num_bands = atoi(value);
    return num_bands < 0;
}

int main(int argc, char **argv)
{
    struct team_config config;
    char job[64], answer[32];
    unsigned long sum = 0;

    team_options(argc, argv, &config, "b:", "[-b bands of energy; 0: in random order]", handle_option);
    xs_make();
    struct xs_lookup *sorted = team_alloc(XS_LOOKUPS * sizeof(*sorted));
    struct unit *units = team_alloc(UNITS * sizeof(*units));

    team_start(&team, &config);
    double seconds = team_seconds();
    if (num_bands > 0)
        xs_sort(sorted, num_bands);
    for (int i = 0; i < UNITS; i++)
        units[i].lookups = (num_bands > 0 ? sorted : xs_lookups()) + (size_t)i * PER_UNIT;
    if (config.num_streams > 0)
        look_up_in_parallel(units);
    for (int i = 0; i < UNITS; i++) {
        if (config.num_streams == 0)
            look_up(&units[i]);
        sum += units[i].sum;
    }
    seconds = team_seconds() - seconds;
    team_stop(&team);

    snprintf(job, sizeof(job), num_bands > 0 ? "lookups in %d bands" : "lookups in random order", num_bands);
    snprintf(answer, sizeof(answer), "%lu", sum);
    return team_report(&(struct report){job, answer, XS_CHECKSUM, UNITS, seconds});
}
