/* SPDX-License-Identifier: BSD-3-Clause */
#include "fork/workers.h"

#include "lock/spin.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "os/vm.h"
#include "stream/source.h"

/*
 * Deques are in a row, so that the position behind the last entry of one is the beginning of the next; behind the last
 * deque of a chunk is the beginning of another that is never used, in whose entries the sets of the chunk's deques are.
 * They are freed at the end only, so that thieves may look at all of them.
 */
enum { CHUNK_DEQUES = 15, MAX_CHUNKS = 4096, SETS_AT = ABTX_DEQUE_BYTES / 2 };

struct chunk {
    char deques[CHUNK_DEQUES + 1][ABTX_DEQUE_BYTES];
};

static ABT_bool take_task(void *arg, struct abtx_work *work);

/*
 * Two sets of the deques of a chunk, by their places in it, so that nobody looks at all deques, and no line is written
 * by the owners of all:
 *
 *   offers    those with public tasks. A deque may be listed here for a while after its last one
 *   unasked   those that ULTs own and that nobody has asked since they published last. A stream that finds no task
 *             takes some out, and asks them; each asked one comes back when it publishes
 *
 * So the deques of ULTs that have nothing to give, since they wait or fork no more, are asked once, and then left
 * alone. One that has just published is spared for a while, unless no other stream searches that would come to it
 * later: each task that an owner gives away costs it some hundred nanoseconds, and so no more than a tenth of its time.
 *
 * No task is left behind. An owner publishes, then looks at offers, where it puts its deque, and then at whether a
 * stream waits (abti_source_wake_one); a stream waits, and then looks at offers. Each has a seq_cst fence before the
 * look. A thief that takes a deque out looks for public tasks once more, behind a fence, and puts it back if there are
 * any: it, or the owner whose fence came first, sees the stores of the other. Nor is a request: a deque is put into
 * unasked when its request has been taken back, and so a thief that finds it there, though it was asked, has been
 * overtaken by another stream's request.
 */
enum { DEQUE_PATIENCE_NS = 20000, SPARED_NS = 5000 };

struct deque_sets {
    _Atomic(uint32_t) offers, unasked;
};

static struct {
    struct abtx_source source;
    struct abti_spin lock;
    struct abti_deque *free;                                                  /* lock */
    _Atomic(struct chunk *) chunks[MAX_CHUNKS] ABTI_ALIGNED(ABTI_CACHE_LINE); /* lock; set once */
    _Atomic(uint32_t) num_chunks;                                             /* lock. Thieves read it */
} workers = {.source = {.ask = take_task, .patience_ns = DEQUE_PATIENCE_NS, .lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)},
             .lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};

/* Whether streams wait for tasks: a hint. */
static bool workers_wait(void)
{
    return abti_load_relaxed(&workers.source.idle) > 0; /* relaxed: it is a hint, or the caller has a fence before it */
}

/* --- Deques --- */

static struct abti_deque *deque_at(struct chunk *chunk, uint32_t i)
{
    return (struct abti_deque *)(void *)chunk->deques[i];
}

/* --- Sets of deques --- */

static struct deque_sets *sets_of_chunk(struct chunk *chunk)
{
    return (struct deque_sets *)(void *)&chunk->deques[CHUNK_DEQUES][SETS_AT];
}

static struct deque_sets *sets_of(const struct abti_deque *deque)
{
    return sets_of_chunk(abti_load_relaxed(&workers.chunks[deque->number / CHUNK_DEQUES]));
}

static uint32_t bit_of(const struct abti_deque *deque)
{
    return UINT32_C(1) << deque->number % CHUNK_DEQUES;
}

/* Most often it is there already, and no line is written. relaxed: the caller has a fence before, if that matters */
static void set_add(_Atomic(uint32_t) *set, const struct abti_deque *deque)
{
    if (!(abti_load_relaxed(set) & bit_of(deque)))
        /* release: pairs with the acquires in steal_of and ask_of. acquire: of no use */
        (void)abti_fetch_or_acq_rel(set, bit_of(deque));
}

static void set_remove(_Atomic(uint32_t) *set, const struct abti_deque *deque)
{
    if (abti_load_relaxed(set) & bit_of(deque)) /* relaxed: the caller has put it there, or sees it */
        /* acquire, release: of no use */
        (void)abti_fetch_and_acq_rel(set, ~bit_of(deque));
}

/* It is zero: no task is in the entries. */
static struct chunk *make_chunk(void)
{
    struct chunk *chunk = abti_vm_map_aligned(sizeof(*chunk), ABTX_DEQUE_BYTES);
    if (!chunk)
        return NULL;
    for (uint32_t i = 0; i <= CHUNK_DEQUES; i++) {
        struct abti_deque *deque = deque_at(chunk, i);
        /* An atomic int is nothing else, on all machines that there are */
        *deque = (struct abti_deque){.idle = (const volatile int *)&deque->request};
        abti_deque_begin(deque, true);
    }
    return chunk;
}

/* With the lock held. */
static void add_chunk(struct chunk *chunk)
{
    uint32_t num = abti_load_relaxed(&workers.num_chunks); /* relaxed: the lock is held */
    for (uint32_t i = CHUNK_DEQUES; i-- > 0;) {
        struct abti_deque *deque = deque_at(chunk, i);
        deque->number = num * CHUNK_DEQUES + i;
        deque->next = workers.free;
        workers.free = deque;
    }
    abti_store_relaxed(&workers.chunks[num], chunk); /* relaxed: the store of the number publishes it */
    /* release: pairs with the acquire in num_words */
    abti_store_release(&workers.num_chunks, num + 1);
}

struct abti_deque *abti_workers_get_deque(void)
{
    struct chunk *chunk = NULL;
    for (bool tried = false;; tried = true) {
        abti_spin_lock(&workers.lock);
        if (chunk && abti_load_relaxed(&workers.num_chunks) < MAX_CHUNKS) { /* relaxed: the lock is held */
            add_chunk(chunk);
            chunk = NULL;
        }
        struct abti_deque *deque = workers.free;
        if (deque)
            workers.free = deque->next;
        abti_spin_unlock(&workers.lock);
        abti_vm_unmap(chunk, sizeof(*chunk));
        abti_annotate_acquire(deque); /* the entries have had another owner */
        if (deque || tried)
            return deque;
        chunk = make_chunk();
    }
}

void abti_workers_put_deque(struct abti_deque *deque)
{
    abti_annotate_release(deque);
    abti_spin_lock(&workers.lock);
    deque->next = workers.free;
    workers.free = deque;
    abti_spin_unlock(&workers.lock);
}

void abti_workers_fini(void)
{
    abti_spin_lock(&workers.lock);
    uint32_t num = abti_load_relaxed(&workers.num_chunks), num_free = 0; /* relaxed, as below: the lock is held */
    for (struct abti_deque *deque = workers.free; deque; deque = deque->next)
        num_free++;
    if (num_free == num * CHUNK_DEQUES) {
        for (uint32_t i = 0; i < num; i++)
            abti_vm_unmap(abti_load_relaxed(&workers.chunks[i]), sizeof(struct chunk));
        abti_store_relaxed(&workers.num_chunks, 0);
        workers.free = NULL;
    }
    abti_spin_unlock(&workers.lock);
}

void abti_workers_forget(struct abti_deque *mine)
{
    uint32_t num = abti_load_relaxed(&workers.num_chunks); /* relaxed, as below: there is one thread */
    workers.lock = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_LEAF);
    workers.free = NULL;
    for (uint32_t i = 0; i < num * CHUNK_DEQUES; i++) {
        struct abti_deque *deque = deque_at(abti_load_relaxed(&workers.chunks[i / CHUNK_DEQUES]), i % CHUNK_DEQUES);
        if (deque == mine)
            continue;
        set_remove(&sets_of(deque)->unasked, deque);
        set_remove(&sets_of(deque)->offers, deque);
        abti_store_relaxed(&deque->public_part, 0);
    }
}

/* --- Streams --- */

int abti_workers_add(abti_es *es)
{
    int code = abti_source_attach(&workers.source, es);
    return code == ABT_ERR_INV_ARG ? ABT_SUCCESS : code; /* it is there already */
}

void abti_workers_remove_all(void)
{
    abti_source_detach_all(&workers.source);
}

/* --- Owners --- */

void abti_workers_offer(struct abti_deque *deque)
{
    /* relaxed: a thief that misses it asks once more than it should */
    abti_store_relaxed(&deque->spared_ns, abti_clock_mono_ns() + SPARED_NS);
    /* seq_cst: pairs with the fence in withdraw_offer */
    abti_fence_seq_cst();
    set_add(&sets_of(deque)->offers, deque);
    set_add(&sets_of(deque)->unasked, deque);
    abti_source_wake_one(&workers.source);
}

void abti_workers_relist(struct abti_deque *deque)
{
    if (!abti_load_relaxed(&deque->request) ||
        workers_wait()) /* relaxed: one that is missed is found by the first fork */
        return;
    abti_deque_begin(deque, false);
    abti_store_relaxed(&deque->spared_ns, abti_clock_mono_ns() + SPARED_NS);
    abti_workers_list(deque);
}

void abti_workers_list(struct abti_deque *deque)
{
    set_add(&sets_of(deque)->unasked, deque);
    /* seq_cst: pairs with the fence in become_idle. A waiter has asked the deque, or is seen here */
    abti_fence_seq_cst();
    if (workers_wait())
        abti_deque_ask(deque);
}

void abti_workers_unlist(struct abti_deque *deque)
{
    set_remove(&sets_of(deque)->unasked, deque);
    set_remove(&sets_of(deque)->offers, deque);
}

/* --- Thieves --- */

/* There is no public task. False: there is one again. */
static bool withdraw_offer(struct abti_deque *deque)
{
    set_remove(&sets_of(deque)->offers, deque);
    /* seq_cst: pairs with the fence in abti_workers_offer */
    abti_fence_seq_cst();
    if (!abti_deque_has_public(deque))
        return true;
    set_add(&sets_of(deque)->offers, deque);
    return false;
}

/* Takes a task from a deque that offers some. Others that wait are served from the same deque, if it has more. */
static struct abtx_task *steal_from(struct abti_deque *deque)
{
    struct abtx_task *task;
    while (!(task = abti_deque_steal(deque))) {
        if (withdraw_offer(deque))
            return NULL;
    }
    if (abti_deque_has_public(deque) || !withdraw_offer(deque))
        abti_source_wake_one(&workers.source);
    return task;
}

/*
 * Chooses *enough of the deques in this part of a chunk that are not asked, and looks at no more. None: all of them are
 * to be spared for now.
 */
static uint32_t choose_deques(struct chunk *chunk, uint32_t mask, uint32_t *enough)
{
    /* relaxed, here and below: the caller has a fence before, or comes again */
    uint32_t found = abti_load_relaxed(&sets_of_chunk(chunk)->unasked) & mask, chosen = 0;
    if (found == 0 || *enough == UINT32_MAX)
        return found;
    for (uint64_t now_ns = abti_clock_mono_ns(); *enough > 0 && found; --*enough, found &= found - 1) {
        if (now_ns >= abti_load_relaxed(&deque_at(chunk, (uint32_t)__builtin_ctz(found))->spared_ns))
            chosen |= found & -found;
        else
            abti_source_ask_again(abti_es_self);
    }
    return chosen;
}

/* Asks *enough of the deques in this part of a chunk, and says how many more are to be asked. */
static struct abtx_task *ask_of(struct chunk *chunk, uint32_t mask, uint32_t *enough)
{
    uint32_t chosen = *enough > 0 ? choose_deques(chunk, mask, enough) : 0;
    if (chosen == 0)
        return NULL;
    /* acquire: pairs with the release in set_add. release: of no use */
    chosen &= abti_fetch_and_acq_rel(&sets_of_chunk(chunk)->unasked, ~chosen);
    for (; chosen; chosen &= chosen - 1)
        abti_deque_ask(deque_at(chunk, (uint32_t)__builtin_ctz(chosen)));
    return NULL;
}

/* Takes a task from the first deque in this part of a chunk that has one. */
static struct abtx_task *steal_of(struct chunk *chunk, uint32_t mask, uint32_t *enough)
{
    /* acquire: pairs with the release in set_add */
    uint32_t deques = abti_load_acquire(&sets_of_chunk(chunk)->offers) & mask;
    struct abtx_task *task = NULL;
    (void)enough;
    for (; deques && !task; deques &= deques - 1)
        task = steal_from(deque_at(chunk, (uint32_t)__builtin_ctz(deques)));
    return task;
}

/* Walks over all chunks, beginning behind the deque with that number, until there is a task. */
static struct abtx_task *walk_chunks(struct abtx_task *(*step)(struct chunk *chunk, uint32_t mask, uint32_t *enough),
                                     uint32_t from, uint32_t *enough)
{
    /* acquire: pairs with the release in add_chunk */
    uint32_t num = abti_load_acquire(&workers.num_chunks), behind = UINT32_MAX << from % CHUNK_DEQUES;
    struct abtx_task *task = NULL;
    for (uint32_t i = 0; i <= num && num > 0 && !task; i++) {
        /* relaxed: the number has published it */
        struct chunk *chunk = abti_load_relaxed(&workers.chunks[(from / CHUNK_DEQUES + i) % num]);
        task = step(chunk, i == 0 ? behind : i == num ? ~behind : UINT32_MAX, enough);
    }
    return task;
}

/*
 * Looks at the deques that offer, beginning behind its own, so that thieves spread. If there is none it asks: a few,
 * and others the next time. A thief that goes to sleep while nobody else searches asks all before, since what ULTs have
 * to give is not known.
 */
static ABT_bool take_task(void *arg, struct abtx_work *work)
{
    enum { FEW = 2 };
    const struct abti_deque *mine = abti_es_self->deque.kept;
    uint32_t enough = abti_source_resigns(abti_es_self) ? UINT32_MAX : FEW, from = mine ? mine->number : 0;
    struct abtx_task *task = walk_chunks(steal_of, from, &enough);
    (void)arg;
    if (!task)
        (void)walk_chunks(ask_of, from, &enough);
    work->func = abti_fork_run_stolen;
    work->arg = task;
    return task ? ABT_TRUE : ABT_FALSE;
}
