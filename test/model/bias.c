/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The biased lock: lock/bias.h, lock/bias.c and lock/spin.h as they are. The fence of all threads is model_fence_all: a
 * fence in each thread, one after the other. Nobody may be in the lock beside another, and what is done in it is
 * ordered; a race of `guarded` says that it is not.
 */
#include "checker.h"
#include "lock/bias.c"

const char model_name[] = "bias";
const char *const model_subjects[] = {"src/lock/bias.h", "src/lock/bias.c", "src/lock/spin.h", 0};

static struct abti_bias lock;
static struct abti_bias_user users[3];
static int guarded, holders;

static void before(void)
{
    lock = (struct abti_bias){.need = NEED_MIN};
    for (int i = 0; i < 3; i++)
        users[i] = (struct abti_bias_user){0};
    guarded = 0;
    holders = 0;
    abti_store_relaxed(&have_membarrier, true);
    abti_store_relaxed(&lock.owner, &users[0]); /* as bias_come() leaves it */
}

static void in_lock(void)
{
    model_assert(holders++ == 0);
    guarded++;
    model_assert(holders-- == 1);
}

static void owner(struct abti_bias_user *me, int times)
{
    for (int i = 0; i < times; i++) {
        abti_bias_lock(&lock, me);
        in_lock();
        abti_bias_unlock(&lock, me);
    }
}

static void taking(int index)
{
    if (index == 0) {
        owner(&users[0], 3);
    } else {
        abti_bias_lock(&lock, index == 1 ? NULL : &users[2]);
        in_lock();
        abti_bias_unlock(&lock, index == 1 ? NULL : &users[2]);
    }
}

/* The other thread gets the bias, as if it had come alone for long, and the old owner has it taken away again. */
static void handing_on(int index)
{
    if (index == 0) {
        owner(&users[0], 2);
        return;
    }
    abti_bias_lock_by_spin(&lock, &users[1]);
    lock.streak = NEED_MAX;
    abti_store_relaxed(&lock.last, &users[1]);
    bias_come(&lock, &users[1]);
    in_lock();
    abti_bias_unlock(&lock, &users[1]);
    owner(&users[1], 2);
}

/* The owner goes on to another lock, which its word then says in place of the first one. */
static void going_on(int index)
{
    static struct abti_bias other;
    if (index == 0) {
        abti_store_relaxed(&other.owner, &users[0]);
        owner(&users[0], 1);
        abti_bias_lock(&other, &users[0]);
        abti_bias_unlock(&other, &users[0]);
        owner(&users[0], 1);
    } else {
        owner(&users[1], 1);
    }
}

static void after(void)
{
    model_assert(holders == 0);
}

const struct model_program model_programs[] = {
    {"taking the bias away", 3, 4000, before, taking, after},
    {"handing the bias on", 2, 4000, before, handing_on, after},
    {"going on to another lock", 2, 4000, before, going_on, after},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_spin_trylock", "atomic_compare_exchange", "acquire",
     "the lock publishes nothing; abti_cas_word has one order for all its users"},
    {"abti_spin_trylock", "atomic_compare_exchange", "failure relaxed", "likewise, a caller that fails reads nothing"},
    {0},
};

const char *const model_own_mutants[] = {"no membarrier", 0};
