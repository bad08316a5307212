/* SPDX-License-Identifier: BSD-3-Clause */
/* What belongs to a ULT: switch hooks and cancels. */
#include "world.h"

/* ---- Switch hooks ------------------------------------------------------------------------------------------------ */

struct hooked {
    ABTX_switch_link link;
    int leaves, backs;
};

static void hook_leave(void *arg)
{
    struct hooked *hooked = arg;

    expect(hooked->leaves++ == hooked->backs);
}

static void hook_back(void *arg)
{
    struct hooked *hooked = arg;

    expect(hooked->leaves == ++hooked->backs);
}

static void hooks_take(struct actor *actor)
{
    struct hooked hooked[3] = {{.leaves = 0}};
    struct actor inner = actor_make(actor);
    unsigned num = 1 + dice(actor, 3), first = dice(actor, num);

    for (unsigned i = 0; i < num; i++) {
        hooked[i].link.hooks = (ABTX_switch_hooks){hook_leave, hook_back, &hooked[i]};
        must(ABTX_self_add_switch_hooks(&hooked[i].link));
    }
    steps_take(&inner, 1);
    for (unsigned i = 0; i < num; i++) {
        must(ABTX_self_remove_switch_hooks(&hooked[(first + i) % num].link));
        expect(hooked[(first + i) % num].leaves == hooked[(first + i) % num].backs);
    }
}

/* ---- Cancels ----------------------------------------------------------------------------------------------------- */

static void cancels_put_off(struct actor *actor)
{
    ABT_bool before;
    size_t room;

    must(ABTX_self_put_off_cancel(ABT_TRUE, &before));
    relax(actor);
    must(ABTX_self_put_off_cancel(before, NULL));
    int code = ABTX_self_get_stack_room(&room);
    expect(code == ABT_SUCCESS || code == ABT_ERR_FEATURE_NA);
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

struct spring {
    atomic_int left, run;
    int num;
    ABT_eventual done;
};

const struct step hook_steps[] = {
    {"hooks", hooks_take, BY_ULT},
    {"cancels put off", cancels_put_off, BY_ULT | LEAF},
    {NULL, NULL, 0},
};
