/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for words. */
#include "world.h"

struct turns {
    _Atomic(uint32_t) word;
    uint32_t rounds;
    atomic_uint seen;
};

static ABT_bool look_for_nothing(void *arg)
{
    return ABT_FALSE;
}

static void turns_live(struct actor *actor, void *arg)
{
    struct turns *turns = arg;
    ABTX_look_fn look = chance(actor, 2) ? look_for_nothing : NULL;

    for (uint32_t i = 0; i < turns->rounds; i++) {
        must(ABTX_word_wait(&turns->word, i, 0, ABT_FALSE, look, NULL));
        expect(atomic_load(&turns->word) > i);
        atomic_fetch_add(&turns->seen, 1);
    }
}

/* A wake for each is as good as one for all. */
static void turns_take(struct actor *actor)
{
    struct turns turns = {.rounds = 1 + dice(actor, 5)};
    struct crew crew = {0};
    unsigned num = 1 + dice(actor, MAX_CREW);

    for (unsigned i = 0; i < num; i++)
        crew_add(actor, &crew, turns_live, &turns, NATIVES);
    for (uint32_t i = 0; i < turns.rounds; i++) {
        for (unsigned yields = dice(actor, 4); yields > 0; yields--)
            relax(actor);
        atomic_fetch_add(&turns.word, 1);
        bool singly = chance(actor, 2);
        for (unsigned wakes = singly ? num : 1; wakes > 0; wakes--)
            must(ABTX_word_wake(&turns.word, singly ? 1 : UINT32_MAX));
    }
    crew_join(actor, &crew);
    expect(atomic_load(&turns.seen) == turns.rounds * num);
}

/* ---- A lock made of a word --------------------------------------------------------------------------------------- */

struct lock {
    _Atomic(uint32_t) word; /* 0: free; 1: held; 2: held, and others may wait */
    unsigned each, value;
};

static void lock_live(struct actor *actor, void *arg)
{
    struct lock *lock = arg;

    for (unsigned i = 0; i < lock->each; i++) {
        uint32_t expected = 0;
        if (!atomic_compare_exchange_strong(&lock->word, &expected, 1))
            while (atomic_exchange(&lock->word, 2) != 0)
                must(ABTX_word_wait(&lock->word, 2, 0, ABT_FALSE, NULL, NULL));
        lock->value++;
        if (chance(actor, 3))
            relax(actor);
        if (atomic_exchange(&lock->word, 0) == 2)
            must(ABTX_word_wake(&lock->word, 1));
    }
}

static void lock_take(struct actor *actor)
{
    struct lock lock = {.each = 1 + dice(actor, 10)};
    struct crew crew = {0};
    unsigned num = 1 + dice(actor, MAX_CREW);

    for (unsigned i = 0; i < num; i++)
        crew_add(actor, &crew, lock_live, &lock, NATIVES);
    crew_join(actor, &crew);
    expect(lock.value == num * lock.each);
}

const struct step word_steps[] = {
    {"turns", turns_take, 0},
    {"word_lock", lock_take, 0},
    {NULL, NULL, 0},
};
