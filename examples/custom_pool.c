/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a pool of one's own is good for: best-first search. The shortest round trip through 14 cities, the problem
 * burma14 of TSPLIB, is found by branch and bound: each partial tour is a tasklet, which creates one for each city to
 * go to next, unless even a lower bound says that no such tour can be shorter than the best one known. The pool, a
 * heap (heap_pool.c), hands out the tour with the lowest bound first, so that little is tried in vain.
 */
#include "heap_pool.h"
#include "team.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CITIES = 14, ALL_VISITED = (1 << CITIES) - 1, FAR = 1 << 20 };

/* Degrees and minutes, as 16.47 for 16 degrees 47 minutes. */
static const double places[CITIES][2] = {{16.47, 96.10}, {16.47, 94.44}, {20.09, 92.54}, {22.39, 93.37}, {25.23, 97.24},
                                         {22.00, 96.05}, {20.47, 97.02}, {17.20, 96.29}, {16.30, 97.38}, {14.05, 98.12},
                                         {16.53, 97.38}, {21.52, 95.59}, {19.41, 97.13}, {20.09, 94.55}};

/* A partial tour, which starts in city 0. */
struct tour {
    int bound; /* no full tour that begins like this is shorter */
    int length;
    int city;
    int visited; /* bit set */
};

static int distances[CITIES][CITIES];
static int nearest[CITIES], second[CITIES]; /* distances to the two nearest cities */
static atomic_int best = INT_MAX;           /* length of the shortest full tour so far */
static atomic_long outstanding, units;
static ABT_pool pool;

static double radians(double place)
{
    int degrees = (int)place;
    return 3.141592 * (degrees + 5.0 * (place - degrees) / 3.0) / 180.0;
}

/* On the globe, rounded as TSPLIB prescribes. */
static int get_distance(const double *a, const double *b)
{
    double q1 = cos(radians(a[1]) - radians(b[1]));
    double q2 = cos(radians(a[0]) - radians(b[0]));
    double q3 = cos(radians(a[0]) + radians(b[0]));
    return (int)(6378.388 * acos(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)) + 1.0);
}

static void set_distances(void)
{
    for (int a = 0; a < CITIES; a++) {
        nearest[a] = second[a] = FAR;
        for (int b = 0; b < CITIES; b++) {
            int d = distances[a][b] = a == b ? FAR : get_distance(places[a], places[b]);
            if (d < nearest[a]) {
                second[a] = nearest[a];
                nearest[a] = d;
            } else if (d < second[a]) {
                second[a] = d;
            }
        }
    }
}

static struct tour extend(const struct tour *tour, int city)
{
    struct tour longer = {0, tour->length + distances[tour->city][city], city, tour->visited | 1 << city};
    /* What is left costs at least half of the ways to enter and to leave each city, the ends counting once. */
    int ways = nearest[0] + nearest[city];
    for (int c = 0; c < CITIES; c++)
        ways += longer.visited & 1 << c ? 0 : nearest[c] + second[c];
    longer.bound = longer.length + (ways + 1) / 2;
    return longer;
}

static void shorten_best(int length)
{
    int known = atomic_load(&best);
    while (length < known && !atomic_compare_exchange_weak(&best, &known, length))
        ;
}

/* Lists the tours that go on from this one and may be shorter than the best. City 1 has to come before city 2: the
 * same tours the other way round need not be tried. */
static int list_longer(const struct tour *tour, struct tour *list)
{
    int num = 0;
    if (tour->visited == ALL_VISITED)
        shorten_best(tour->length + distances[tour->city][0]);
    for (int city = 1; city < CITIES; city++) {
        if (tour->visited & 1 << city || (city == 2 && !(tour->visited & 1 << 1)))
            continue;
        list[num] = extend(tour, city);
        num += list[num].bound < atomic_load(&best);
    }
    return num;
}

static void search_sequentially(const struct tour *tour)
{
    struct tour list[CITIES];
    int num = list_longer(tour, list);
    for (int i = 0; i < num; i++)
        search_sequentially(&list[i]);
}

static void search(void *arg);
static void create_unit(const struct tour *tour)
{
    struct tour *copy = team_alloc(sizeof(*copy));
    *copy = *tour;
    atomic_fetch_add(&outstanding, 1);
    atomic_fetch_add(&units, 1);
    CHECK(ABT_task_create(pool, search, copy, NULL));
}

/* The body of a tasklet. */
static void search(void *arg)
{
    struct tour *tour = arg, list[CITIES];
    int num = tour->bound < atomic_load(&best) ? list_longer(tour, list) : 0;
    for (int i = 0; i < num; i++)
        create_unit(&list[i]);
    free(tour);
    atomic_fetch_sub(&outstanding, 1); /* after its offspring were counted: it is zero at the very end only */
}

static double search_in_parallel(const struct tour *start, int num_streams)
{
    ABT_xstream streams[TEAM_MAX_STREAMS];

    CHECK(ABT_init(0, NULL));
    pool = heap_pool_create();
    CHECK(ABT_xstream_self(&streams[0]));
    CHECK(ABT_xstream_set_main_sched_basic(streams[0], ABT_SCHED_BASIC, 1, &pool));
    for (int i = 1; i < num_streams; i++)
        CHECK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));

    double seconds = team_seconds();
    create_unit(start);
    while (atomic_load(&outstanding) > 0)
        CHECK(ABT_thread_yield()); /* main() is the least urgent unit of the pool: it disturbs nobody */
    seconds = team_seconds() - seconds;

    for (int i = 1; i < num_streams; i++) {
        team_go_home();
        CHECK(ABT_xstream_free(&streams[i]));
    }
    CHECK(ABT_finalize()); /* frees the pool too, since the primary stream uses it */
    return seconds;
}

int main(int argc, char **argv)
{
    struct team_config config;
    struct tour start = {0, 0, 0, 1};
    char answer[32];
    double seconds = team_seconds();

    team_options(argc, argv, &config, NULL, "", NULL);
    set_distances();
    if (config.num_streams > 0) {
        seconds = search_in_parallel(&start, config.num_streams);
    } else {
        search_sequentially(&start);
        seconds = team_seconds() - seconds;
    }
    snprintf(answer, sizeof(answer), "%d", atomic_load(&best));
    return team_report(&(struct report){"custom pool", answer, "3323", atomic_load(&units), seconds});
}
