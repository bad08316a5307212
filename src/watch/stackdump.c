/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/stackdump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include "os/peek.h"
#include "run/sched.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "watch/registry.h"
#include "watch/unwind.h"

/* --- Memory --- */

enum { WORDS_PER_LINE = 4 };

static bool is_zero(const uint64_t *words, size_t num)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < num; i++)
        bits |= words[i];
    return bits == 0;
}

static void dump_line(FILE *fp, const char *addr, const uint64_t *words, size_t num)
{
    fprintf(fp, "    %p:", (const void *)addr);
    for (size_t i = 0; i < num; i++)
        fprintf(fp, " %016" PRIx64, words[i]);
    fputc('\n', fp);
}

/*
 * Dumps memory in lines. Of lines that are all zeros, one after the other, it prints the first and a mark for the
 * others.
 */
static void dump_memory(FILE *fp, const char *begin, const char *end)
{
    size_t left = (size_t)(end - begin) / sizeof(uint64_t);
    unsigned zeros = 0;
    while (left > 0) {
        uint64_t words[WORDS_PER_LINE];
        size_t num = left < WORDS_PER_LINE ? left : WORDS_PER_LINE;
        if (!abti_peek(words, begin, num * sizeof(words[0])))
            return;
        zeros = is_zero(words, num) ? zeros + 1 : 0;
        if (zeros <= 1)
            dump_line(fp, begin, words, num);
        else if (zeros == 2)
            fputs("    *\n", fp);
        begin += num * sizeof(words[0]);
        left -= num;
    }
}

/* --- One unit --- */

/* The end of its stack, as far as that is known; the header may be no more, and is looked at with care. */
static char *stack_end(const struct abti_unit_note *note, const struct abti_stack *header)
{
    const unsigned keeps = ABTI_UNIT_OWN_STACK | ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_PRIMARY;
    return note->flags & keeps ? header->end : note->default_end;
}

/* A context that is saved. */
static void dump_context(FILE *fp, const struct abti_unit_note *note, bool raw)
{
    struct abti_calls calls;
    struct abti_stack header;
    char *sp = note->ctx, *end = NULL;
    if (abti_peek(&header, note->stack, sizeof(header)))
        end = stack_end(note, &header);
    bool is_ours = end && sp >= header.base && sp < end;
    if (is_ours)
        fprintf(fp, "  context at %p, stack top %p, size %zu, in use %zu\n", (void *)sp, (void *)end, header.size,
                (size_t)(end - sp));
    else
        fprintf(fp, "  context at %p, which is not on a stack of the library\n", (void *)sp);
    /* The end of a native thread's stack is only guessed. */
    abti_unwind_ctx(sp, is_ours && note->kind != ABTI_KIND_PRIMARY && note->kind != ABTI_KIND_ENTERED ? end : NULL,
                    &calls);
    abti_unwind_print(fp, &calls);
    if (is_ours && raw)
        dump_memory(fp, sp, end);
}

static void dump_stack(FILE *fp, const struct abti_unit_note *note, bool raw)
{
    if (note->state == ABT_THREAD_STATE_TERMINATED)
        fputs("  has ended\n", fp);
    else if (note->kind == ABTI_KIND_TASKLET)
        fputs("  no stack\n", fp);
    else if (note->state != ABT_THREAD_STATE_RUNNING && (!note->started || !note->ctx))
        fputs("  has not started: no context\n", fp);
    else if (note->state != ABT_THREAD_STATE_RUNNING)
        dump_context(fp, note, raw);
    else
        fputs("  runs: its context is not saved\n", fp);
}

void abti_stackdump_unit(FILE *fp, abti_unit *unit)
{
    struct abti_unit_note note;
    (void)abti_unit_id(unit); /* it has one from now on */
    if (!abti_registry_look(unit, &note))
        return;
    abti_registry_print(fp, &note);
    dump_stack(fp, &note, abti_rt.config.print_raw_stack);
}

/* --- Pools --- */

static void print_unit(void *fp, abti_unit *unit)
{
    abti_stackdump_unit(fp, unit);
}

void abti_stackdump_pool(FILE *fp, abti_pool *pool)
{
    /*
     * The file's lock comes first: a thread that has it may push to the pool, whose lock is held while this one writes.
     */
    flockfile(fp);
    fprintf(fp, "pool %d (%p):\n", pool->id, (void *)pool);
    abti_pool_print_all(pool, fp, print_unit);
    funlockfile(fp);
}

struct listed {
    abti_pool *pool;
    bool still; /* can be looked through */
};

struct listing {
    struct listed *pools;
    size_t num, capacity;
    bool complete; /* there was memory for all */
};

static void list_pool(struct listing *listing, abti_pool *pool, bool still)
{
    for (size_t i = 0; i < listing->num; i++) {
        if (listing->pools[i].pool == pool) {
            listing->pools[i].still = listing->pools[i].still && still;
            return;
        }
    }
    if (listing->num == listing->capacity) {
        size_t capacity = listing->capacity ? listing->capacity * 2 : 64;
        struct listed *pools = realloc(listing->pools, capacity * sizeof(*pools));
        if (!pools) {
            listing->complete = false;
            return;
        }
        listing->pools = pools;
        listing->capacity = capacity;
    }
    listing->pools[listing->num++] = (struct listed){pool, still};
}

/*
 * Lists the pools of all main schedulers. They live on when the locks are released, see abti_halt_request. A private
 * pool has no lock: it is looked through only if its stream has halted.
 */
static void list_pools(struct listing *listing)
{
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        bool still = abti_halt_is_still(es);
        abti_spin_lock(&es->replace.lock);
        abti_sched *sched = atomic_load(&es->main_sched); /* seq_cst: of no use under the lock */
        for (int i = 0; i < sched->num_pools; i++)
            list_pool(listing, sched->pools[i], still || !abti_pool_is_private(sched->pools[i]));
        abti_spin_unlock(&es->replace.lock);
    }
    abti_spin_unlock(&abti_rt.lock);
}

/* Its units come below, with all others. */
static void print_listed(FILE *fp, const struct listed *listed)
{
    abti_pool *pool = listed->pool;
    fprintf(fp, "pool %d (%p): ", pool->id, (void *)pool);
    if (!abti_pool_tells_size(pool))
        fputs("does not tell its size", fp);
    else if (!listed->still)
        fputs("its execution stream still runs", fp);
    else
        fprintf(fp, "%zu units", abti_pool_size(pool));
    fprintf(fp, ", %zu blocked\n", abti_pool_num_blocked(pool));
}

static void print_pools(FILE *fp)
{
    struct listing listing = {.complete = true};
    list_pools(&listing);
    for (size_t i = 0; i < listing.num; i++)
        print_listed(fp, &listing.pools[i]);
    if (!listing.complete)
        fputs("no memory for the list of the other pools\n", fp);
    free(listing.pools);
}

/* --- Streams that hold everything up --- */

struct late {
    int rank;
    abti_unit *unit;
};

/* The one of the smallest rank, from `rank` on, that has not checked events in time. */
static bool find_late(int rank, bool (*is_late)(abti_es *es), struct late *late)
{
    bool found = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        abti_unit *unit = abti_registry_peek(&es->cur); /* NULL: the stream has just been made */
        if (!unit || es->rank < rank || (found && es->rank > late->rank) || es == abti_es_self || !is_late(es))
            continue;
        *late = (struct late){es->rank, unit};
        found = true;
    }
    abti_spin_unlock(&abti_rt.lock);
    return found;
}

static void print_late(FILE *fp, bool (*is_late)(abti_es *es))
{
    struct late late = {.rank = -1};
    while (find_late(late.rank + 1, is_late, &late)) {
        struct abti_unit_note note;
        fprintf(fp, "execution stream %d has not checked its events in time, it is held up by\n", late.rank);
        if (abti_registry_look(late.unit, &note)) {
            abti_registry_print(fp, &note);
            /* One that does not run any more may end at any time: its stream is not stopped. */
            if (note.state == ABT_THREAD_STATE_RUNNING)
                dump_stack(fp, &note, false);
        }
    }
}

/* --- Everything --- */

struct everything {
    FILE *fp;
    bool raw;
};

static bool print_note(const struct abti_unit_note *note, void *everything_)
{
    const struct everything *everything = everything_;
    abti_registry_print(everything->fp, note);
    dump_stack(everything->fp, note, everything->raw);
    return true;
}

void abti_stackdump_mark(FILE *fp, const char *what, const char *note)
{
    char text[64] = "";
    struct tm tm;
    time_t now = time(NULL);
    if (localtime_r(&now, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
    fprintf(fp, "==== %s of the dump of all ULT stacks, %s%s ====\n", what, text, note);
}

void abti_stackdump_everything(FILE *fp, bool (*is_late)(abti_es *es), bool raw)
{
    struct everything everything = {fp, raw};
    print_late(fp, is_late);
    abti_registry_walk(print_note, &everything);
}

static bool has_not_halted(abti_es *es)
{
    return !abti_halt_is_still(es);
}

void abti_stackdump_all(const struct abti_halt_request *request, bool timed_out)
{
    FILE *fp = request->fp;
    abti_stackdump_mark(fp, "begin", timed_out ? ", the time is up: some execution streams still run" : "");
    print_pools(fp);
    abti_stackdump_everything(fp, has_not_halted, abti_rt.config.print_raw_stack);
    abti_stackdump_mark(fp, "end", "");
    fflush(fp);
}
