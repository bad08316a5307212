/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions of the library programs see: all others are hidden by the compiler. */
#ifndef ABTOMP_EXPORT_H
#define ABTOMP_EXPORT_H

#define ABTOMP_API __attribute__((visibility("default")))

/* A variable that hot paths read: the compiler is to know that it is the library's own, and needs no address of it. */
#define ABTOMP_LOCAL __attribute__((visibility("hidden")))

#endif
