/* SPDX-License-Identifier: BSD-3-Clause */
#include "fork/workers.h"

#include "lock/spin.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "os/vm.h"
#include "stream/source.h"

/*
 * Deques are in a row, so that the position behind the last entry of one is the beginning of the next; behind the last
 * deque of a chunk is the beginning of another that is never used. They are freed at the end only, so that thieves
 * may look at all of them.
 */
enum { CHUNK_DEQUES = 15, MAX_CHUNKS = 4096 };

struct chunk {
    char deques[CHUNK_DEQUES + 1][ABTX_DEQUE_BYTES];
};

static ABT_bool take_task(void *arg, ABTX_work *work);

/*
 * Two sets of deques, by their numbers, so that nobody looks at all of them:
 *
 *   offers    those with public tasks. A deque may be listed here for a while after its last one
 *   unasked   those that ULTs own and that nobody has asked since they published last. A stream that finds no task
 *             takes some out, and asks them; each asked one comes back when it publishes
 *
 * So the deques of ULTs that have nothing to give, since they wait or fork no more, are asked once, and then left
 * alone. One that has just published is spared for a while, unless somebody is about to sleep: what an owner gives away
 * costs it some hundred nanoseconds, and so no more than a tenth of its time.
 *
 * No task is left behind. An owner publishes, then looks at offers, where it puts its deque, and then at whether a
 * stream waits (abti_source_wake_one); a stream waits, and then looks at offers. Each has a seq_cst fence before the
 * look. One who takes a deque out looks for public tasks once more, behind a fence, and puts it back if there are any:
 * it, or the owner whose fence came first, sees what the other has done. Nor is a request: a deque is put into unasked
 * when its request has been taken back, and so one who finds it there, though it was asked, has been overtaken by
 * another stream's request.
 */
enum { DEQUE_PATIENCE_NS = 20000, SPARED_NS = 5000, MAX_DEQUES = CHUNK_DEQUES * MAX_CHUNKS, WORD_DEQUES = 64 };

struct deque_set {
    _Atomic(uint64_t) words[(MAX_DEQUES + WORD_DEQUES - 1) / WORD_DEQUES];
} ABTI_ALIGNED(ABTI_CACHE_LINE);

static struct {
    struct ABTX_source_opaque source;
    struct abti_spin lock;
    struct abti_deque *free;                                                  /* lock */
    _Atomic(struct chunk *) chunks[MAX_CHUNKS] ABTI_ALIGNED(ABTI_CACHE_LINE); /* lock; set once */
    _Atomic(uint32_t) num_chunks;                                             /* lock. Thieves read it */
    struct deque_set offers, unasked;
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

/* relaxed: who knows the number has got it from somebody who has the deque */
static struct abti_deque *deque_of_number(uint32_t number)
{
    return deque_at(abti_load_relaxed(&workers.chunks[number / CHUNK_DEQUES]), number % CHUNK_DEQUES);
}

/* --- Sets of deques --- */

static _Atomic(uint64_t) *word_of(struct deque_set *set, const struct abti_deque *deque)
{
    return &set->words[deque->number / WORD_DEQUES];
}

static uint64_t bit_of(const struct abti_deque *deque)
{
    return UINT64_C(1) << deque->number % WORD_DEQUES;
}

/* Most often it is there already, and no line is written. relaxed: the caller has a fence before, if that matters */
static void set_add(struct deque_set *set, const struct abti_deque *deque)
{
    if (!(abti_load_relaxed(word_of(set, deque)) & bit_of(deque)))
        /* release: pairs with the acquires in steal_of and ask_of. acquire: of no use */
        (void)abti_fetch_or_acq_rel(word_of(set, deque), bit_of(deque));
}

static void set_remove(struct deque_set *set, const struct abti_deque *deque)
{
    if (abti_load_relaxed(word_of(set, deque)) & bit_of(deque)) /* relaxed: the caller has put it there, or sees it */
        /* acquire, release: of no use */
        (void)abti_fetch_and_acq_rel(word_of(set, deque), ~bit_of(deque));
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
        workers.offers = workers.unasked = (struct deque_set){{0}};
    }
    abti_spin_unlock(&workers.lock);
}

void abti_workers_forget(struct abti_deque *mine)
{
    uint32_t num = abti_load_relaxed(&workers.num_chunks); /* relaxed, as below: there is one thread */
    workers.lock = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_LEAF);
    workers.free = NULL;
    for (uint32_t i = 0; i < num * CHUNK_DEQUES; i++) {
        struct abti_deque *deque = deque_of_number(i);
        if (deque == mine)
            continue;
        set_remove(&workers.unasked, deque);
        set_remove(&workers.offers, deque);
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

/* --- What owners do --- */

void abti_workers_offer(struct abti_deque *deque)
{
    /* relaxed: a thief that misses it asks once more than it should */
    abti_store_relaxed(&deque->spared_ns, abti_clock_mono_ns() + SPARED_NS);
    /* seq_cst: pairs with the fence in withdraw_offer */
    abti_fence_seq_cst();
    set_add(&workers.offers, deque);
    set_add(&workers.unasked, deque);
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
    set_add(&workers.unasked, deque);
    /* seq_cst: pairs with the fence in become_idle (stream/source.c). Who waits has asked the deque, or is seen here */
    abti_fence_seq_cst();
    if (workers_wait())
        abti_deque_ask(deque);
}

void abti_workers_unlist(struct abti_deque *deque)
{
    set_remove(&workers.unasked, deque);
    set_remove(&workers.offers, deque);
}

/* --- Thieves --- */

/* There is no public task. False: there is one again. */
static bool withdraw_offer(struct abti_deque *deque)
{
    set_remove(&workers.offers, deque);
    /* seq_cst: pairs with the fence in abti_workers_offer */
    abti_fence_seq_cst();
    if (!abti_deque_has_public(deque))
        return true;
    set_add(&workers.offers, deque);
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
    bool has_more = abti_deque_has_public(deque) || !withdraw_offer(deque);
    if (has_more)
        abti_source_wake_one(&workers.source);
    else if (workers_wait())
        abti_deque_ask(deque);
    return task;
}

/* How many words of the sets are in use. */
static uint32_t num_words(void)
{
    /* acquire: pairs with the release in add_chunk */
    return (abti_load_acquire(&workers.num_chunks) * CHUNK_DEQUES + WORD_DEQUES - 1) / WORD_DEQUES;
}

/*
 * Chooses *enough of the deques in this part of a word that are not asked, and looks at no more. False: all of them are
 * to be spared for now.
 */
static uint64_t choose_deques(uint32_t word, uint64_t mask, uint32_t *enough)
{
    /* relaxed, here and below: the caller has a fence before, or comes again */
    uint64_t found = abti_load_relaxed(&workers.unasked.words[word]) & mask, chosen = 0, now_ns;
    if (found == 0 || *enough == UINT32_MAX)
        return found;
    for (now_ns = abti_clock_mono_ns(); *enough > 0 && found; --*enough, found &= found - 1) {
        if (now_ns >=
            abti_load_relaxed(&deque_of_number(word * WORD_DEQUES + (uint32_t)__builtin_ctzll(found))->spared_ns))
            chosen |= found & -found;
        else
            abti_source_ask_again(abti_es_self);
    }
    return chosen;
}

/* Asks `enough` of the deques in this part of a word. Returns how many more are to be asked. */
static uint32_t ask_of(uint32_t word, uint64_t mask, uint32_t enough)
{
    uint64_t chosen = choose_deques(word, mask, &enough);
    if (chosen == 0)
        return enough;
    /* acquire: pairs with the release in set_add. release: of no use */
    chosen &= abti_fetch_and_acq_rel(&workers.unasked.words[word], ~chosen);
    for (; chosen; chosen &= chosen - 1)
        abti_deque_ask(deque_of_number(word * WORD_DEQUES + (uint32_t)__builtin_ctzll(chosen)));
    return enough;
}

/* Takes a task from the first deque in this part of a word that has one. */
static struct abtx_task *steal_of(uint32_t word, uint64_t mask)
{
    /* acquire: pairs with the release in set_add */
    uint64_t deques = abti_load_acquire(&workers.offers.words[word]) & mask;
    struct abtx_task *task = NULL;
    for (; deques && !task; deques &= deques - 1)
        task = steal_from(deque_of_number(word * WORD_DEQUES + (uint32_t)__builtin_ctzll(deques)));
    return task;
}

/* The i-th part of a walk over all words that begins behind the deque `mine`, or anywhere if that is NULL. */
static uint32_t part_of_walk(const struct abti_deque *mine, uint32_t num, uint32_t i, uint64_t *mask)
{
    uint64_t behind = mine ? -bit_of(mine) : ~UINT64_C(0);
    *mask = i == 0 ? behind : i == num ? ~behind : ~UINT64_C(0);
    return ((mine ? mine->number / WORD_DEQUES : 0) + i) % num;
}

/*
 * Looks at the deques that offer, beginning behind its own, so that thieves spread. If there is none it asks: a few,
 * and others the next time, but all before it goes to sleep, since what ULTs have to give is not known.
 */
static ABT_bool take_task(void *arg, ABTX_work *work)
{
    enum { FEW = 2 };
    const struct abti_deque *mine = abti_es_self->deque.kept;
    uint32_t num = num_words(), enough = abti_source_resigns(abti_es_self) ? UINT32_MAX : FEW;
    struct abtx_task *task = NULL;
    uint64_t mask;
    (void)arg;
    for (uint32_t i = 0; i <= num && num > 0 && !task; i++) {
        uint32_t word = part_of_walk(mine, num, i, &mask);
        task = steal_of(word, mask);
    }
    for (uint32_t i = 0; i <= num && num > 0 && !task && enough > 0; i++) {
        uint32_t word = part_of_walk(mine, num, i, &mask);
        enough = ask_of(word, mask, enough);
    }
    work->func = abti_fork_run_stolen;
    work->arg = task;
    return task ? ABT_TRUE : ABT_FALSE;
}
