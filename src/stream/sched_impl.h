/* The implementations of schedulers, for the functions that make them. */
#ifndef ABTI_STREAM_SCHED_IMPL_H
#define ABTI_STREAM_SCHED_IMPL_H

#include "rt/kvconf.h"
#include "run/sched.h"

/* Makes a predefined scheduler. No entry of `pools` is NULL. ABT code. */
int abti_sched_create_basic(ABT_sched_predef predef, int num_pools, abti_pool **pools, const struct abti_kvconf *conf,
                            abti_sched **sched) ABTI_MUST_CHECK;

/* Makes a user-defined one and calls its init. ABT code, also that of init. */
int abti_sched_create_user(const ABT_sched_def *def, int num_pools, abti_pool **pools, ABT_sched_config config,
                           abti_sched **sched) ABTI_MUST_CHECK;

/* The one loop of all predefined schedulers. */
void abti_sched_loop(abti_sched *sched);

/* The order of BASIC and PRIO: the first pool of `order` that has a unit. */
abti_unit *abti_sched_pick_in_order(abti_sched *sched, abti_unit *self);

extern const struct abti_sched_ops abti_sched_basic_ops;
extern const struct abti_sched_ops abti_sched_basic_wait_ops;
extern const struct abti_sched_ops abti_sched_randws_ops;
extern const struct abti_sched_ops abti_sched_user_ops;

/* Puts the pools that are cheapest to look at first. */
void abti_sched_order_by_access(abti_sched *sched);

#endif
