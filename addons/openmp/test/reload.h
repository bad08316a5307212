/* SPDX-License-Identifier: BSD-3-Clause */
/* What the libraries of the test are asked to do. */
#ifndef TEST_RELOAD_H
#define TEST_RELOAD_H

enum { RELOAD_MEMBERS = 4 };

struct reload_calls {
    int (*number)(void);
    int calls[RELOAD_MEMBERS]; /* by member: how many its thread has made of reload_count */
};

void reload_count(void *calls);

#endif
