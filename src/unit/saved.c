/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/saved.h"

#include "base/assert.h"

/* Returns where the address of the link is stored, or the end of the chain, if it is not there. */
static ABTX_switch_link **kept_place(ABTX_switch_link **chain, const ABTX_switch_link *link)
{
    while (*chain && *chain != link)
        chain = &(*chain)->next;
    return chain;
}

bool abti_hooks_add(ABTX_switch_link **chain, ABTX_switch_link *link)
{
    if (*kept_place(chain, link) == link)
        return false;
    link->next = *chain;
    *chain = link;
    return true;
}

bool abti_hooks_remove(ABTX_switch_link **chain, ABTX_switch_link *link)
{
    ABTX_switch_link **place = kept_place(chain, link);
    if (!link || *place != link)
        return false;
    *place = link->next;
    return true;
}

ABTX_switch_link *abti_hooks_find(ABTX_switch_link *chain, void (*leave)(void *arg))
{
    while (chain && chain->hooks.leave != leave)
        chain = chain->next;
    return chain;
}

void abti_hooks_set(abti_es *es, ABTX_switch_link *hooks)
{
    abti_assert(es == abti_es_self);
    es->hooks = hooks;
    abti_switch_choose(es);
}

void abti_hooks_take(abti_es *es, ABTX_switch_link *link)
{
    bool was_there = abti_hooks_remove(&es->hooks, link);
    abti_assert(es == abti_es_self && was_there);
    (void)was_there;
    abti_switch_choose(es);
}

void abti_hooks_leave(abti_es *es)
{
    for (const ABTX_switch_link *link = es->hooks; link; link = link->next) {
        if (link->hooks.leave)
            link->hooks.leave(link->hooks.arg);
    }
    abti_hooks_set(es, NULL);
}

void abti_hooks_back(ABTX_switch_link *chain)
{
    abti_hooks_set(abti_es_self, chain);
    for (const ABTX_switch_link *link = chain; link; link = link->next) {
        if (link->hooks.back)
            link->hooks.back(link->hooks.arg);
    }
}
