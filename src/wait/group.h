/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How native threads wait for each other before they sleep: they poll a word, or give way where they are more than
 * the CPUs, as long as wait/adaptive.h has learnt.
 */
#ifndef ABTI_WAIT_GROUP_H
#define ABTI_WAIT_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include "wait/adaptive.h"

/* The work of a waiting thread between its polls. `poll` says whether it has done something. NULL: it does nothing. */
struct abti_meanwhile {
    int (*poll)(void *arg);
    void *arg;
};

/* Does it. False: there was nothing to do. */
static inline bool abti_meanwhile_poll(const struct abti_meanwhile *meanwhile)
{
    return meanwhile && meanwhile->poll && meanwhile->poll(meanwhile->arg);
}

/*
 * The part of a wait that comes before the sleep: polls, or gives way in a group of more threads than there are CPUs,
 * until *word is no longer `value`, and no longer than `adaptive` allows, which learns from it. `sleeps` is a count
 * that changes now and then, at most once for each sleep. Whenever `meanwhile`, which may be NULL, has done something,
 * all of it begins anew. True: the word has changed. acquire: pairs with the release by which the caller's partner
 * changes it. False: *learnt is for abti_group_sleep.
 */
bool abti_group_await_soon(struct abti_adaptive *adaptive, uint32_t sleeps, const _Atomic(uint32_t) *word,
                           uint32_t value, uint32_t num, const struct abti_meanwhile *meanwhile, uint32_t *learnt);

/* The sleep teaches nothing more: the yields before it have been learnt from. */
#define ABTI_LEARNT_BEFORE UINT32_MAX

/* Sleeps on the word until a wake, as abti_word_wait, and learns from it how long to poll. */
void abti_group_sleep(struct abti_adaptive *adaptive, uint32_t learnt, _Atomic(uint32_t) *word, uint32_t value);

#endif
