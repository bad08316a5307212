/* SPDX-License-Identifier: BSD-3-Clause */
/* libglt.so: the bodies of fast_glt.h as functions of a library. */
#include <glt.h>

#include <fast_glt.h>
