/* SPDX-License-Identifier: BSD-3-Clause */
/* What belongs to a ULT, switch hooks and cancels, and sources of work. */
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

/* It may be gone after the count. */
static void spring_work(void *arg)
{
    struct spring *spring = arg;
    ABT_eventual done = spring->done;
    int num = spring->num;

    if (atomic_load(&spring->left) % 3 == 0)
        must(ABT_thread_yield());
    if (atomic_fetch_add(&spring->run, 1) + 1 == num)
        must(ABT_eventual_set(done, NULL, 0));
}

static ABT_bool spring_ask(void *arg, ABTX_work *work)
{
    struct spring *spring = arg;
    int left = atomic_load(&spring->left);

    while (left > 0)
        if (atomic_compare_exchange_weak(&spring->left, &left, left - 1)) {
            *work = (ABTX_work){.thread = ABT_THREAD_NULL, .func = spring_work, .arg = spring};
            return ABT_TRUE;
        }
    return ABT_FALSE;
}

static void source_set_attr(struct actor *actor, ABTX_source source)
{
    ABT_thread_attr attr = random_attr(actor);

    must(ABTX_source_set_attr(source, attr));
    if (attr != ABT_THREAD_ATTR_NULL)
        must(ABT_thread_attr_free(&attr));
}

/* The caller takes what the streams do not come to: one with units that yield is never idle. */
static void source_take(struct actor *actor)
{
    struct spring spring = {.num = 1 + (int)dice(actor, 10)};
    ABTX_source source;
    ABTX_work work;
    const volatile int *idle;

    must(ABT_eventual_create(0, &spring.done));
    must(ABTX_source_create(spring_ask, &spring, &source));
    source_set_attr(actor, source);
    for (int i = 0; i < world.num_streams; i++)
        must(ABTX_source_attach(source, world.streams[i]));
    must(ABTX_source_get_idle(source, &idle));
    atomic_store(&spring.left, spring.num);
    for (int i = 0; i < spring.num; i++)
        must(ABTX_source_wake_one(source));
    for (unsigned i = dice(actor, 10); i > 0; i--)
        relax(actor);
    while (spring_ask(&spring, &work))
        work.func(work.arg);
    must(ABT_eventual_wait(spring.done, NULL));
    if (chance(actor, 2))
        must(ABTX_source_detach(source, any_stream(actor)));
    must(ABTX_source_free(&source));
    expect(atomic_load(&spring.run) == spring.num && atomic_load(&spring.left) == 0);
    must(ABT_eventual_free(&spring.done));
}

const struct step hook_steps[] = {
    {"hooks", hooks_take, BY_ULT},
    {"cancels put off", cancels_put_off, BY_ULT | LEAF},
    {"source", source_take, BY_ULT},
    {NULL, NULL, 0},
};
