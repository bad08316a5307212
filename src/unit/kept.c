/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/kept.h"

#include "base/assert.h"

void abti_hooks_set(abti_es *es, const ABTX_switch_hooks *hooks)
{
    abti_assert(es == abti_es_self);
    es->hooks = hooks;
    abti_switch_choose(es);
}

void abti_hooks_leave(abti_es *es)
{
    const ABTX_switch_hooks *hooks = es->hooks;
    if (hooks->leave)
        hooks->leave(hooks->arg);
    abti_hooks_set(es, NULL);
}

void abti_hooks_back(const ABTX_switch_hooks *hooks)
{
    abti_hooks_set(abti_es_self, hooks);
    if (hooks->back)
        hooks->back(hooks->arg);
}
