/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions of the library programs see: all others are hidden by the compiler. */
#ifndef ABTOMP_EXPORT_H
#define ABTOMP_EXPORT_H

#define ABTOMP_API __attribute__((visibility("default")))

#endif
