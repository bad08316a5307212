/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#define INFINITY __builtin_inff()
#define isnan(x) __builtin_isnan(x)

double floor(double x);
double fmod(double x, double y);
