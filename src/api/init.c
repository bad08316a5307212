/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_init, ABT_finalize and what enters a stream before that: the one place that knows every module. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "api/handles.h"
#include "arch/shadow.h"
#include "stream/blocking.h"
#include "stream/carrier.h"
#include "fork/workers.h"
#include "idle/driver.h"
#include "rt/symbol.h"
#include "mem/slab.h"
#include "os/fault.h"
#include "os/nodes.h"
#include "run/observe.h"
#include "pool/leftover.h"
#include "pool/pool_impl.h"
#include "pool/shortage.h"
#include "rt/handle.h"
#include "rt/log.h"
#include "rt/variables.h"
#include "run/switch.h"
#include "run/end.h"
#include "run/join.h"
#include "stream/affinity.h"
#include "stream/entered.h"
#include "stream/halt.h"
#include "stream/helper.h"
#include "stream/list.h"
#include "stream/reclaim.h"
#include "stream/sched_impl.h"
#include "stream/source.h"
#include "sync/mutex.h"
#include "sync/wordq.h"
#include "watch/stats.h"
#include "watch/trace.h"
#include "unit/exceptions.h"
#include "unit/joining.h"
#include "unit/saved.h"
#include "unit/key.h"
#include "unit/ledger.h"
#include "unit/ownstack.h"
#include "unit/tool_event.h"
#include "unit/unitmap.h"
#include "wait/cpus.h"
#include "wait/external.h"
#include "wait/waketree.h"
#include "watch/deadlock.h"
#include "watch/dumpsignal.h"
#include "watch/info.h"
#include "watch/layout.h"
#include "watch/stranded.h"
#include "watch/top.h"

/* Guards the count of ABT_init calls and everything that the first and the last of them do, and what follows. */
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(int) init_count; /* relaxed, everywhere: written with the lock held */
static int num_entered;         /* threads that have entered a stream by ABTX_xstream_enter, or are about to */
static bool is_finalizing;      /* the last ABT_finalize is at work */

/* So that the table is in every program that is linked with the archive. */
static const struct abti_debug_layout *const layout_for_debuggers __attribute__((used)) = &ABTI_debug_layout;

static void slabs_fini(void)
{
    abti_slab_fini(&abti_rt.unit_slab);
    abti_slab_fini(&abti_rt.stack_slab);
    abti_slab_fini(&abti_rt.ktable_slab);
    abti_ownstacks_end();
}

static int memory_init(void)
{
    const struct abti_config *config = &abti_rt.config;
    if (__builtin_mul_overflow(config->mem_max_num_stacks, config->thread_stacksize, &abti_rt.kept))
        abti_rt.kept = SIZE_MAX;
    struct abti_slab_spec spec;
    abti_reclaim_init();
    abti_chunk_init(config->mem_lp_alloc, config->huge_page_size);
    abti_guard_init(config->stack_guard);
    abti_unit_slab_spec(&spec, config->mem_page_size, config->mem_max_num_descs);
    abti_reclaim_watch(&spec, abti_rt.kept / sizeof(abti_unit));
    abti_slab_init(&abti_rt.unit_slab, &spec);
    abti_stack_slab_spec(&spec, config->thread_stacksize, config->mem_stack_page_size);
    if (config->mem_max_num_stacks / 2 < spec.batch)
        spec.batch = config->mem_max_num_stacks / 2; /* a cache has two magazines */
    abti_reclaim_watch(&spec, config->mem_max_num_stacks);
    abti_slab_init(&abti_rt.stack_slab, &spec);
    /* Without memory for a single stack no ULT would ever start, and there would be nobody to tell. */
    bool has_stacks = abti_arena_can_grow(&spec.arena);
    abti_ktables_init(config->key_table_size, abti_rt.kept, abti_reclaim_watch);
    if (has_stacks && abti_cache_init(&abti_rt.external_units, &abti_rt.unit_slab) == 0)
        return ABT_SUCCESS;
    slabs_fini();
    return ABT_ERR_MEM;
}

static void memory_fini(void)
{
    abti_cache_fini(&abti_rt.external_units);
    abti_ownstacks_fini(&abti_rt.external_stacks);
    abti_lazycache_fini(&abti_rt.external_ktables);
    abti_reclaim_fini(); /* after the last object that goes to a depot, which may start it */
    slabs_fini();
    abti_unitmap_fini();
    abti_fault_stack_forget();
}

static int primary_init(void)
{
    abti_pool *pool;
    int code = abti_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, true, &pool);
    if (code != ABT_SUCCESS)
        return code;
    abti_spin_lock(&abti_rt.lock);                /* threads may be entering streams */
    (void)abti_rt_next_id(&abti_rt.next_pool_id); /* id 1 is spoken for: clients count from there */
    abti_spin_unlock(&abti_rt.lock);
    abti_sched *sched;
    code = abti_sched_create_basic(ABT_SCHED_DEFAULT, 1, &pool, NULL, &sched);
    if (code != ABT_SUCCESS) {
        abti_pool_destroy(pool);
        return code;
    }
    abti_store_relaxed(&sched->use, ABTI_SCHED_MAIN); /* relaxed: nobody knows the scheduler yet */
    code = abti_es_enter(sched, 0, &abti_rt.primary);
    if (code != ABT_SUCCESS)
        abti_sched_destroy(sched);
    return code;
}

/*
 * Makes the calling thread the primary stream. One that has entered a stream keeps that. A unit of another stream
 * cannot be what ABT_init makes of its caller: then there is no primary stream.
 */
static int primary_begin(void)
{
    abti_es *es = abti_es_self;
    if (!es)
        return primary_init();
    if (!(es->cur->flags & ABTI_UNIT_ENTERED))
        return ABT_SUCCESS;
    int code = abti_es_promote(es);
    if (code == ABT_SUCCESS)
        abti_rt.primary = es;
    return code;
}

/* `primary`: also the primary stream. */
static int memory_and_primary_init(bool primary)
{
    int code = memory_init();
    if (code != ABT_SUCCESS || !primary)
        return code;
    code = primary_init();
    if (code != ABT_SUCCESS)
        memory_fini();
    return code;
}

static void reset_in_child(void);

/* Once, for as long as the library is loaded. Without memory the child of a fork is as it was left. */
static void watch_forks(void)
{
    static bool registered;
    if (!registered)
        registered = pthread_atfork(NULL, NULL, reset_in_child) == 0;
}

/*
 * The thread that asks for biases. It detaches itself when it has asked, since a process may end without ABT_finalize.
 * A finalize that comes before joins it: one of the two changes the state.
 */
enum { BIAS_NO_THREAD, BIAS_ASKS, BIAS_IS_DETACHED, BIAS_IS_JOINED };
static _Atomic(uint32_t) bias_state;
static pthread_t bias_thread;

/* acq_rel: of no use; bias_end uses what bias_begin, which is called before, has stored */
static bool bias_leave_asking(uint32_t state)
{
    uint32_t asks = BIAS_ASKS;
    return abti_cas_acq_rel(&bias_state, &asks, state);
}

static void *ask_for_bias(void *unused)
{
    (void)unused;
    abti_bias_ask();
    if (bias_leave_asking(BIAS_IS_DETACHED))
        pthread_detach(pthread_self());
    return NULL;
}

/* Without memory for the thread there are no biases. */
static void bias_begin(void)
{
    if (abti_bias_init())
        return;
    abti_store_relaxed(&bias_state, BIAS_ASKS); /* relaxed: pthread_create publishes it */
    if (abti_helper_start(&bias_thread, ask_for_bias) != 0)
        abti_store_relaxed(&bias_state, BIAS_NO_THREAD); /* relaxed: there is no thread */
}

static void bias_end(void)
{
    if (bias_leave_asking(BIAS_IS_JOINED))
        pthread_join(bias_thread, NULL);
}

/* There is one thread, which may ask by itself. */
static void bias_begin_in_child(void)
{
    abti_store_relaxed(&bias_state, BIAS_NO_THREAD); /* relaxed: there is no other thread */
    if (!abti_bias_init())
        abti_bias_ask();
}

/* `primary`: for ABT_init, which makes its caller the primary stream. */
static int runtime_init(bool primary)
{
    if (!abti_shadow_permits())
        return ABT_ERR_SYS;
    int code = abti_config_load(&abti_rt.config, true);
    if (code != ABT_SUCCESS)
        return code;
    abti_variables_tell();
    if (abti_rt.config.check != ABTI_CHECK_OFF)
        abti_ledger_begin();
    abti_rt.next_pool_id = abti_rt.next_sched_id = 0;
    /* relaxed: no other thread uses the library before abti_rt.up is set */
    abti_store_relaxed(&abti_rt.next_unit_id, 0);
    abti_halt_reset();
    abti_cpu_init();
    abti_store_relaxed(&abti_num_cpus, abti_affinity_num_allowed());
    abti_nodes_init(abti_rt.config.numa, abti_rt.config.node_list);
    abti_annotate_init();
    abti_handles_look(abti_ledger_on);
    abti_mutex_watch_owners(abti_rt.config.watch_waits || abti_ledger_on);
    abti_observe_reset();
    code = abti_esaffinity_init();
    if (code == ABT_SUCCESS) {
        code = memory_and_primary_init(primary);
        if (code != ABT_SUCCESS)
            abti_esaffinity_fini();
    }
    if (code != ABT_SUCCESS) {
        abti_handles_look(true);
        abti_ledger_end();
        abti_config_fini(&abti_rt.config);
        return code;
    }
    watch_forks();
    bias_begin();
    abti_overflow_watch(abti_blocking_unit);
    abti_stats_begin();
    abti_trace_begin();
    abti_entry_choose();
    /* release: pairs with abti_rt_is_up */
    abti_store_release(&abti_rt.up, true);
    const struct abti_config *config = &abti_rt.config;
    abti_dumpsignal_begin(config->dump_signal);
    abti_log("libabt " ABTX_VERSION " begins: stacks of %zu bytes, checks of overflow %d, at most %d streams",
             config->thread_stacksize, (int)config->stack_guard, config->max_num_xstreams);
    if (config->print_config)
        abti_info_print_config(stdout);
    abti_deadlock_begin();
    abti_top_start();
    return ABT_SUCCESS;
}

int ABT_init(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pthread_mutex_lock(&init_lock);
    int count = abti_load_relaxed(&init_count), code = ABT_SUCCESS;
    if (count == 0)
        code = abti_rt_is_up() ? primary_begin() : runtime_init(true);
    if (code == ABT_SUCCESS)
        abti_store_relaxed(&init_count, count + 1);
    pthread_mutex_unlock(&init_lock);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

/* --- Streams that native threads enter --- */

int abti_init_enter(void)
{
    pthread_mutex_lock(&init_lock);
    while (is_finalizing) { /* the thread is no stream, and nobody waits for it: it waits until that is over */
        pthread_mutex_unlock(&init_lock);
        sched_yield();
        pthread_mutex_lock(&init_lock);
    }
    int code = abti_rt_is_up() ? ABT_SUCCESS : runtime_init(false);
    num_entered += code == ABT_SUCCESS;
    pthread_mutex_unlock(&init_lock);
    return code;
}

void abti_init_leave(void)
{
    pthread_mutex_lock(&init_lock);
    abti_assert(num_entered > 0);
    num_entered--;
    pthread_mutex_unlock(&init_lock);
}

/* The primary scheduler's pools go with it, whether or not others use them or their automatic flags are set. */
static void destroy_primary_sched(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        sched->pools[i]->automatic = true;
        abti_store_relaxed(&sched->pools[i]->num_scheds, 1);
    }
    abti_sched_destroy(sched);
}

/* A pool may be in the list twice: it is dropped once. */
static void forget_repeated_pools(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        for (int j = i + 1; j < sched->num_pools;) {
            if (sched->pools[j] == sched->pools[i])
                sched->pools[j] = sched->pools[--sched->num_pools];
            else
                j++;
        }
    }
}

/* Streams that live on would run on freed memory. That is a mistake of the program, from which nothing can be saved. */
static void refuse_live_streams(void)
{
    if (abti_rt.num_xstreams == 1)
        return;
    fprintf(stderr, "libabt: ABT_finalize: %d execution streams have not been freed\n", abti_rt.num_xstreams - 1);
    abort();
}

/*
 * The primary ULT leaves its pool for good and waits for its scheduler to run everything else to its end. Keys are
 * destroyed while there is still a library, and a primary ULT, for the destructors to see.
 */
static void finish_primary(abti_es *es)
{
    abti_stranded_watch(es);
    abti_es_finish(es);
    abti_stranded_end();
}

/*
 * Threads that have entered streams go on: the primary stream ends, and the library stays. The primary ULT of a thread
 * that had entered before ABT_init is as it was before.
 */
static void primary_fini(abti_es *es, bool had_entered)
{
    abti_log("the primary stream ends");
    abti_rt.primary = NULL;
    if (had_entered) {
        abti_es_demote(es);
        return;
    }
    finish_primary(es);
    destroy_primary_sched(abti_es_end_entered(es));
}

/* Ends the library with its primary stream. */
static void runtime_fini(abti_es *es)
{
    refuse_live_streams();
    abti_log("libabt ends");
    abti_observe_listen(ABTI_LISTENER_TOOL, NULL);
    finish_primary(es);
    es->tool.depth = 0;
    if (es->has_begun)
        abti_tool_event_finish(es, es->main_unit); /* for traces and statistics; tools listen no more */
    bias_end();
    abti_top_stop();
    abti_deadlock_end();
    abti_unit_call_back(es->cur);
    abti_unit_call_back(es->main_unit);

    abti_stats_fini();
    abti_trace_fini();
    abti_sched *sched = atomic_load(&es->main_sched); /* seq_cst: of no use; the ES itself stores it */
    abti_dumpsignal_end();
    /* release: pairs with abti_rt_is_up */
    abti_store_release(&abti_rt.up, false);
    abti_handles_look(true);
    abti_ledger_end(); /* while there is a stream that takes the descriptors back */
    forget_repeated_pools(sched);
    abti_es_leave(es);
    destroy_primary_sched(sched);
    abti_pool_destroy_orphans();
    abti_es_free_kept();
    abti_overflow_unwatch();
    abti_tool_fini();
    abti_observe_reset();
    abti_workers_fini();
    memory_fini();
    abti_esaffinity_fini();
    abti_config_fini(&abti_rt.config);
    abti_rt.primary = NULL;
    abti_rt.pools = NULL; /* the user's own, if any are left, are the user's leak */
}

static int check_last_finalize(abti_es *es)
{
    if (!es || !abti_es_is_primary(es))
        return ABT_ERR_INV_XSTREAM;
    if (!(es->cur->flags & ABTI_UNIT_PRIMARY))
        return ABT_ERR_INV_THREAD;
    return ABT_SUCCESS;
}

/* Ends what there is to end, for the last of the calls. Units still run, and may call ABT_init and ABT_finalize in
 * pairs, so that this is not done under the lock. */
static void finalize_last(abti_es *es, bool others)
{
    bool had_entered = es && es->had_entered;
    if (es && es == abti_rt.primary && others)
        primary_fini(es, had_entered);
    else if (es && es == abti_rt.primary)
        runtime_fini(es);
    pthread_mutex_lock(&init_lock);
    abti_store_relaxed(&init_count, abti_load_relaxed(&init_count) - 1);
    is_finalizing = false;
    pthread_mutex_unlock(&init_lock);
}

int ABT_finalize(void)
{
    pthread_mutex_lock(&init_lock);
    abti_es *es = abti_es_self;
    int count = abti_load_relaxed(&init_count);
    int code = ABT_SUCCESS;
    if (count == 0)
        code = ABT_ERR_UNINITIALIZED;
    else if (count == 1 && abti_rt.primary)
        code = check_last_finalize(es);
    bool last = code == ABT_SUCCESS && count == 1;
    bool others = num_entered > 0;
    if (last)
        is_finalizing = !others;
    else if (code == ABT_SUCCESS)
        abti_store_relaxed(&init_count, count - 1);
    pthread_mutex_unlock(&init_lock);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    if (last)
        finalize_last(es, others);
    return ABT_SUCCESS;
}

int ABT_initialized(void)
{
    /* relaxed: the caller sees to the order with ABT_init and ABT_finalize */
    return abti_rt_is_up() && abti_load_relaxed(&init_count) > 0 ? ABT_SUCCESS : ABT_ERR_UNINITIALIZED;
}

/* --- Fork --- */

/* As when the library was loaded, but for the configuration: other threads may have been changing any of it. */
static void forget_parent(void)
{
    abti_workers_forget(abti_fork_deque(abti_es_self));
    abti_sources_forget();
    abti_es_self = NULL;
    abti_es_list_forget();
    abti_drivers_forget();
    abti_rt_forget();
    abti_tool_forget();
    abti_observe_forget();
    abti_unitmap_forget();
    abti_ledger_forget();
    abti_exceptions_forget();
    abti_externals_forget();
    abti_leftover_forget();
    abti_shortage_forget();
    abti_halt_forget();
    abti_wordq_forget();
    abti_es_forget_kept();
}

/*
 * The child of a fork has one thread, this one. With one stream, none of whose units is in a blocking region, all goes
 * on as it was. The units of other streams, and whatever they held, are gone: the library begins anew, with this thread
 * as the primary ES and what it runs as the primary ULT; or as a stream that the thread has entered, where nobody has
 * called ABT_init.
 */
static void reset_in_child(void)
{
    abti_es *es = abti_es_self;
    init_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    abti_own_forget();
    abti_joining_forget();
    abti_waketree_forget();
    abti_symbol_forget();
    abti_dumpsignal_forget();
    if (!abti_rt_is_up())
        return;
    bias_begin_in_child();
    if (es && es->is_entered && abti_rt.num_xstreams == 1 && !abti_blocking_is_used(es)) {
        abti_crew_forget(es);
        abti_own_enter(&es->own);
        num_entered = !abti_es_is_primary(es) || es->had_entered;
        is_finalizing = false;
        return;
    }
    abti_unit *in_region = abti_blocking_forget(), *forker = es ? es->cur : in_region;
    ABTX_switch_link *hooks = es ? es->hooks : NULL;
    bool entered = forker && forker->flags & ABTI_UNIT_ENTERED, had_entered = es && es->had_entered;
    is_finalizing = false;
    forget_parent();
    if (memory_and_primary_init(true) != ABT_SUCCESS) {
        fprintf(stderr, "libabt: no memory to begin anew in the child of a fork: it is as before ABT_init there\n");
        abti_store_relaxed(&init_count, 0);
        num_entered = 0;
        return;
    }
    num_entered = entered || had_entered || abti_load_relaxed(&init_count) == 0;
    abti_rt.primary->had_entered = num_entered > 0;
    if (forker && !(forker->flags & ABTI_UNIT_PRIMARY))
        abti_end_with_process(abti_rt.primary->cur, forker);
    abti_hooks_set(abti_rt.primary, hooks);
    if (abti_load_relaxed(&init_count) == 0) {
        abti_es_demote(abti_rt.primary);
        abti_rt.primary = NULL;
    }
    abti_entry_choose();
    /* release: pairs with abti_rt_is_up */
    abti_store_release(&abti_rt.up, true);
}
