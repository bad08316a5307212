/* SPDX-License-Identifier: BSD-3-Clause */
#include "xs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

struct point {
    double energy, xs[XS_KINDS];
};

/* All is in one piece of memory, which several programs can share: it takes seconds to make. */
struct header {
    int nuclides, points; /* points: of one nuclide */
    long union_size, num_lookups;
    unsigned long checksum;
    int sizes[XS_MATERIALS], materials[XS_MATERIALS][512];
    double densities[XS_MATERIALS][512];
};

static struct header *xs;
static struct point *grids; /* nuclides x points */
static double *energies;    /* the union */
static uint16_t *places;    /* union_size x nuclides: where in the nuclide's grid */
static struct xs_lookup *in_random, *in_order;
static size_t total;

static uint64_t state;

/* splitmix64 */
static double draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int by_energy(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b; /* the first member in each struct */
    return (x > y) - (x < y);
}

static void make_grids(void)
{
    for (int n = 0; n < xs->nuclides; n++) {
        struct point *grid = grids + (long)n * xs->points;
        for (int p = 0; p < xs->points; p++) {
            grid[p].energy = draw();
            for (int k = 0; k < XS_KINDS; k++)
                grid[p].xs[k] = draw();
        }
        qsort(grid, (size_t)xs->points, sizeof(*grid), by_energy);
    }
}

struct origin {
    double energy;
    int nuclide, point;
};

/* From one energy of the union to the next, only the place in that energy's own nuclide changes. */
static void make_union(void)
{
    struct origin *all = calloc((size_t)xs->union_size, sizeof(*all));
    uint16_t *row = calloc((size_t)xs->nuclides, sizeof(*row));
    if (!all || !row) {
        perror("cross sections");
        exit(1);
    }
    for (long i = 0; i < xs->union_size; i++) {
        all[i] = (struct origin){
            .energy = grids[i].energy, .nuclide = (int)(i / xs->points), .point = (int)(i % xs->points)};
    }
    qsort(all, (size_t)xs->union_size, sizeof(*all), by_energy);
    for (long i = 0; i < xs->union_size; i++) {
        int last = xs->points - 2; /* a place has a point above it */
        row[all[i].nuclide] = (uint16_t)(all[i].point < last ? all[i].point : last);
        energies[i] = all[i].energy;
        memcpy(places + i * xs->nuclides, row, (size_t)xs->nuclides * sizeof(*row));
    }
    free(all);
    free(row);
}

/* The fuel has most nuclides, the others few. */
static void make_materials(void)
{
    static const int sizes[XS_MATERIALS] = {321, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
    for (int m = 0; m < XS_MATERIALS; m++) {
        xs->sizes[m] = sizes[m] < xs->nuclides ? sizes[m] : xs->nuclides;
        for (int i = 0; i < xs->sizes[m]; i++) {
            xs->materials[m][i] = m == 0 ? i : (int)(draw() * xs->nuclides);
            xs->densities[m][i] = draw();
        }
    }
}

static int pick_material(void)
{
    static const double shares[XS_MATERIALS] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064,
                                                0.066, 0.055, 0.008, 0.015, 0.025, 0.013};
    double roll = draw();
    int m = 0;
    while (m < XS_MATERIALS - 1 && (roll -= shares[m]) > 0)
        m++;
    return m;
}

static void make_lookups(void)
{
    for (long i = 0; i < xs->num_lookups; i++) {
        double energy = draw();
        in_random[i] = (struct xs_lookup){.energy = energy, .material = pick_material(), .number = (int)i};
        in_order[i] = in_random[i];
    }
    qsort(in_order, (size_t)xs->num_lookups, sizeof(*in_order), by_energy);
}

static char *lay_out(char *base, size_t *at, size_t num, size_t size)
{
    char *part = base ? base + *at : NULL;
    *at = (*at + num * size + 63) / 64 * 64;
    return part;
}

/* Finds the parts; without a base, only how large they are in all. */
static size_t find_parts(char *base, long nuclides, long points, long lookups)
{
    size_t at = 0, all = (size_t)(nuclides * points);
    xs = (struct header *)lay_out(base, &at, 1, sizeof(*xs));
    grids = (struct point *)lay_out(base, &at, all, sizeof(*grids));
    energies = (double *)lay_out(base, &at, all, sizeof(*energies));
    places = (uint16_t *)lay_out(base, &at, all * (size_t)nuclides, sizeof(*places));
    in_random = (struct xs_lookup *)lay_out(base, &at, (size_t)lookups, sizeof(*in_random));
    in_order = (struct xs_lookup *)lay_out(base, &at, (size_t)lookups, sizeof(*in_order));
    return at;
}

static void fill(long nuclides, long points, long lookups)
{
    state = 42;
    xs->nuclides = (int)nuclides;
    xs->points = (int)points;
    xs->union_size = nuclides * points;
    xs->num_lookups = lookups;
    make_grids();
    make_union();
    make_materials();
    make_lookups();
    for (long i = 0; i < lookups; i++)
        xs->checksum += xs_do(&in_random[i]);
}

void xs_make(void)
{
    const char *text = getenv("BENCH_XS_FD");
    int fd = text ? atoi(text) : -1;
    long nuclides = suite_quick ? 68 : 355, points = suite_quick ? 1000 : 11303, lookups = suite_quick ? 32768 : 131072;
    struct stat status = {.st_size = 0};

    total = find_parts(NULL, nuclides, points, lookups);
    if (fd >= 0 && fstat(fd, &status)) {
        perror("BENCH_XS_FD");
        exit(1);
    }
    if (fd >= 0 && status.st_size == 0 && ftruncate(fd, (off_t)total)) {
        perror("cross sections");
        exit(1);
    }
    int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *base = mmap(NULL, total, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, 0);
    if (base == MAP_FAILED) {
        perror("cross sections");
        exit(1);
    }
    find_parts(base, nuclides, points, lookups);
    if (xs->checksum == 0)
        fill(nuclides, points, lookups);
}

void xs_free(void)
{
    munmap(xs, total);
}

long xs_num_lookups(void)
{
    return xs->num_lookups;
}

struct xs_lookup *xs_lookups(int sorted)
{
    return sorted ? in_order : in_random;
}

unsigned long xs_do(const struct xs_lookup *lookup)
{
    double sum[XS_KINDS] = {0};
    long low = 0, high = xs->union_size - 1;
    while (high - low > 1) {
        long middle = (low + high) / 2;
        if (energies[middle] > lookup->energy)
            high = middle;
        else
            low = middle;
    }
    for (int i = 0; i < xs->sizes[lookup->material]; i++) {
        int n = xs->materials[lookup->material][i];
        const struct point *a = &grids[(long)n * xs->points + places[low * xs->nuclides + n]], *b = a + 1;
        double share = (b->energy - lookup->energy) / (b->energy - a->energy);
        for (int k = 0; k < XS_KINDS; k++)
            sum[k] += xs->densities[lookup->material][i] * (b->xs[k] - share * (b->xs[k] - a->xs[k]));
    }
    /* Which of the five is the largest, and the lookup's number: wrong in one of them is wrong in the sum. */
    int largest = 0;
    for (int k = 1; k < XS_KINDS; k++)
        largest = sum[k] > sum[largest] ? k : largest;
    return (unsigned long)(largest + 1) * (unsigned long)(lookup->number % 1009 + 1);
}

void xs_expect(unsigned long checksum)
{
    suite_expect((long)checksum, (long)xs->checksum, "the checksum");
}
