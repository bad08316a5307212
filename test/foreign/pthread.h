/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_PTHREAD_H
#define FOREIGN_PTHREAD_H

typedef struct pthread *pthread_t;

pthread_t pthread_self(void);

#endif
