/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scopes in which a ULT runs others as their parent: they change fields of the ES, and change them back. The
 * children give the ES back to their parent on the same native thread, whatever becomes of them.
 */
#ifndef ABTI_RUN_PARENT_H
#define ABTI_RUN_PARENT_H

#include "base/assert.h"
#include "run/sched.h"
#include "unit/tool_event.h"

/* While children run, the running ULT is es->parent. */
struct abti_parent_scope {
    abti_es *es;
    abti_unit *outer; /* es->parent before */
};

ABTI_INLINE void abti_parent_enter(struct abti_parent_scope *scope, abti_es *es)
{
    abti_assert(es == abti_es_self && !abti_unit_is_tasklet(es->cur));
    scope->es = es;
    scope->outer = es->parent;
    es->parent = es->cur;
    abti_tool_descend(es, 1);
}

/* The ULT has control again. */
ABTI_INLINE void abti_parent_leave(const struct abti_parent_scope *scope)
{
    abti_assert(scope->es == abti_es_self);
    abti_tool_descend(scope->es, -1);
    scope->es->parent = scope->outer;
}

/* The same for a ULT that may have been dispatched directly itself. `dsched` is for the children, or NULL. */
struct abti_dispatch_scope {
    struct abti_parent_scope parent;
    abti_sched *outer; /* es->dsched before */
};

ABTI_INLINE void abti_dispatch_enter(struct abti_dispatch_scope *scope, abti_es *es, abti_sched *dsched)
{
    scope->outer = es->dsched;
    abti_parent_enter(&scope->parent, es);
    abti_es_set_dsched(es, dsched);
}

ABTI_INLINE void abti_dispatch_leave(const struct abti_dispatch_scope *scope)
{
    abti_parent_leave(&scope->parent);
    abti_es_set_dsched(scope->parent.es, scope->outer);
}

/*
 * A tasklet, which cannot switch, runs in place of the ULT: all is as when the scheduler calls one, but that the ULT
 * has called it, so that this is no level of its own.
 */
ABTI_INLINE void abti_dispatch_stop(struct abti_dispatch_scope *scope, abti_es *es)
{
    abti_assert(es == abti_es_self);
    *scope = (struct abti_dispatch_scope){.parent = {.es = es, .outer = es->parent}, .outer = es->dsched};
    es->parent = NULL;
    abti_es_set_dsched(es, NULL);
}

ABTI_INLINE void abti_dispatch_go_on(const struct abti_dispatch_scope *scope)
{
    abti_assert(scope->parent.es == abti_es_self && !scope->parent.es->parent);
    scope->parent.es->parent = scope->parent.outer;
    abti_es_set_dsched(scope->parent.es, scope->outer);
}

#endif
