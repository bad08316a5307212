/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_info_*: the configuration, and printing what there is. */
#include "api/handles.h"
#include "run/attr.h"
#include "rt/libunwind.h"
#include "pool/pool.h"
#include "stream/affinity.h"
#include "watch/info.h"
#include "watch/stackdump.h"

/* --- Configuration --- */

/* The best that can be had is a guard page of some kind. */
static int overflow_check(const struct abti_config *config)
{
    bool best = config->stack_guard == ABTI_STACK_GUARD_AUTO;
    return best ? ABTI_STACK_GUARD_MPROTECT : (int)config->stack_guard;
}

/* Returns the value of a kind that is an ABT_bool, 0 or 1, and -1 for the other kinds. */
static int query_bool(ABT_info_query_kind kind, const struct abti_config *config)
{
    switch (kind) {
    case ABT_INFO_QUERY_KIND_ENABLED_DEBUG: return config->use_debug;
    case ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO: return ABTI_BUILD_PRINT_ERRNO;
    case ABT_INFO_QUERY_KIND_ENABLED_LOG: return config->use_log;
    case ABT_INFO_QUERY_KIND_ENABLED_VALGRIND: return ABTI_BUILD_VALGRIND;
    case ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR: return ABTI_BUILD_CHECKS;
    case ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU: return true;
    case ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL:
    case ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL: return ABTI_BUILD_CANCEL;
    case ABT_INFO_QUERY_KIND_ENABLED_MIGRATION: return ABTI_BUILD_MIGRATION;
    case ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD: return ABTI_BUILD_EXT_THREAD;
    case ABT_INFO_QUERY_KIND_ENABLED_TOOL: return config->tool;
    case ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP: return false;
    case ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG: return config->print_config;
    case ABT_INFO_QUERY_KIND_ENABLED_AFFINITY:
        return abti_esaffinity_is_on(); /* never asked of the environment alone */
    case ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND: return abti_libunwind() != NULL;
    case ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC: return true;
    case ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED: return 1;
    case ABT_INFO_QUERY_KIND_FCONTEXT: return ABTI_BUILD_FCONTEXT;
    case ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER:
    case ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER:
    case ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION: return 0;
    default: return -1;
    }
}

/* The limit is raised as streams are made. */
static unsigned max_num_xstreams(const struct abti_config *config)
{
    abti_spin_lock(&abti_rt.lock);
    unsigned max = (unsigned)config->max_num_xstreams;
    abti_spin_unlock(&abti_rt.lock);
    return max;
}

static int info_query(ABT_info_query_kind kind, const struct abti_config *config, void *val)
{
    int truth = query_bool(kind, config);
    if (truth >= 0) {
        *(ABT_bool *)val = truth ? ABT_TRUE : ABT_FALSE;
        return ABT_SUCCESS;
    }
    switch (kind) {
    case ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS: *(unsigned int *)val = max_num_xstreams(config); break;
    case ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE: *(size_t *)val = config->thread_stacksize; break;
    case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE: *(size_t *)val = config->sched_stacksize; break;
    case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ: *(uint64_t *)val = config->sched_event_freq; break;
    case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC: *(uint64_t *)val = config->sched_sleep_nsec; break;
    case ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK: *(int *)val = overflow_check(config); break;
    case ABT_INFO_QUERY_KIND_WAIT_POLICY: *(int *)val = ABTI_BUILD_WAIT_ACTIVE; break;
    default: return ABT_ERR_INV_QUERY_KIND;
    }
    return ABT_SUCCESS;
}

/* Returns what the environment says now. */
static int query_environment(ABT_info_query_kind kind, void *val)
{
    struct abti_config config;
    int code = abti_config_load(&config, false);
    if (code != ABT_SUCCESS)
        return code;
    code = info_query(kind, &config, val);
    abti_config_fini(&config);
    return code;
}

int ABT_info_query_config(ABT_info_query_kind query_kind, void *val)
{
    bool up = abti_rt_is_up();
    ABTI_REFUSE_IF(!up && (!ABTI_BUILD_VER20 || query_kind == ABT_INFO_QUERY_KIND_ENABLED_AFFINITY),
                   ABT_ERR_UNINITIALIZED);
    return abti_error(up ? info_query(query_kind, &abti_rt.config, val) : query_environment(query_kind, val));
}

/* --- Printing. What cannot be printed is an error in 1.x and a line of text in 2.0. --- */

static int cannot_print(FILE *fp, const char *note, int code)
{
    ABTI_FAIL_IF(!ABTI_BUILD_VER20, code);
    fprintf(fp, "%s\n", note);
    fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_config(FILE *fp)
{
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return cannot_print(fp, "libabt is not initialized", ABT_ERR_UNINITIALIZED);
    abti_info_print_config(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_all_xstreams(FILE *fp)
{
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return cannot_print(fp, "libabt is not initialized", ABT_ERR_UNINITIALIZED);
    return abti_error(abti_info_print_all_xstreams(fp));
}

int ABT_info_print_xstream(FILE *fp, ABT_xstream xstream)
{
    if (ABTI_REFUSE(ABTI_XSTREAM_IS_BAD(xstream)))
        return cannot_print(fp, "no execution stream", ABT_ERR_INV_XSTREAM);
    abti_info_print_xstream(fp, xstream);
    return ABT_SUCCESS;
}

int ABT_info_print_sched(FILE *fp, ABT_sched sched)
{
    if (ABTI_REFUSE(ABTI_SCHED_IS_BAD(sched)))
        return cannot_print(fp, "no scheduler", ABT_ERR_INV_SCHED);
    abti_info_print_sched(fp, sched);
    return ABT_SUCCESS;
}

int ABT_info_print_pool(FILE *fp, ABT_pool pool)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD(pool)))
        return cannot_print(fp, "no pool", ABT_ERR_INV_POOL);
    abti_info_print_pool(fp, pool);
    return ABT_SUCCESS;
}

int ABT_info_print_thread(FILE *fp, ABT_thread thread)
{
    if (ABTI_REFUSE(ABTI_THREAD_IS_BAD(thread)))
        return cannot_print(fp, "no work unit", ABT_ERR_INV_THREAD);
    abti_info_print_unit(fp, thread);
    return ABT_SUCCESS;
}

int ABT_info_print_task(FILE *fp, ABT_task task)
{
    if (ABTI_REFUSE(ABTI_THREAD_IS_BAD(task)))
        return cannot_print(fp, "no work unit", ABT_ERR_INV_TASK);
    abti_info_print_unit(fp, task);
    return ABT_SUCCESS;
}

int ABT_info_print_thread_attr(FILE *fp, ABT_thread_attr attr)
{
    if (ABTI_REFUSE(ABTI_ATTR_IS_BAD(attr)))
        return cannot_print(fp, "no attribute", ABT_ERR_INV_THREAD_ATTR);
    fprintf(fp, "ULT attribute %p:\n", (void *)attr);
    fprintf(fp, "  stack: %p\n", attr->stackaddr);
    fprintf(fp, "  stack size: %zu\n", attr->stacksize);
    fprintf(fp, "  migratable: %s\n", attr->migratable ? "yes" : "no");
    fprintf(fp, "  callback argument: %p\n", attr->callback_arg);
    fflush(fp);
    return ABT_SUCCESS;
}

/* --- Stacks --- */

int ABT_info_print_thread_stack(FILE *fp, ABT_thread thread)
{
    if (ABTI_REFUSE(ABTI_THREAD_IS_BAD(thread)))
        return cannot_print(fp, "no work unit", ABT_ERR_INV_THREAD);
    abti_stackdump_unit(fp, thread);
    fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_print_thread_stacks_in_pool(FILE *fp, ABT_pool pool)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD(pool)))
        return cannot_print(fp, "no pool", ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_can(pool, ABTI_POOL_PRINT_ALL), ABT_ERR_POOL);
    abti_stackdump_pool(fp, pool);
    fflush(fp);
    return ABT_SUCCESS;
}

int ABT_info_trigger_print_all_thread_stacks(FILE *fp, double timeout, void (*cb_func)(ABT_bool, void *), void *arg)
{
    struct abti_halt_request request = {
        .timeout = timeout,
        .act = abti_stackdump_all,
        .fp = fp,
        .done = cb_func,
        .arg = arg,
    };
    abti_halt_post(&request);
    return ABT_SUCCESS;
}
