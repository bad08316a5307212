/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/sched_picked.h"

#include "image/cxx.h"
#include "os/annotate.h"
#include "os/vm.h"
#include "pool/member.h"
#include "stream/sched_impl.h"

/* The memory is far more than is used: a unit's line of rarely used things is far behind it. */
enum { PICKED_BYTES = ABTI_UNIT_COLD_OFFSET + sizeof(struct abti_unit_cold) };
_Static_assert(sizeof(struct abti_picked) <= ABTI_UNIT_COLD_OFFSET, "before the line");

/* `self` is never given: a unit that yields is in its pool, see yield_picked (run/yield.c). */
static abti_unit *picked_pick(abti_sched *sched, abti_unit *self)
{
    abti_assert(!self);
    (void)self;
    return abti_picked_pick(abti_es_self, sched);
}

static bool picked_may_sleep(abti_sched *sched)
{
    abti_assert(sched->picked && abti_es_self->cur != &sched->picked->unit);
    ABTX_sched_before_sleep_fn before_sleep = sched->picked->def.before_sleep;
    return !before_sleep || ABTI_PICKED_CALL(abti_es_self, abti_es_self->cur, sched, before_sleep(sched)) != ABT_FALSE;
}

static void picked_look(abti_sched *sched)
{
    ABTX_sched_on_event_fn on_event = sched->picked->def.on_event;
    abti_assert(on_event);
    (void)ABTI_PICKED_CALL(abti_es_self, abti_es_self->cur, sched, (on_event(sched), 0));
}

static void picked_run(abti_sched *sched)
{
    ABTI_STOPS_EXCEPTIONS();
    abti_annotate_acquire(sched);
    abti_sched_loop(sched);
    abti_annotate_release(sched);
    __asm__ volatile(""); /* the frame stays: no tail call */
}

static void picked_fini(abti_sched *sched)
{
    if (!sched->picked)
        return;
    abti_unit_call_back(&sched->picked->unit); /* its functions may have set values of keys */
    abti_vm_unmap(sched->picked, PICKED_BYTES);
}

/* Without on_event a child need not go to its parent for each look at events. */
static const struct abti_sched_ops picked_ops = {
    .run = picked_run, .pick = picked_pick, .may_sleep = picked_may_sleep, .fini = picked_fini};
static const struct abti_sched_ops picked_looking_ops = {
    .run = picked_run, .pick = picked_pick, .may_sleep = picked_may_sleep, .look = picked_look, .fini = picked_fini};

static struct abti_picked *picked_new(const struct ABTX_sched_def_opaque *def, abti_pool *pool)
{
    struct abti_picked *picked = abti_vm_map(PICKED_BYTES);
    if (!picked)
        return NULL;
    picked->def = *def;
    abti_unit_init(&picked->unit, NULL, NULL, pool, ABTI_UNIT_TASKLET | ABTI_UNIT_NAMED);
    return picked;
}

int abti_sched_create_picked(ABTX_sched_def def, int num_pools, abti_pool **pools, ABT_sched_config config,
                             abti_sched **out)
{
    abti_assert(def->pick);
    abti_sched *sched;
    int code =
        abti_sched_alloc(ABTI_SCHED_PICKS, def->on_event ? &picked_looking_ops : &picked_ops, num_pools, pools, &sched);
    if (code != ABT_SUCCESS)
        return code;
    sched->picked = picked_new(def, num_pools > 0 ? pools[0] : NULL);
    code = sched->picked ? ABT_SUCCESS : ABT_ERR_MEM;
    const struct abti_kvconf *conf = config && config != ABT_SCHED_CONFIG_NULL ? &config->conf : NULL;
    sched->automatic = abti_kvconf_get_int(conf, ABTI_SCHED_CONFIG_AUTOMATIC, 0) != 0;
    int freq = abti_kvconf_get_int(conf, ABTI_SCHED_CONFIG_FREQ, 0);
    if (freq > 0)
        sched->event_freq = (uint32_t)freq;
    sched->direct = !abti_annotate_order; /* as in abti_sched_create_basic */
    if (code == ABT_SUCCESS && def->init)
        code = def->init(sched, config);
    if (code != ABT_SUCCESS) {
        abti_sched_unmake(sched);
        return code;
    }
    sched->def.free = def->free;
    *out = sched;
    return ABT_SUCCESS;
}
