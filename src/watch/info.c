/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/info.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/assert.h"
#include "rt/symbol.h"
#include "run/sched.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "stream/affinity.h"
#include "stream/events.h"
#include "watch/registry.h"

static const char *yes_no(bool b)
{
    return b ? "yes" : "no";
}

static const char *on_off(bool b)
{
    return b ? "on" : "off";
}

/* --- Configuration --- */

static size_t num_cores(void)
{
    return abti_rt.config.affinity ? abti_esaffinity_allowed()->num : abti_affinity_num_online();
}

static void print_system(FILE *fp, const struct abti_config *config, int num)
{
    fprintf(fp, "libabt %s, version of the interface: %s\n", ABTX_VERSION, ABT_VERSION);
    fprintf(fp, "  CPU cores: %zu\n", num_cores());
    fprintf(fp, "  cache line size: %d\n", ABTI_CACHE_LINE);
    fprintf(fp, "  execution streams: %d of %d\n", num, config->max_num_xstreams);
    fprintf(fp, "  CPU affinity: %s, streams can be bound: %s\n", on_off(abti_esaffinity_is_on()),
            yes_no(config->affinity));
}

static void print_build(FILE *fp)
{
    fprintf(fp, "  printing of error codes: %s\n", on_off(ABTI_BUILD_PRINT_ERRNO));
    fprintf(fp, "  valgrind support: %s\n", yes_no(ABTI_BUILD_VALGRIND));
    fprintf(fp, "  cancellation: %s\n", yes_no(ABTI_BUILD_CANCEL));
    fprintf(fp, "  migration: %s\n", yes_no(ABTI_BUILD_MIGRATION));
    fprintf(fp, "  external threads: %s\n", yes_no(ABTI_BUILD_EXT_THREAD));
    fprintf(fp, "  error checks: %s\n", on_off(ABTI_BUILD_CHECKS));
    fprintf(fp, "  tool interface built in: %s\n", yes_no(ABTI_BUILD_TOOL));
    fprintf(fp, "  wait policy: %s\n", ABTI_BUILD_WAIT_ACTIVE ? "active" : "passive");
    fprintf(fp, "  context switch: %s\n", ABTI_BUILD_FCONTEXT ? "assembly" : "the C library's");
    fprintf(fp, "  timer: clock_gettime\n");
}

/* What a slab's chunks are made of: they may differ, as huge pages run out. */
static void print_chunks(FILE *fp, const char *what, struct abti_slab *slab)
{
    static const char *const sources[] = {
        [ABTI_CHUNK_MALLOC] = "malloc",
        [ABTI_CHUNK_NORMAL] = "normal pages",
        [ABTI_CHUNK_HUGE] = "huge pages",
        [ABTI_CHUNK_THP] = "transparent huge pages",
    };
    size_t counts[ABTI_CHUNK_ORIGINS] = {0};
    const char *between = " ";
    abti_slab_count_chunks(slab, counts);
    fprintf(fp, "  chunks of %s:", what);
    for (int i = 0; i < ABTI_CHUNK_ORIGINS; i++) {
        if (counts[i] == 0)
            continue;
        fprintf(fp, "%s%zu of %s", between, counts[i], sources[i]);
        between = ", ";
    }
    fprintf(fp, "%s\n", *between == ' ' ? " none yet" : "");
}

/* What was got of the memory that the variables ask for. */
static void print_memory(FILE *fp, const struct abti_config *config)
{
    static const char *const words[] = {
        [ABTI_LP_MALLOC] = "malloc",           [ABTI_LP_MMAP_RP] = "mmap_rp", [ABTI_LP_MMAP_HP_RP] = "mmap_hp_rp",
        [ABTI_LP_MMAP_HP_THP] = "mmap_hp_thp", [ABTI_LP_THP] = "thp",
    };
    unsigned got = abti_guard_kinds();
    fprintf(fp, "  stack guards so far:%s%s%s%s\n", got & ABTI_GUARDED_BY_KERNEL ? " kernel" : "",
            got & ABTI_GUARDED_BY_MPROTECT ? " mprotect" : "", got & ABTI_GUARDED_BY_CANARY ? " canary" : "",
            got ? "" : " none");
    fprintf(fp, "  chunks come from: %s", words[abti_chunk_policy()]);
    if (abti_chunk_policy() != config->mem_lp_alloc)
        fprintf(fp, " (%s was asked for)", words[config->mem_lp_alloc]);
    fprintf(fp, "\n");
    print_chunks(fp, "descriptors", &abti_rt.unit_slab);
    print_chunks(fp, "stacks", &abti_rt.stack_slab);
}

void abti_info_print_config(FILE *fp)
{
    abti_spin_lock(&abti_rt.lock);
    struct abti_config config = abti_rt.config; /* the limit of streams is raised meanwhile */
    int num = abti_rt.num_xstreams;
    abti_spin_unlock(&abti_rt.lock);
    print_system(fp, &config, num);
    print_build(fp);
    print_memory(fp, &config);
    abti_config_print(fp, &config);
    fflush(fp);
}

/* --- Execution streams --- */

/* What is said of a stream. It is noted before anything is written, since no lock is held while writing. */
struct es_note {
    abti_es *es;
    int rank;
    const char *type;
    bool running;
    uint32_t control;
    abti_unit *main_unit, *cur;
    abti_sched *main_sched;
};

/* rt.lock held */
static struct es_note es_note(abti_es *es)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    return (struct es_note){
        /*
         * acquire: pairs with the release of TERMINATED in es_thread or abti_main_run_entered. relaxed: the others are
         * for information
         */
        .es = es,
        .rank = es->rank,
        .type = abti_es_is_primary(es) ? "primary"
                : es->is_entered       ? "entered"
                                       : "secondary",
        .running = abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_RUNNING,
        .control = abti_load_relaxed(&es->control),
        .main_unit = es->main_unit,
        .cur = abti_registry_peek(&es->cur),
        .main_sched = abti_load_relaxed(&es->main_sched),
    };
}

static void print_es_note(FILE *fp, const struct es_note *note)
{
    static const char *const controls[] = {
        [ABTI_ES_RUN] = "runs", [ABTI_ES_STOPPED] = "waits to be revived or freed", [ABTI_ES_EXIT] = "ends"};
    fprintf(fp, "execution stream %p:\n", (void *)note->es);
    fprintf(fp, "  rank: %d\n", note->rank);
    fprintf(fp, "  type: %s\n", note->type);
    fprintf(fp, "  state: %s\n", note->running ? "RUNNING" : "TERMINATED");
    fprintf(fp, "  root ULT: %p, in no pool\n", (void *)note->main_unit);
    fprintf(fp, "  current unit: %p\n", note->running ? (void *)note->cur : NULL);
    fprintf(fp, "  main scheduler: %p\n", (void *)note->main_sched);
    fprintf(fp, "  native thread: %s\n", controls[note->control]);
}

void abti_info_print_xstream(FILE *fp, abti_es *es)
{
    abti_spin_lock(&abti_rt.lock);
    struct es_note note = es_note(es);
    abti_spin_unlock(&abti_rt.lock);
    print_es_note(fp, &note);
    fflush(fp);
}

/* Takes notes on as many streams as there is room for. */
static int note_some(struct es_note *notes, int room)
{
    int num = 0;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && num < room; es = es->next)
        notes[num++] = es_note(es);
    abti_spin_unlock(&abti_rt.lock);
    return num;
}

/* Takes notes on all streams, which the caller frees. Returns their number, or -1 when there is no memory. */
static int note_all(struct es_note **notes)
{
    for (;;) {
        abti_spin_lock(&abti_rt.lock);
        int room = abti_rt.num_xstreams + 1;
        abti_spin_unlock(&abti_rt.lock);
        *notes = malloc((size_t)room * sizeof(**notes));
        if (!*notes)
            return -1;
        int num = note_some(*notes, room);
        if (num < room)
            return num;
        free(*notes); /* there are more by now */
    }
}

static bool print_unit_note(const struct abti_unit_note *note, void *fp)
{
    abti_registry_print(fp, note);
    return true;
}

int abti_info_print_all_xstreams(FILE *fp)
{
    struct es_note *notes;
    int num = note_all(&notes);
    if (num < 0)
        return ABT_ERR_MEM;
    fprintf(fp, "execution streams: %d\n", num);
    for (int i = 0; i < num; i++)
        print_es_note(fp, &notes[i]);
    free(notes);
    fputs("work units:\n", fp);
    abti_registry_walk(print_unit_note, fp);
    fflush(fp);
    return ABT_SUCCESS;
}

/* --- Schedulers and pools --- */

static const char *sched_kind(int kind)
{
    switch (kind) {
    case ABT_SCHED_DEFAULT:
    case ABT_SCHED_BASIC: return "BASIC";
    case ABT_SCHED_PRIO: return "PRIO";
    case ABT_SCHED_RANDWS: return "RANDWS";
    case ABT_SCHED_BASIC_WAIT: return "BASIC_WAIT";
    default: return "user-defined";
    }
}

/* Returns the ULT in which a main scheduler runs, or NULL for other schedulers. */
static abti_unit *sched_unit(abti_sched *sched)
{
    abti_es *es = atomic_load(&sched->es); /* seq_cst: pairs with the store in abti_es_create */
    return es ? es->main_unit : NULL;
}

void abti_info_print_sched(FILE *fp, abti_sched *sched)
{
    static const char *const uses[] = {
        [ABTI_SCHED_UNUSED] = "no", [ABTI_SCHED_MAIN] = "main", [ABTI_SCHED_STACKED] = "stacked in a pool"};
    /* relaxed, here as below: it is for information */
    unsigned requests = abti_load_relaxed(&sched->requests);
    fprintf(fp, "scheduler %p:\n", (void *)sched);
    fprintf(fp, "  id: %d\n", sched->id);
    fprintf(fp, "  kind: %s\n", sched_kind(sched->kind));
    fprintf(fp, "  used: %s\n", uses[abti_load_relaxed(&sched->use)]);
    fprintf(fp, "  automatic: %s\n", yes_no(sched->automatic));
    fprintf(fp, "  requests:%s%s%s%s\n", requests & ABTI_SCHED_REQ_FINISH ? " FINISH" : "",
            requests & ABTI_SCHED_REQ_EXIT ? " EXIT" : "", requests & ABTI_SCHED_REQ_REPLACE ? " REPLACE" : "",
            requests ? "" : " none");
    fprintf(fp, "  pools: %d\n", sched->num_pools);
    fprintf(fp, "  has work: %s\n", yes_no(abti_sched_has_work(sched)));
    fprintf(fp, "  ULT: %p\n", (void *)sched_unit(sched));
    fprintf(fp, "  data: %p\n", sched->data);
    for (int i = 0; i < sched->num_pools; i++)
        abti_info_print_pool(fp, sched->pools[i]);
    fflush(fp);
}

static const char *pool_access(ABT_pool_access access)
{
    switch (access) {
    case ABT_POOL_ACCESS_PRIV: return "PRIV";
    case ABT_POOL_ACCESS_SPSC: return "SPSC";
    case ABT_POOL_ACCESS_MPSC: return "MPSC";
    case ABT_POOL_ACCESS_SPMC: return "SPMC";
    case ABT_POOL_ACCESS_MPMC: return "MPMC";
    }
    return "unknown";
}

void abti_info_print_pool(FILE *fp, abti_pool *pool)
{
    fprintf(fp, "pool %p:\n", (void *)pool);
    fprintf(fp, "  id: %d\n", pool->id);
    fprintf(fp, "  access: %s\n", pool_access(pool->access));
    fprintf(fp, "  automatic: %s\n", yes_no(pool->automatic));
    fprintf(fp, "  schedulers: %d\n", (int)abti_load_relaxed(&pool->num_scheds)); /* relaxed: it is for information */
    fprintf(fp, "  empty: %s\n", yes_no(abti_pool_is_empty(pool)));
    if (abti_pool_tells_size(pool))
        fprintf(fp, "  size: %zu\n", abti_pool_size(pool));
    fprintf(fp, "  blocked: %zu\n", abti_pool_num_blocked(pool));
    fprintf(fp, "  data: %p\n", pool->data);
    fflush(fp);
}

/* --- Units --- */

/* Which stream runs it or has run it, as a rank (-1: none), and which unit runs it now, as its parent. */
static int where_it_runs(abti_unit *unit, abti_unit **parent)
{
    int rank = -1;
    *parent = NULL;
    abti_spin_lock(&abti_rt.lock); /* the stream stays */
    abti_es *es = abti_unit_last_es(unit);
    if (es != ABT_XSTREAM_NULL) {
        rank = es->rank;
        if (abti_registry_peek(&es->cur) == unit)
            *parent = abti_registry_peek(&es->parent);
    }
    abti_spin_unlock(&abti_rt.lock);
    return rank;
}

static void print_rare_fields(FILE *fp, abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    fprintf(fp, "  migratable: %s\n", yes_no(!abti_unit_is_pinned(unit)));
    fprintf(fp, "  callback argument: %p\n", abti_unit_migrated(unit).arg);
    fprintf(fp, "  key table: %p\n", cold ? (void *)abti_load_relaxed(&cold->keys) : NULL);
}

static void print_stack(FILE *fp, abti_unit *unit)
{
    bool has_one = !(unit->flags & (ABTI_UNIT_PRIMARY | ABTI_UNIT_TASKLET));
    fprintf(fp, "  stack top: %p\n", has_one ? (void *)abti_unit_stack_end(unit) : NULL);
    fprintf(fp, "  stack size: %zu\n", has_one ? abti_unit_stack_size(unit) : 0);
}

static void print_function(FILE *fp, abti_unit *unit)
{
    char text[248] = "";
    uintptr_t code = (uintptr_t)unit->func;
    if (code)
        abti_symbol_describe(code, false, text, sizeof(text));
    fprintf(fp, "  function: %p %s\n", (void *)code, text);
}

void abti_info_print_unit(FILE *fp, abti_unit *unit)
{
    struct abti_unit_note note;
    unsigned requests = abti_load_relaxed(&unit->requests); /* relaxed: it is for information */
    abti_unit *parent;
    int rank = where_it_runs(unit, &parent);
    fprintf(fp, "work unit %p:\n", (void *)unit);
    fprintf(fp, "  id: %" PRIu64 "\n", abti_unit_id(unit));
    if (!abti_registry_look(unit, &note))
        return;
    fprintf(fp, "  kind: %s\n", abti_registry_kind_name(note.kind));
    fprintf(fp, "  yieldable: %s\n", yes_no(!abti_unit_is_tasklet(unit)));
    fprintf(fp, "  state: %s\n", abti_registry_state_name(note.state));
    if (note.wait != ABTI_WAIT_NOTHING)
        abti_registry_print_wait(fp, &note);
    fprintf(fp, "  rank of its last execution stream: %d\n", rank);
    fprintf(fp, "  parent: %p\n", (void *)parent);
    print_function(fp, unit);
    fprintf(fp, "  argument: %p\n", unit->arg);
    fprintf(fp, "  pool: %p\n", (void *)abti_unit_last_pool(unit));
    fprintf(fp, "  named: %s\n", yes_no(unit->flags & ABTI_UNIT_NAMED));
    fprintf(fp, "  requests:%s%s%s%s\n", requests & ABTI_REQ_CANCEL ? " CANCEL" : "",
            requests & ABTI_REQ_MIGRATE ? " MIGRATE" : "", requests & ABTI_REQ_FREE ? " FREE" : "",
            requests & (ABTI_REQ_CANCEL | ABTI_REQ_MIGRATE | ABTI_REQ_FREE) ? "" : " none");
    print_rare_fields(fp, unit);
    print_stack(fp, unit);
    fflush(fp);
}
