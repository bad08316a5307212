/* SPDX-License-Identifier: BSD-3-Clause */
#include "xs_grid.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "team.h"

enum { HASH_BANDS = 4096 };

struct point {
    double energy, sections[XS_CHANNELS];
};

struct part {
    int nuclide;
    double density;
};

static struct point (*grids)[XS_POINTS];  /* of each nuclide, by energy */
static uint16_t (*first)[HASH_BANDS + 1]; /* of each nuclide: the last point below a band, or the first of all */
static struct part materials[XS_MATERIALS][XS_NUCLIDES];
static struct xs_lookup *lookups;
static uint64_t state = 42;

/* How many nuclides a material has, and how often it is met. The first one is the fuel. */
static const int num_parts[XS_MATERIALS] = {34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
static const double shares[XS_MATERIALS] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064,
                                            0.066, 0.055, 0.008, 0.015, 0.025, 0.013};

/* A number from 0 to 1, by splitmix64. */
static double draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int compare(const void *a, const void *b)
{
    double x = ((const struct point *)a)->energy, y = ((const struct point *)b)->energy;
    return (x > y) - (x < y);
}

static void make_nuclide(int n)
{
    for (int p = 0; p < XS_POINTS; p++) {
        grids[n][p].energy = draw();
        for (int k = 0; k < XS_CHANNELS; k++)
            grids[n][p].sections[k] = draw();
    }
    qsort(grids[n], XS_POINTS, sizeof(grids[n][0]), compare);
    for (int band = 0, p = 0; band <= HASH_BANDS; band++) {
        while (p < XS_POINTS - 2 && grids[n][p + 1].energy * HASH_BANDS < band)
            p++;
        first[n][band] = (uint16_t)p;
    }
}

static int draw_material(void)
{
    double roll = draw();
    int m = 0;
    while (m < XS_MATERIALS - 1 && (roll -= shares[m]) > 0)
        m++;
    return m;
}

void xs_make(void)
{
    grids = team_alloc(XS_NUCLIDES * sizeof(*grids));
    first = team_alloc(XS_NUCLIDES * sizeof(*first));
    lookups = team_alloc(XS_LOOKUPS * sizeof(*lookups));
    for (int n = 0; n < XS_NUCLIDES; n++)
        make_nuclide(n);
    for (int m = 0; m < XS_MATERIALS; m++) {
        for (int i = 0; i < num_parts[m]; i++)
            materials[m][i] = (struct part){m == 0 ? 2 * i : (int)(draw() * XS_NUCLIDES), draw()};
    }
    for (int i = 0; i < XS_LOOKUPS; i++) {
        double energy = draw();
        lookups[i] = (struct xs_lookup){energy, draw_material(), i};
    }
}

const struct xs_lookup *xs_lookups(void)
{
    return lookups;
}

/* By counting: it takes two passes. */
void xs_sort(struct xs_lookup *sorted, int num_bands)
{
    int *place = team_alloc(((size_t)num_bands + 1) * sizeof(*place));
    memset(place, 0, ((size_t)num_bands + 1) * sizeof(*place));
    for (int i = 0; i < XS_LOOKUPS; i++)
        place[(int)(lookups[i].energy * num_bands) + 1]++;
    for (int band = 0; band < num_bands; band++)
        place[band + 1] += place[band];
    for (int i = 0; i < XS_LOOKUPS; i++)
        sorted[place[(int)(lookups[i].energy * num_bands)]++] = lookups[i];
    free(place);
}

/* The last point below the energy: that of its band, or one of the few behind it. */
static const struct point *find(int nuclide, double energy)
{
    const struct point *grid = grids[nuclide];
    int p = first[nuclide][(int)(energy * HASH_BANDS)];
    while (p < XS_POINTS - 2 && grid[p + 1].energy < energy)
        p++;
    return &grid[p];
}

static unsigned long look_up(const struct xs_lookup *lookup)
{
    double sums[XS_CHANNELS] = {0};
    int largest = 0;

    for (int i = 0; i < num_parts[lookup->material]; i++) {
        const struct part *part = &materials[lookup->material][i];
        const struct point *low = find(part->nuclide, lookup->energy), *high = low + 1;
        double weight = (high->energy - lookup->energy) / (high->energy - low->energy);
        for (int k = 0; k < XS_CHANNELS; k++)
            sums[k] += part->density * (high->sections[k] - weight * (high->sections[k] - low->sections[k]));
    }
    for (int k = 1; k < XS_CHANNELS; k++)
        largest = sums[k] > sums[largest] ? k : largest;
    return (unsigned long)(largest + 1) * (unsigned long)(lookup->number % 1009 + 1);
}

unsigned long xs_do(const struct xs_lookup *some, int num)
{
    unsigned long sum = 0;
    for (int i = 0; i < num; i++)
        sum += look_up(&some[i]);
    return sum;
}
