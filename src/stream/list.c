/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/list.h"

#include <limits.h>
#include <string.h>
#include "base/assert.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "stream/affinity.h"
#include "stream/halt.h"
#include "sync/timer.h"

/*
 * The words of the ESs for biased locks, by index. They are never freed, since threads may look at the word of an ES
 * that is no more. The next ES with the index takes it over.
 */
static struct abti_bias_user bias_users[ABTI_MAX_ES];

/* All of these helpers are called with rt.lock held. */

/* The rank of entered streams: that of the index, and the next ones by whole ranges, if the program has given that
 * away. */
static bool is_entered_rank(const abti_es *es, int rank)
{
    return rank > ABTI_ENTERED_RANKS && (rank - ABTI_ENTERED_RANKS) % ABTI_MAX_ES == es->index;
}

/* Whether the rank is one of the program: it may give its own streams any. */
static bool is_ranked(const abti_es *es)
{
    return !es->is_entered || !is_entered_rank(es, es->rank);
}

static void count_ranked(const abti_es *es, int add)
{
    /* relaxed, both: the lock is held */
    if (is_ranked(es))
        abti_plain_store_relaxed(&abti_rt.num_ranked, abti_plain_load_relaxed(&abti_rt.num_ranked) + add);
}

/* The last stream with a rank of the program below `rank`; NULL: there is none. */
static abti_es *find_below(int rank)
{
    abti_es *es = abti_rt.last_ranked;
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    while (es && es->rank >= rank)
        es = es->prev;
    return es;
}

static void list_insert(abti_es *es)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    abti_es *prev = is_ranked(es) ? find_below(es->rank) : abti_rt.last_ranked;
    abti_es **link = prev ? &prev->next : &abti_rt.xstreams;
    es->prev = prev;
    es->next = *link;
    *link = es;
    if (es->next)
        es->next->prev = es;
    if (is_ranked(es) && prev == abti_rt.last_ranked)
        abti_rt.last_ranked = es;
    count_ranked(es, 1);
}

static void list_remove(abti_es *es)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    *(es->prev ? &es->prev->next : &abti_rt.xstreams) = es->next;
    if (es->next)
        es->next->prev = es->prev;
    if (abti_rt.last_ranked == es)
        abti_rt.last_ranked = es->prev;
    count_ranked(es, -1);
}

static bool rank_is_free(int rank)
{
    if (rank == 0)
        return false; /* it is the primary one's, whether or not that is there */
    const abti_es *below = find_below(rank), *es = below ? below->next : abti_rt.xstreams;
    if (es && es->rank == rank)
        return false;
    if (rank <= ABTI_ENTERED_RANKS)
        return true;
    es =
        abti_load_relaxed(&abti_rt.by_index[(rank - ABTI_ENTERED_RANKS) % ABTI_MAX_ES]); /* relaxed: the lock is held */
    return !es || es->rank != rank;
}

/* `rank`, or a free one of that kind: the smallest of the program, or that of an entered stream. */
static int choose_rank(const abti_es *es, int rank)
{
    if (rank >= 0)
        return rank;
    if (rank == ABTI_RANK_ENTERED) {
        rank = ABTI_ENTERED_RANKS + es->index;
        while (!rank_is_free(rank))
            rank += ABTI_MAX_ES;
        return rank;
    }
    rank = 1; /* 0 is the primary one's */
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    for (const abti_es *other = abti_rt.xstreams; other && other->rank <= rank; other = other->next)
        rank += other->rank == rank;
    return rank;
}

/* config.max_num_xstreams is a soft limit: it grows with the ranks. */
static void note_rank(const abti_es *es)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock) && es->rank >= 0);
    if (es->rank >= abti_rt.config.max_num_xstreams && is_ranked(es))
        abti_rt.config.max_num_xstreams = es->rank < INT_MAX ? es->rank + 1 : INT_MAX;
}

/* The smallest one. None below rt.free_from is free. */
static int free_index(void)
{
    int i = abti_rt.free_from > 1 ? abti_rt.free_from : 1; /* 0 is ABTI_ES_NONE */
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    while (i < ABTI_MAX_ES && abti_load_relaxed(&abti_rt.by_index[i]))
        i++;
    return abti_rt.free_from = i;
}

int abti_es_list_enter(abti_es *es, int rank)
{
    int code = ABT_SUCCESS;
    abti_spin_lock(&abti_rt.lock);
    int index = free_index();
    if (rank > 0 && !rank_is_free(rank)) {
        code = ABT_ERR_INV_XSTREAM_RANK;
    } else if (index == ABTI_MAX_ES) {
        code = ABT_ERR_MEM;
    } else {
        es->index = (uint16_t)index;
        es->rank = choose_rank(es, rank);
        es->running = ABTI_RUNNING_ON(index);
        es->timers = abti_timers_of((unsigned)index);
        es->bias = &bias_users[index];
        /* release: pairs with the load in abti_halt_post, which holds no lock */
        abti_store_release(&abti_rt.by_index[index], es);
        list_insert(es);
        abti_plain_store_relaxed(&abti_rt.num_xstreams, abti_rt.num_xstreams + 1); /* relaxed: the lock is held */
        note_rank(es);
    }
    abti_spin_unlock(&abti_rt.lock);
    return code;
}

void abti_es_list_leave(abti_es *es)
{
    abti_spin_lock(&abti_rt.lock);
    abti_assert(es != abti_es_self && abti_rt.num_xstreams > 0);
    list_remove(es);
    abti_assert(abti_load_relaxed(&abti_rt.by_index[es->index]) == es);
    /*
     * seq_cst: pairs with the load in abti_halt_post; it comes before the read of the posters in
     * abti_halt_wait_for_posters
     */
    abti_store_seq_cst(&abti_rt.by_index[es->index], NULL);
    if (es->index < abti_rt.free_from)
        abti_rt.free_from = es->index;
    abti_plain_store_relaxed(&abti_rt.num_xstreams, abti_rt.num_xstreams - 1); /* relaxed: the lock is held */
    /* What it has counted as the keeper of pools must outlive it. It has left those that only a nested scheduler had.
     */
    for (int i = 0; i < es->num_served; i++)
        abti_pool_drop_keeper(es->served[i], es);
    abti_spin_unlock(&abti_rt.lock);
    abti_halt_wait_for_posters();
}

void abti_es_list_move(abti_es *es, int rank)
{
    abti_spin_lock(&abti_rt.lock);
    list_remove(es);
    abti_plain_store_relaxed(&es->rank, choose_rank(es, rank)); /* relaxed: the lock is held */
    list_insert(es);
    note_rank(es);
    abti_spin_unlock(&abti_rt.lock);
}

void abti_es_list_forget(void)
{
    for (unsigned index = 0; index < ABTI_MAX_ES; index++) {
        if (!abti_load_relaxed(&abti_rt.by_index[index]))
            continue;
        abti_timers_forget(index);
        memset(&bias_users[index], 0, sizeof(bias_users[index]));
    }
}

bool abti_es_rank_is_free(int rank)
{
    abti_spin_lock(&abti_rt.lock);
    bool is_free = rank_is_free(rank);
    abti_spin_unlock(&abti_rt.lock);
    return is_free;
}

int abti_es_set_rank(abti_es *es, int rank)
{
    struct abti_cpuset cpus;
    if (rank < 0)
        return ABT_ERR_INV_XSTREAM_RANK;
    int code = abti_esaffinity_of(rank, &cpus);
    if (code != ABT_SUCCESS)
        return code;
    abti_spin_lock(&abti_rt.lock);
    if (rank != es->rank) {
        if (!rank_is_free(rank)) {
            code = ABT_ERR_INV_XSTREAM_RANK;
        } else {
            list_remove(es);
            abti_plain_store_relaxed(&es->rank, rank); /* relaxed: the lock is held */
            list_insert(es);
            note_rank(es);
        }
    }
    abti_spin_unlock(&abti_rt.lock);
    if (code == ABT_SUCCESS)
        abti_esaffinity_bind(es, &cpus);
    else
        abti_cpuset_fini(&cpus);
    return code;
}
