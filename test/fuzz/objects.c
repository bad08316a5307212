/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks, condition variables and barriers. */
#include <time.h>

#include "world.h"

/* ---- Mutexes ----------------------------------------------------------------------------------------------------- */

static void mutex_lock(struct actor *actor, ABT_mutex mutex)
{
    int code;

    switch (dice(actor, 8)) {
    case 0: must(ABT_mutex_lock_high(mutex)); return;
    case 1: must(ABT_mutex_lock_low(mutex)); return;
    case 2:
        while ((code = ABT_mutex_trylock(mutex)) == ABT_ERR_MUTEX_LOCKED && chance(actor, 2))
            relax(actor);
        expect(code == ABT_SUCCESS || code == ABT_ERR_MUTEX_LOCKED);
        if (code == ABT_SUCCESS)
            return;
        /* fall through */
    default: must(ABT_mutex_lock(mutex));
    }
}

static void mutex_unlock(struct actor *actor, ABT_mutex mutex)
{
    switch (dice(actor, 8)) {
    case 0: must(ABT_mutex_unlock_se(mutex)); return;
    case 1: must(ABT_mutex_unlock_de(mutex)); return;
    default: must(ABT_mutex_unlock(mutex));
    }
}

static void count_add(struct guarded *count)
{
    count->value++;
    atomic_fetch_add(&count->added, 1);
}

/* One, or two in their order. */
static void mutex_take(struct actor *actor)
{
    for (unsigned i = 1 + dice(actor, 6); i > 0; i--) {
        unsigned one = dice(actor, NUM_MUTEXES), two = one + 1 + dice(actor, NUM_MUTEXES);
        mutex_lock(actor, world.mutexes[one]);
        count_add(&world.counts[one]);
        if (chance(actor, 3))
            relax(actor);
        if (two < NUM_MUTEXES) {
            mutex_lock(actor, world.mutexes[two]);
            count_add(&world.counts[two]);
            if (chance(actor, 2))
                relax(actor);
            mutex_unlock(actor, world.mutexes[two]);
        }
        mutex_unlock(actor, world.mutexes[one]);
    }
}

/* The holder of one of these does not switch, so that a caller that spins gets it. */
static void spin_take(struct actor *actor)
{
    for (unsigned i = 1 + dice(actor, 10); i > 0; i--) {
        unsigned spin = dice(actor, NUM_SPINS);
        if (chance(actor, 2))
            must(ABT_mutex_spinlock(world.spins[spin]));
        else
            must(ABT_mutex_lock(world.spins[spin]));
        count_add(&world.spin_counts[spin]);
        must(ABT_mutex_unlock(world.spins[spin]));
    }
}

static void recursive_take(struct actor *actor)
{
    unsigned num = 1 + dice(actor, 4);

    for (unsigned i = 0; i < num; i++) {
        mutex_lock(actor, world.recursive);
        if (chance(actor, 2))
            relax(actor);
    }
    count_add(&world.recursive_count);
    for (unsigned i = 0; i < num; i++)
        mutex_unlock(actor, world.recursive);
}

static void rwlock_take(struct actor *actor)
{
    for (unsigned i = 1 + dice(actor, 5); i > 0; i--) {
        unsigned one = dice(actor, NUM_RWLOCKS);
        struct guarded *count = &world.rw_counts[one];
        if (chance(actor, 3)) {
            must(ABT_rwlock_wrlock(world.rwlocks[one]));
            expect(count->value == world.rw_copies[one]);
            count_add(count);
            if (chance(actor, 2))
                relax(actor);
            world.rw_copies[one]++;
        } else {
            must(ABT_rwlock_rdlock(world.rwlocks[one]));
            if (chance(actor, 2))
                relax(actor);
            expect(count->value == world.rw_copies[one]);
        }
        must(ABT_rwlock_unlock(world.rwlocks[one]));
    }
}

/* ---- A bounded queue --------------------------------------------------------------------------------------------- */

struct queue {
    ABT_mutex_memory mutex;
    ABT_cond_memory filled, room;
    int num, taken, each;
};

/* What a wait returns when it is late is looked at again; one that has a past deadline has unlocked, too. */
static void queue_wait(struct actor *actor, ABT_cond cond, ABT_mutex mutex)
{
    struct timespec ts;

    if (chance(actor, 2)) {
        must(ABT_cond_wait(cond, mutex));
        return;
    }
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec -= chance(actor, 3);
    ts.tv_nsec += (long)dice(actor, 1000000);
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    int code = ABT_cond_timedwait(cond, mutex, &ts);
    expect(code == ABT_SUCCESS || code == ABT_ERR_COND_TIMEDOUT);
}

static void taker_live(struct actor *actor, void *arg)
{
    struct queue *queue = arg;
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&queue->mutex);

    for (int got = 0; got < queue->each; got++) {
        must(ABT_mutex_lock(mutex));
        while (queue->num == 0)
            queue_wait(actor, ABT_COND_MEMORY_GET_HANDLE(&queue->filled), mutex);
        queue->num--;
        queue->taken++;
        must(ABT_cond_signal(ABT_COND_MEMORY_GET_HANDLE(&queue->room)));
        must(ABT_mutex_unlock(mutex));
    }
}

static void queue_put(struct actor *actor, struct queue *queue)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&queue->mutex);
    ABT_cond filled = ABT_COND_MEMORY_GET_HANDLE(&queue->filled);

    must(ABT_mutex_lock(mutex));
    while (queue->num >= 3)
        queue_wait(actor, ABT_COND_MEMORY_GET_HANDLE(&queue->room), mutex);
    queue->num++;
    if (chance(actor, 3))
        must(ABT_cond_broadcast(filled));
    else
        must(ABT_cond_signal(filled));
    must(ABT_mutex_unlock(mutex));
}

static void cond_take(struct actor *actor)
{
    struct queue queue = {.mutex = ABT_MUTEX_INITIALIZER, .filled = ABT_COND_INITIALIZER, .room = ABT_COND_INITIALIZER};
    struct crew crew = {0};
    int takers = 1 + (int)dice(actor, 3);

    queue.each = 1 + (int)dice(actor, 8);
    for (int i = 0; i < takers; i++)
        crew_add(actor, &crew, taker_live, &queue, NATIVES);
    for (int i = 0; i < takers * queue.each; i++) {
        queue_put(actor, &queue);
        if (chance(actor, 4))
            relax(actor);
    }
    crew_join(actor, &crew);
    expect(queue.num == 0 && queue.taken == takers * queue.each);
}

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

struct meeting {
    ABT_barrier barrier;
    ABT_xstream_barrier stream_barrier;
    ABT_eventual go;
    int num, rounds;
    atomic_int here;
};

static void meeting_live(struct actor *actor, void *arg)
{
    struct meeting *meeting = arg;

    for (int i = 1; i <= meeting->rounds; i++) {
        atomic_fetch_add(&meeting->here, 1);
        if (meeting->barrier != ABT_BARRIER_NULL)
            must(ABT_barrier_wait(meeting->barrier));
        else
            must(ABT_xstream_barrier_wait(meeting->stream_barrier));
        expect(atomic_load(&meeting->here) >= meeting->num * i);
        if (chance(actor, 4))
            relax(actor);
    }
}

/* The same barrier, then for another number. */
static void barrier_take(struct actor *actor)
{
    struct meeting meeting = {.num = 1};
    struct crew crew = {0};

    must(ABT_barrier_create(1, &meeting.barrier));
    for (unsigned again = 1 + dice(actor, 2); again > 0; again--) {
        meeting.num = 1 + (int)dice(actor, MAX_CREW);
        meeting.rounds = 1 + (int)dice(actor, 4);
        atomic_store(&meeting.here, 0);
        must(ABT_barrier_reinit(meeting.barrier, (uint32_t)meeting.num));
        for (int i = 1; i < meeting.num; i++)
            crew_add(actor, &crew, meeting_live, &meeting, NATIVES);
        meeting_live(actor, &meeting);
        crew_join(actor, &crew);
        expect(atomic_load(&meeting.here) == meeting.num * meeting.rounds);
    }
    must(ABT_barrier_free(&meeting.barrier));
}

static void streamless_live(struct actor *actor, void *arg)
{
    struct meeting *meeting = arg;

    must(ABT_eventual_wait(meeting->go, NULL));
    meeting_live(actor, meeting);
}

/* Whoever waits blocks a native thread: the caller's and others that are on no stream, as far as there are some. */
static void stream_barrier_take(struct actor *actor)
{
    struct meeting meeting = {.barrier = ABT_BARRIER_NULL, .num = 1, .rounds = 1 + (int)dice(actor, 4)};
    struct crew crew = {0};

    must(ABT_eventual_create(0, &meeting.go));
    for (unsigned i = dice(actor, 3); i > 0; i--)
        meeting.num += crew_add_native(actor, &crew, streamless_live, &meeting);
    must(ABT_xstream_barrier_create((uint32_t)meeting.num, &meeting.stream_barrier));
    must(ABT_eventual_set(meeting.go, NULL, 0));
    meeting_live(actor, &meeting);
    crew_join(actor, &crew);
    must(ABT_xstream_barrier_free(&meeting.stream_barrier));
    must(ABT_eventual_free(&meeting.go));
}

const struct step object_steps[] = {
    {"mutex", mutex_take, LEAF},
    {"spin", spin_take, LEAF},
    {"recursive", recursive_take, LEAF},
    {"rwlock", rwlock_take, LEAF},
    {"cond", cond_take, 0},
    {"barrier", barrier_take, 0},
    {"stream_barrier", stream_barrier_take, 0},
    {NULL, NULL, 0},
};
