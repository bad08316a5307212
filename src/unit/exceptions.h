/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ exceptions belong to the unit that handles them. The runtime of C++ keeps them for each native thread; so a
 * unit that leaves an ES with exceptions in hand keeps them in its frame, and has them again where it goes on. Thus
 *
 *   whenever a unit starts or goes on, the native thread has no exceptions in hand,
 *
 * and a unit without any, which is nearly always so, only looks. In a program without a C++ runtime es->in_hand leads
 * to a word that is NULL until a library is loaded.
 *
 * Switches that are observed take a slow form, too: those that report events (run/observe.h, which has the list), or a
 * sanitizer or valgrind, those of a ULT with switch hooks (unit/saved.h), and waits whose times are kept
 * (abti_wait_for). So that the quick ones ask only once, es->slow is es->in_hand while there is none of these, and else
 * leads to a word that is never NULL.
 */
#ifndef ABTI_UNIT_EXCEPTIONS_H
#define ABTI_UNIT_EXCEPTIONS_H

#include "arch/cpu.h"
#include "os/cxx.h"
#include "rt/self.h"

/* The running unit has exceptions in hand, or a library has been loaded that may bring a C++ runtime. */
ABTI_INLINE bool abti_has_exceptions(const abti_es *es)
{
    return abti_is_any_in_hand(&es->in_hand);
}

/* For the ES itself, after each change of es->observed or es->hooks: whether its switches take the slow form. */
void abti_switch_choose(abti_es *es);

/* By the native thread that is to be the ES, which has run no unit. */
void abti_exceptions_enter(abti_es *es);

/* By a native thread that is the ES from now on, in place of another one. */
void abti_exceptions_move(abti_es *es);

/* In the child of a fork, before its ES enters. */
void abti_exceptions_forget(void);

/* Moves what the running unit has in hand to *saved, and back, on the ES where it runs then. */
void abti_exceptions_take(abti_es *es, struct abti_cxx_globals *saved);
void abti_exceptions_give(const struct abti_cxx_globals *saved);

/* Has a C++ runtime come, among other libraries? Asked at event checks, once such have come. */
void abti_exceptions_look(abti_es *es);

#endif
