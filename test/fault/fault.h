/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault injection: the n-th request for memory, a mapping, a native thread or a file descriptor fails, whoever in the
 * process makes it.
 *
 * The C library's functions are interposed by the test program itself (fault.c), so that a library of any build, shared
 * or not, meets with it. Under sanitizers, which do the same, the programs are skipped.
 */
#ifndef TEST_FAULT_H
#define TEST_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* False where the C library's functions cannot be interposed: nothing ever fails then. */
bool fault_is_possible(void);

/* --- Failing --- */

enum fault_mode {
    FAULT_ONE,  /* the n-th request from now on */
    FAULT_FROM, /* that and all after it */
};

/* Starts to count requests. n counts from 1; 0 fails none. */
void fault_arm(unsigned n, enum fault_mode mode);
/* Nothing fails any more. Whether something did. */
bool fault_disarm(void);
/* The thread whose request fails calls this before it learns of it. NULL: nothing is called. */
void fault_on_failure(void (*func)(void));
/* Requests since the last fault_arm, and how many of them failed. */
unsigned fault_requests(void);
unsigned fault_failures(void);

/* What the library is to answer to the request that failed last: ABT_ERR_MEM, or ABT_ERR_SYS for a thread or
 * descriptor. */
int fault_code(void);
/* A callback of the user's has met with the failure and told the library so: this is what it is to answer then. */
void fault_expect(int code);
/* Whether it was for a mapping: in place of a large one the library may do with smaller ones. */
bool fault_was_mapping(void);
/* Which request failed last. */
void fault_describe(char *text, size_t size);

/* --- What is in use --- */

struct fault_live {
    long objects;     /* from malloc and its relatives */
    long bytes;       /* in them */
    long mappings;    /* bytes mapped */
    long descriptors; /* files open to be woken by */
};

/* What the C library keeps to itself for its threads does not count. */
struct fault_live fault_live(void);
bool fault_same(struct fault_live a, struct fault_live b);
/* The newest object but `skip` ones: who asked for it. False when there are not so many. */
bool fault_describe_object(unsigned skip, char *text, size_t size);

#endif
