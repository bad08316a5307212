/* SPDX-License-Identifier: BSD-3-Clause */
#include "fork/team.h"

#include "lock/spin.h"
#include "os/annotate.h"
#include "os/vm.h"
#include "stream/source.h"

/*
 * Lanes are in a row, so that the position behind the last slot of one is the beginning of the next; behind the last
 * lane of a chunk is the beginning of another that is never used. They are freed at the end only, so that thieves
 * may look at all of them.
 */
enum { CHUNK_LANES = 15, MAX_CHUNKS = 4096 };

struct chunk {
    char lanes[CHUNK_LANES + 1][ABTX_LANE_BYTES];
};

static ABT_bool take_task(void *arg, ABTX_work *work);

static struct {
    struct ABTX_source_opaque source;
    struct abti_spin lock;
    struct abti_lane *free;                     /* lock */
    _Atomic(struct chunk *) chunks[MAX_CHUNKS]; /* lock; set once */
    _Atomic(uint32_t) num_chunks;               /* lock. Thieves read it */
    _Atomic(uint32_t) turn;                     /* where the next thief begins to look */
} team = {.source = {.ask = take_task, .lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)}, .lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};

bool abti_team_waits(void)
{
    return abti_load_relaxed(&team.source.idle) > 0; /* relaxed: it is a hint, or the caller has a fence before it */
}

void abti_team_wake(void)
{
    abti_source_wake_one(&team.source);
}

/* --- Lanes --- */

static struct abti_lane *lane_at(struct chunk *chunk, uint32_t i)
{
    return (struct abti_lane *)(void *)chunk->lanes[i];
}

/* It is zero: no task is in the slots. */
static struct chunk *make_chunk(void)
{
    struct chunk *chunk = abti_vm_map_aligned(sizeof(*chunk), ABTX_LANE_BYTES);
    if (!chunk)
        return NULL;
    for (uint32_t i = 0; i <= CHUNK_LANES; i++) {
        struct abti_lane *lane = lane_at(chunk, i);
        *lane = (struct abti_lane){.idle = (const volatile int *)&team.source.idle};
        abti_lane_begin(lane, true);
    }
    return chunk;
}

/* With the lock held. */
static void add_chunk(struct chunk *chunk)
{
    uint32_t num = abti_load_relaxed(&team.num_chunks); /* relaxed: the lock is held */
    for (uint32_t i = CHUNK_LANES; i-- > 0;) {
        struct abti_lane *lane = lane_at(chunk, i);
        lane->next = team.free;
        team.free = lane;
    }
    abti_store_relaxed(&team.chunks[num], chunk); /* relaxed: the store of the number publishes it */
    /* release: pairs with the acquire in take_task */
    abti_store_release(&team.num_chunks, num + 1);
}

struct abti_lane *abti_team_get_lane(void)
{
    struct chunk *chunk = NULL;
    for (bool tried = false;; tried = true) {
        abti_spin_lock(&team.lock);
        if (chunk && abti_load_relaxed(&team.num_chunks) < MAX_CHUNKS) { /* relaxed: the lock is held */
            add_chunk(chunk);
            chunk = NULL;
        }
        struct abti_lane *lane = team.free;
        if (lane)
            team.free = lane->next;
        abti_spin_unlock(&team.lock);
        abti_vm_unmap(chunk, sizeof(*chunk));
        abti_annotate_acquire(lane); /* the slots have had another owner */
        if (lane || tried)
            return lane;
        chunk = make_chunk();
    }
}

void abti_team_put_lane(struct abti_lane *lane)
{
    abti_annotate_release(lane);
    abti_spin_lock(&team.lock);
    lane->next = team.free;
    team.free = lane;
    abti_spin_unlock(&team.lock);
}

void abti_team_fini(void)
{
    abti_spin_lock(&team.lock);
    uint32_t num = abti_load_relaxed(&team.num_chunks), num_free = 0; /* relaxed, as below: the lock is held */
    for (struct abti_lane *lane = team.free; lane; lane = lane->next)
        num_free++;
    if (num_free == num * CHUNK_LANES) {
        for (uint32_t i = 0; i < num; i++)
            abti_vm_unmap(abti_load_relaxed(&team.chunks[i]), sizeof(struct chunk));
        abti_store_relaxed(&team.num_chunks, 0);
        team.free = NULL;
    }
    abti_spin_unlock(&team.lock);
}

void abti_team_forget(struct abti_lane *mine)
{
    uint32_t num = abti_load_relaxed(&team.num_chunks); /* relaxed, as below: there is one thread */
    team.lock = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_LEAF);
    team.free = NULL;
    for (uint32_t i = 0; i < num * CHUNK_LANES; i++) {
        struct abti_lane *lane = lane_at(abti_load_relaxed(&team.chunks[i / CHUNK_LANES]), i % CHUNK_LANES);
        if (lane == mine)
            continue;
        abti_store_relaxed(&lane->in_use, false);
        abti_store_relaxed(&lane->public_part, 0);
    }
}

/* --- Streams --- */

int abti_team_add(abti_es *es)
{
    int code = abti_source_attach(&team.source, es);
    return code == ABT_ERR_INV_ARG ? ABT_SUCCESS : code; /* it is there already */
}

void abti_team_remove_all(void)
{
    abti_source_detach_all(&team.source);
}

/* --- Thieves --- */

/* Takes a task from the lane. Others that wait are served from the same lane, if it has more. */
static struct abtx_task *steal_from(struct abti_lane *lane)
{
    struct abtx_task *task = abti_lane_has_public(lane) ? abti_lane_steal(lane) : NULL;
    if (task && abti_team_waits()) {
        if (abti_lane_has_public(lane))
            abti_team_wake();
        else
            abti_lane_ask(lane);
    }
    return task;
}

/* Asks the lanes that are in use. relaxed: one that comes into use meanwhile looks whether somebody waits */
static void ask_lanes(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        struct abti_lane *lane = lane_at(abti_load_relaxed(&team.chunks[i / CHUNK_LANES]), i % CHUNK_LANES);
        if (abti_load_relaxed(&lane->in_use))
            abti_lane_ask(lane);
    }
}

static ABT_bool take_task(void *arg, ABTX_work *work)
{
    (void)arg;
    /* acquire: pairs with the release in add_chunk. relaxed: the turn is only to be another one */
    uint32_t num = abti_load_acquire(&team.num_chunks) * CHUNK_LANES;
    uint32_t turn = num > 0 ? abti_fetch_add_relaxed(&team.turn, 1) % num : 0;
    for (uint32_t i = 0; i < num; i++) {
        uint32_t k = turn + i < num ? turn + i : turn + i - num;
        struct abtx_task *task = steal_from(lane_at(abti_load_relaxed(&team.chunks[k / CHUNK_LANES]), k % CHUNK_LANES));
        if (task) {
            work->func = abti_fork_run_stolen;
            work->arg = task;
            return ABT_TRUE;
        }
    }
    ask_lanes(num);
    return ABT_FALSE;
}
