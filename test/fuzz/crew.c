/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

/* Each has a stack, and TSan does not know many. */
enum { MAX_NATIVES = 40 };

static atomic_int natives_now;
static pthread_mutex_t ended_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t *ended; /* or about to end */
static size_t num_ended, room_ended;

static void reap_later(pthread_t thread)
{
    pthread_mutex_lock(&ended_lock);
    if (num_ended == room_ended) {
        room_ended = room_ended ? 2 * room_ended : 64;
        ended = realloc(ended, room_ended * sizeof(*ended));
        expect(ended);
    }
    ended[num_ended++] = thread;
    pthread_mutex_unlock(&ended_lock);
}

void natives_reap(void)
{
    for (size_t i = 0; i < num_ended; i++)
        expect(pthread_join(ended[i], NULL) == 0);
    free(ended);
    ended = NULL;
    num_ended = room_ended = 0;
}

static void member_main(void *arg)
{
    struct member *member = arg;

    gain_note();
    member->func(&member->actor, member->arg);
}

/* The crew may be gone when the eventual is set. */
static void *native_main(void *arg)
{
    struct member *member = arg;
    ABT_eventual done = member->done;

    member->func(&member->actor, member->arg);
    must(ABT_eventual_set(done, NULL, 0));
    return NULL;
}

static struct member *member_make(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *),
                                  void *arg)
{
    expect(crew->num < MAX_CREW);
    struct member *member = &crew->members[crew->num++];

    *member = (struct member){func, arg, actor_make(actor), ABT_THREAD_NULL, ABT_EVENTUAL_NULL};
    return member;
}

bool crew_add_native(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *), void *arg)
{
    pthread_t thread;

    if (atomic_fetch_add(&natives_now, 1) >= MAX_NATIVES) {
        atomic_fetch_sub(&natives_now, 1);
        return false;
    }
    struct member *member = member_make(actor, crew, func, arg);
    member->actor.external = true;
    must(ABT_eventual_create(0, &member->done));
    if (pthread_create(&thread, NULL, native_main, member) != 0)
        fuzz_fail("no native thread");
    reap_later(thread);
    return true;
}

void crew_add_to(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *), void *arg, ABT_pool pool)
{
    struct member *member = member_make(actor, crew, func, arg);
    ABT_thread_attr attr = random_attr(actor);

    must(ABT_thread_create(pool, member_main, member, attr, &member->thread));
    if (attr != ABT_THREAD_ATTR_NULL)
        must(ABT_thread_attr_free(&attr));
}

void crew_add(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *), void *arg, unsigned who)
{
    if ((who & NATIVES) && chance(actor, 8) && crew_add_native(actor, crew, func, arg))
        return;
    if ((who & TASKS) && chance(actor, 3)) {
        struct member *member = member_make(actor, crew, func, arg);
        must(ABT_task_create(any_pool(actor), member_main, member, (ABT_task *)&member->thread));
        return;
    }
    crew_add_to(actor, crew, func, arg, any_pool(actor));
}

void crew_join(struct actor *actor, struct crew *crew)
{
    ABT_thread threads[MAX_CREW];
    int num = 0;

    for (int i = 0; i < crew->num; i++) {
        struct member *member = &crew->members[i];
        if (member->done == ABT_EVENTUAL_NULL) {
            threads[num++] = member->thread;
            continue;
        }
        must(ABT_eventual_wait(member->done, NULL));
        must(ABT_eventual_free(&member->done));
        atomic_fetch_sub(&natives_now, 1);
    }
    if (chance(actor, 3))
        must(ABT_thread_join_many(num, threads));
    if (chance(actor, 3))
        must(ABT_thread_free_many(num, threads));
    else
        for (int i = 0; i < num; i++)
            must(ABT_thread_free(&threads[i]));
    crew->num = 0;
}
