/* SPDX-License-Identifier: BSD-3-Clause */
/* What all files may use: who the caller is, and how many threads it may have beside other roots. */
#include "omp.h"

#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Thread_local struct abtomp_member *abtomp_current;

/* A root that had no region for so long does not count when roots share the processors. */
enum { NS_PER_S = 1000000000, IDLE_NS = 100000000 };

static pthread_mutex_t roots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abtomp_roots *roots; /* that are alive: roots_lock, */
static _Atomic(int) num_roots;     /* and how many they are: written with it */
static _Atomic(int) most_reported; /* the largest number of threads that was reported to some root; 0: none was */

void abtomp_fail(const char *why)
{
    fprintf(stderr, "libabtomp: %s\n", why);
    abort();
}

void abtomp_error(bool is_fatal, const char *message, size_t length)
{
    if (length == SIZE_MAX)
        length = message ? strlen(message) : 0;
    fprintf(stderr, "libabtomp: %serror directive encountered%s%.*s\n", is_fatal ? "fatal error: " : "",
            message ? ": " : "", (int)length, message ? message : "");
    if (is_fatal)
        exit(EXIT_FAILURE);
}

static bool shares_procs(void)
{
    return abtomp_env.shares && !abtomp_env.icvs.is_said;
}

void abtomp_roots_add(struct abtomp_roots *root)
{
    pthread_mutex_lock(&roots_lock);
    root->next = roots;
    root->at = &roots;
    if (roots)
        roots->at = &root->next;
    roots = root;
    /* relaxed: only a number of threads depends on it */
    atomic_fetch_add_explicit(&num_roots, 1, memory_order_relaxed);
    pthread_mutex_unlock(&roots_lock);
}

void abtomp_roots_remove(struct abtomp_roots *root)
{
    pthread_mutex_lock(&roots_lock);
    *root->at = root->next;
    if (root->next)
        root->next->at = root->at;
    atomic_fetch_sub_explicit(&num_roots, 1, memory_order_relaxed); /* relaxed: as in abtomp_roots_add */
    pthread_mutex_unlock(&roots_lock);
}

void abtomp_roots_in_child(void)
{
    roots_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    roots = NULL;
    atomic_store_explicit(&num_roots, 0, memory_order_relaxed); /* relaxed: there is one thread */
}

/* -- How many threads a region has -- */

static uint64_t coarse_now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

void abtomp_root_end(struct abtomp_roots *root)
{
    uint64_t now = shares_procs() ? coarse_now_ns() : 0;
    atomic_store_explicit(&root->used_ns, now, memory_order_relaxed); /* relaxed: as in abtomp_root_begin */
}

/* Other roots that use the processors: that are in a region, or were a moment ago. */
static int count_others(const struct abtomp_roots *own)
{
    uint64_t now = coarse_now_ns();
    int others = 0;
    pthread_mutex_lock(&roots_lock);
    for (const struct abtomp_roots *root = roots; root; root = root->next) {
        uint64_t used = atomic_load_explicit(&root->used_ns, memory_order_relaxed); /* relaxed: as it is written */
        others += root != own && used > 0 && (used > now || now - used < IDLE_NS);
    }
    pthread_mutex_unlock(&roots_lock);
    return others;
}

/* Other streams of the program, which have units of their own to run, for a region in a unit of one of them. */
static int count_streams(const struct abtomp_roots *own)
{
    int num = 0;
    return own->is_stream && ABT_xstream_get_num(&num) == ABT_SUCCESS ? num - 1 : 0;
}

static int share_of(const struct abtomp_roots *own)
{
    int others = count_streams(own);
    /* relaxed: as in abtomp_roots_add */
    if (atomic_load_explicit(&num_roots, memory_order_relaxed) > 1) {
        int others_with_regions = count_others(own); /* they may be streams of the program, too */
        others = others > others_with_regions ? others : others_with_regions;
    }
    int share = others > 0 ? abtomp_env.icvs.num_threads / (others + 1) : abtomp_env.icvs.num_threads;
    return share > 0 ? share : 1;
}

/* Whether the member's regions have as many threads as was reported to its root, or its share. */
static bool has_share(const struct abtomp_member *me)
{
    return !me->icvs.is_said && abtomp_env.shares && me->team->level == 0;
}

/*
 * A root that no number was reported to gets the largest one that any root has: the program may have made room for it,
 * and work for no fewer.
 */
int abtomp_root_threads(const struct abtomp_roots *root)
{
    if (root->reported > 0)
        return root->reported;
    int most = atomic_load_explicit(&most_reported, memory_order_relaxed); /* relaxed: the program orders the reports */
    return most > 0 ? most : share_of(root);
}

int abtomp_num_threads(const struct abtomp_member *me)
{
    return has_share(me) ? abtomp_root_threads(&me->team->root) : me->icvs.num_threads;
}

int abtomp_tell_threads(struct abtomp_member *me, int num)
{
    if (!has_share(me))
        return me->icvs.num_threads;
    if (num == 0)
        num = share_of(&me->team->root);
    me->team->root.reported = num;
    /* relaxed, both: as in abtomp_root_threads */
    int most = atomic_load_explicit(&most_reported, memory_order_relaxed);
    while (most < num && !atomic_compare_exchange_weak_explicit(&most_reported, &most, num, memory_order_relaxed,
                                                                memory_order_relaxed))
        continue;
    return num;
}

int abtomp_num_rivals(const struct abtomp_team *team, int num)
{
    /* relaxed, both: as in abtomp_roots_add */
    int roots = atomic_load_explicit(&num_roots, memory_order_relaxed);
    int siblings = atomic_load_explicit(&team->siblings, memory_order_relaxed);
    int larger = num > siblings ? num : siblings;
    /* One of the two is too many for the processors already. So no product overflows */
    if (larger > abtomp_env.num_procs)
        return larger;
    int rivals = num * siblings;
    return rivals > abtomp_env.num_procs ? rivals : rivals * (roots > 1 ? roots : 1);
}
