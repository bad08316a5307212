/* SPDX-License-Identifier: BSD-3-Clause */
/* Text about the library and its objects. What it says of running ones is no consistent snapshot. */
#ifndef ABTI_WATCH_INFO_H
#define ABTI_WATCH_INFO_H

#include <stdio.h>
#include "base/compiler.h"
#include "rt/types.h"

void abti_info_print_config(FILE *fp);
/* They return an ABT code. */
int abti_info_print_all_xstreams(FILE *fp) ABTI_MUST_CHECK;
void abti_info_print_xstream(FILE *fp, abti_es *es);
void abti_info_print_sched(FILE *fp, abti_sched *sched);
void abti_info_print_pool(FILE *fp, abti_pool *pool);
void abti_info_print_unit(FILE *fp, abti_unit *unit);

#endif
