/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions in regions whose members run one after another: each is a number of a serial team, a team without threads.
 * The thread that met the region takes one number after the other, and calls the function of the region for it. As soon
 * as a member waits for others, or takes long, all numbers that nobody has taken get a thread each.
 *
 *   serial.c    serial teams, and how their numbers are taken
 *   watch.c    a thread that looks for members that take long
 *   verdict.c  which functions may run so
 */
#ifndef ABTOMP_SERIAL_H
#define ABTOMP_SERIAL_H

#include "omp.h"

/* What a region is asked for. `key` is the function of the program: fn itself, or what it calls. */
struct abtomp_region {
    void (*fn)(void *data);
    void *data;
    void (*key)(void *data);
    uintptr_t *reductions; /* of tasks; NULL: there are none */
    int num;               /* members */
    unsigned bind;
};

/* -- serial.c -- */

/* Whether a region of `me`, which is in a region of several members, may run so: whether enough threads run around it.
 */
bool abtomp_serial_fits(const struct abtomp_member *me);

/* Runs a region of two members at least. False: it has not run, and is to have threads. */
bool abtomp_serial_run(struct abtomp_member *me, const struct abtomp_region *region);

/*
 * Somebody waits for members that have perhaps not begun, or (has_waited is false) one takes long: what nobody has
 * taken gets threads. Any thread may call, as long as it knows that the team stays. False: the system gives no more.
 */
bool abtomp_serial_spread(struct abtomp_team *team, bool has_waited);

/* Its ticket, as it is just now, and how many regions it has had; and whether there are numbers that nobody has taken.
 */
uint32_t abtomp_serial_poll(const struct abtomp_team *team, uint64_t *ticket);
bool abtomp_serial_is_pending(uint64_t ticket);

/* Ends the threads of its members' teams, and frees it; NULL is no team. */
void abtomp_serial_end(struct abtomp_team *team);

/* -- watch.c -- */

extern _Thread_local struct abtomp_watch *abtomp_own_watch; /* NULL: it is a thread of the library */

/* The calling thread begins a region. False: nobody watches, since there is no thread for that. */
bool abtomp_watch_begin(struct abtomp_team *team);

/* It has ended. */
void abtomp_watch_return(const struct abtomp_team *team);

/* Nobody looks at teams any more that no thread runs. */
void abtomp_watch_quiet(void);

/* -- verdict.c -- */

/* Whether the members of a function's regions may run one after another. */
bool abtomp_verdict(void (*fn)(void *));

/* They have waited for each other, or taken long. */
void abtomp_verdict_learn(void (*fn)(void *), bool has_waited);

/* Before the first region. */
void abtomp_verdict_start(void);

#endif
