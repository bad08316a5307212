/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/distance.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/compiler.h"

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned distance_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * Row i holds, at j, the distance between the first i characters of one word and the first j of the other. Each follows
 * from the row above it; a swap looks one row further up.
 */
unsigned abti_distance(const char *a, const char *b)
{
    unsigned rows[3][ABTI_DISTANCE_ROOM];
    size_t width = strlen(b);

    if (width >= ABTI_DISTANCE_ROOM)
        width = ABTI_DISTANCE_ROOM - 1;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = (unsigned)j;
    size_t i = 0;
    for (; a[i]; i++) {
        const unsigned *above = rows[i % 3], *further = rows[(i + 2) % 3];
        unsigned *row = rows[(i + 1) % 3];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < width; j++) {
            row[j + 1] = distance_least(distance_least(above[j + 1], row[j]) + 1, above[j] + !is_same(a[i], b[j]));
            if (i > 0 && j > 0 && is_same(a[i], b[j - 1]) && is_same(a[i - 1], b[j]))
                row[j + 1] = distance_least(row[j + 1], further[j - 1] + 1);
        }
    }
    return rows[i % 3][width];
}
