/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry's look at a unit which others run: a transcription of copy_unit (watch/registry.c), as its loads are
 * volatile ones, which the checker cannot take. The words are loaded by relaxed atomic loads instead, which is what a
 * processor makes of them. What stores them is abti_suspend as it is. Of words that are stored plainly (func, arg) no
 * model says anything: the registry believes none of them, see doc/memory-model.md.
 */
#include "units.h"
#include "run/block.c"
#include "run/begin.c"
#include "run/end.c"
#include "run/publish.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "registry";
const char *const model_subjects[] = {"test/model/registry.c", 0};

static char what; /* stands for what the unit waits for */

struct copy {
    abti_unit *next;
    void *ctx;
    uint64_t meta;
};

static void copy_unit(struct copy *copy, abti_unit *unit)
{
    copy->meta = abti_load_acquire(&unit->meta);
    copy->next = abti_plain_load_relaxed(&unit->next);
    copy->ctx = abti_plain_load_relaxed(&unit->ctx);
}

static void suspend(void *arg)
{
    abti_es *es = abti_es_self;
    abti_unit *self = arg;
    abti_unit_wait_for(self, &what); /* as abti_suspend and others do */
    model_unit_ends();
    abti_block(es, self, abti_after_suspend, self);
}

static void before(void)
{
    model_reset();
    model_push(model_unit(0, suspend, &model_units[0], 0));
}

static void look(int index)
{
    if (index == 0) {
        model_stream(0);
        return;
    }
    struct copy copy;
    model_linger(40);
    copy_unit(&copy, &model_units[0]);
    union {
        uint64_t meta;
        struct {
            uint16_t flags;
            uint8_t requests, cold;
            uint16_t es;
            uint8_t state, held;
        };
    } parts = {copy.meta};
    if (parts.state & ABT_THREAD_STATE_BLOCKED)
        model_assert(copy.next == (void *)&what && copy.ctx);
}

const struct model_program model_programs[] = {
    {"a unit blocks", 2, 3000, before, look, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {0},
};

const char *const model_own_mutants[] = {0};
