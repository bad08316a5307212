/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_source_*: work that is made when a stream has none. */
#include <stdlib.h>
#include "api/handles.h"
#include "create/attr.h"
#include "pick/sched.h"
#include "run/child.h"
#include "stream/source.h"

#define SOURCE_IS_BAD(h) ABTI_CALLEE_IS_BAD(h, ABTI_HANDLE_SOURCE, __func__)

int ABTX_source_create(ABTX_source_fn ask, void *arg, ABTX_source *newsource)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(!ask || !newsource, ABT_ERR_INV_ARG);
    ABTX_source source = aligned_alloc(ABTI_CACHE_LINE, sizeof(*source));
    ABTI_FAIL_IF(!source, ABT_ERR_MEM);
    *source = (struct ABTX_source_opaque){.ask = ask, .arg = arg};
    abti_spin_init(&source->lock, ABTI_RANK_LEAF);
    abti_ledger_made(source, ABTI_HANDLE_SOURCE);
    *newsource = source;
    return ABT_SUCCESS;
}

int ABTX_source_free(ABTX_source *source)
{
    ABTI_REFUSE_IF(!source || SOURCE_IS_BAD(*source), ABT_ERR_INV_ARG);
    abti_source_detach_all(*source);
    abti_ledger_free(*source);
    *source = NULL;
    return ABT_SUCCESS;
}

int ABTX_source_attach(ABTX_source source, ABT_xstream xstream)
{
    int code = abti_check_callee_and_xstream(source, ABTI_HANDLE_SOURCE, xstream, __func__);
    if (code == ABT_SUCCESS)
        code = abti_source_attach(source, xstream);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_source_detach(ABTX_source source, ABT_xstream xstream)
{
    int code = abti_check_callee_and_xstream(source, ABTI_HANDLE_SOURCE, xstream, __func__);
    if (code == ABT_SUCCESS)
        code = abti_source_detach(source, xstream);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_source_set_attr(ABTX_source source, ABT_thread_attr attr)
{
    static const struct ABT_thread_attr_opaque plain = {.migratable = true};
    ABTI_REFUSE_IF(SOURCE_IS_BAD(source), ABT_ERR_INV_ARG);
    ABTI_REFUSE_IF(ABTI_IS_STALE(attr, ABT_THREAD_ATTR_NULL, ABTI_HANDLE_THREAD_ATTR, __func__),
                   ABT_ERR_INV_THREAD_ATTR);
    const struct ABT_thread_attr_opaque *of = ABTI_ATTR_IS_NULL(attr) ? &plain : attr;
    ABTI_REFUSE_IF(of->stackaddr || of->callback, ABT_ERR_INV_THREAD_ATTR);
    /* relaxed: they are settings */
    abti_store_relaxed(&source->stacksize, abti_attr_is_of_default_size(of) ? 0 : of->stacksize);
    abti_store_relaxed(&source->pins, !of->migratable);
    return ABT_SUCCESS;
}

int ABTX_source_get_idle(ABTX_source source, const volatile int **idle)
{
    ABTI_REFUSE_IF(SOURCE_IS_BAD(source) || !idle, ABT_ERR_INV_ARG);
    *idle = (const volatile int *)&source->idle; /* an atomic int is nothing else, on all machines that there are */
    return ABT_SUCCESS;
}

int ABTX_source_wake_one(ABTX_source source)
{
    ABTI_REFUSE_IF(SOURCE_IS_BAD(source), ABT_ERR_INV_ARG);
    abti_source_wake_one(source);
    return ABT_SUCCESS;
}

int ABTX_xstream_check_sources(ABT_bool *ran)
{
    abti_es *es = abti_es_self;
    int code = abti_check_ult(es);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    ABTI_REFUSE_IF(!(es->cur->flags & ABTI_UNIT_MAIN_SCHED), ABT_ERR_INV_THREAD);
    abti_sched *sched = abti_unit_cold_get(es->cur)->sched;
    abti_unit *unit = sched->num_pools > 0 ? abti_source_ask(es, sched) : NULL;
    if (ran)
        *ran = unit ? ABT_TRUE : ABT_FALSE;
    return unit ? abti_run_child_last(es, unit) : ABT_SUCCESS;
}
