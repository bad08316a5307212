/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macroscopic cross sections: what a Monte-Carlo simulation of neutrons looks up at each step, in the manner of XSBench
 * (its "hash" grid). A material is a mixture of nuclides, and each nuclide has five cross sections at energies of its
 * own. One lookup adds up, over the nuclides of a material, the sections at one energy, each between two grid points.
 * The tables are large and are read at random: that is the load, and neighbouring energies share what they read.
 */
#ifndef EXAMPLES_XS_GRID_H
#define EXAMPLES_XS_GRID_H

enum { XS_MATERIALS = 12, XS_NUCLIDES = 68, XS_POINTS = 11303, XS_CHANNELS = 5, XS_LOOKUPS = 1 << 18 };

/* What the lookups add up to: for each, which channel is the largest, and its number. It is the same in any order. */
#define XS_CHECKSUM "397938161"

struct xs_lookup {
    double energy; /* from 0 to 1 */
    int material, number;
};

/* Makes the tables and the lookups, always the same ones. Ends the program if there is no memory. */
void xs_make(void);

/* All lookups, in their random order. */
const struct xs_lookup *xs_lookups(void);

/* The same in an array of the caller's, sorted into this number of bands of energy. */
void xs_sort(struct xs_lookup *sorted, int num_bands);

/* Does this number of lookups, and returns what they add to the checksum. */
unsigned long xs_do(const struct xs_lookup *lookups, int num);

#endif
