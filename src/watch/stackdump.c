#include "watch/stackdump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include "watch/unwind.h"
#include "rt/rt.h"
#include "run/sched.h"

/* --- One unit --- */

enum { WORDS_PER_LINE = 4 };

/* Any word of a stack, also one that a sanitizer thinks nobody should read. */
static ABTI_NOINLINE ABTI_NO_SANITIZE uint64_t peek(const char *addr)
{
    return *(const volatile uint64_t *)addr;
}

static bool is_zero(const char *line, size_t words)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < words; i++)
        bits |= peek(line + i * sizeof(uint64_t));
    return bits == 0;
}

static void dump_line(FILE *fp, const char *line, size_t words)
{
    fprintf(fp, "    %p:", (const void *)line);
    for (size_t i = 0; i < words; i++)
        fprintf(fp, " %016" PRIx64, peek(line + i * sizeof(uint64_t)));
    fputc('\n', fp);
}

/* Of lines that are all zeros, one after the other, the first is printed and a mark for the others. */
static void dump_memory(FILE *fp, const char *begin, const char *end)
{
    size_t left = (size_t)(end - begin) / sizeof(uint64_t);
    unsigned zeros = 0;
    while (left > 0) {
        size_t words = left < WORDS_PER_LINE ? left : WORDS_PER_LINE;
        zeros = is_zero(begin, words) ? zeros + 1 : 0;
        if (zeros <= 1)
            dump_line(fp, begin, words);
        else if (zeros == 2)
            fputs("    *\n", fp);
        begin += words * sizeof(uint64_t);
        left -= words;
    }
}

static void dump_context(FILE *fp, abti_unit *unit)
{
    char *sp = unit->ctx, *end = abti_unit_stack_end(unit);
    bool is_ours = end && sp >= unit->stack->base && sp < end;
    if (is_ours)
        fprintf(fp, "  context at %p, stack top %p, size %zu, in use %zu\n", (void *)sp, (void *)end, unit->stack->size,
                (size_t)(end - sp));
    else
        fprintf(fp, "  context at %p, which is not on a stack of the library\n", (void *)sp);
    /* The end of a native thread's stack is only guessed. */
    abti_unwind_print(fp, sp, is_ours && !(unit->flags & ABTI_UNIT_PRIMARY) ? end : NULL);
    if (is_ours && abti_rt.config.print_raw_stack)
        dump_memory(fp, sp, end);
}

void abti_stackdump_unit(FILE *fp, abti_unit *unit)
{
    if (abti_unit_is_tasklet(unit)) {
        fprintf(fp, "tasklet %p: no stack\n", (void *)unit);
        return;
    }
    fprintf(fp, "ULT %p: id %" PRIu64 ", function %p, argument %p\n", (void *)unit, abti_unit_id(unit),
            (void *)(uintptr_t)unit->func, unit->arg);
    ABT_thread_state state = abti_unit_state(unit);
    if (state == ABT_THREAD_STATE_TERMINATED)
        fputs("  has ended\n", fp);
    else if (state == ABT_THREAD_STATE_RUNNING)
        fputs("  runs: its context is not saved\n", fp);
    else if (!abti_unit_has_started(unit) || !unit->ctx)
        fputs("  has not started: no context\n", fp);
    else
        dump_context(fp, unit);
}

/* --- Pools --- */

static void print_unit(void *fp, abti_unit *unit)
{
    abti_stackdump_unit(fp, unit);
}

void abti_stackdump_pool(FILE *fp, abti_pool *pool)
{
    /* The file first: a thread that has its lock may push to the pool, whose lock is held while this one writes. */
    flockfile(fp);
    fprintf(fp, "pool %d (%p):\n", pool->id, (void *)pool);
    pool->ops->print_all(pool, fp, print_unit);
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
 * The pools live on when the locks are released, see abti_halt_wait_for_act. A private pool has no lock: it is looked
 * through only if its stream has halted.
 */
static void list_pools(struct listing *listing)
{
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        bool still = abti_halt_is_still(es);
        abti_spin_lock(&es->replace_lock);
        abti_sched *sched = atomic_load(&es->main_sched); /* seq_cst: of no use under the lock */
        for (int i = 0; i < sched->num_pools; i++)
            list_pool(listing, sched->pools[i], still || !sched->pools[i]->priv_fifo);
        abti_spin_unlock(&es->replace_lock);
    }
    abti_spin_unlock(&abti_rt.lock);
}

static void print_listed(FILE *fp, const struct listed *listed)
{
    abti_pool *pool = listed->pool;
    if (!listed->still)
        fprintf(fp, "pool %d (%p): left out, its execution stream still runs\n", pool->id, (void *)pool);
    else if (!abti_pool_can(pool, ABTI_POOL_PRINT_ALL))
        fprintf(fp, "pool %d (%p): cannot be looked through\n", pool->id, (void *)pool);
    else
        abti_stackdump_pool(fp, pool);
}

static void print_mark(FILE *fp, const char *what, const char *note)
{
    char text[64] = "";
    struct tm tm;
    time_t now = time(NULL);
    if (localtime_r(&now, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
    fprintf(fp, "==== %s of the dump of all ULT stacks, %s%s ====\n", what, text, note);
}

void abti_stackdump_all(const struct abti_halt_request *request, bool timed_out)
{
    FILE *fp = request->fp;
    struct listing listing = {.complete = true};
    list_pools(&listing);
    print_mark(fp, "begin", timed_out ? ", the time is up: some execution streams still run" : "");
    for (size_t i = 0; i < listing.num; i++)
        print_listed(fp, &listing.pools[i]);
    if (!listing.complete)
        fputs("no memory for the list of the other pools\n", fp);
    print_mark(fp, "end", "");
    fflush(fp);
    free(listing.pools);
}
