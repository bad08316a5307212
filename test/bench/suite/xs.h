/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macroscopic cross-section lookups, in the manner of XSBench: materials of nuclides, each with cross sections at
 * energies of its own; a unionised grid has the energies of all, and for each the place in each nuclide's grid. One
 * lookup finds an energy in the union and adds up, over the nuclides of a material, five cross sections between two
 * grid points. The memory is large and is read at random: that is the load. Energies and materials of the lookups
 * come from a generator with a fixed start, so that the checksum is the same for all ways of doing them.
 */
#ifndef ABT_TEST_BENCH_XS_H
#define ABT_TEST_BENCH_XS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { XS_KINDS = 5, XS_MATERIALS = 12 };

struct xs_lookup {
    double energy;
    int material, number;
};

/* The sizes: 355 nuclides and 11303 grid points, fewer when quick. */
void xs_make(void);
void xs_free(void);
long xs_num_lookups(void);

/* The lookups, in random order or by energy. */
struct xs_lookup *xs_lookups(int sorted);

/* Does one and returns its part of the checksum. */
unsigned long xs_do(const struct xs_lookup *lookup);

/* The sum of all parts, found sequentially once. */
void xs_expect(unsigned long checksum);

#ifdef __cplusplus
}
#endif

#endif
