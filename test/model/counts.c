/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of blocked units: pool/blocked.c with the pools of pool/fifo.c as they are. A unit that runs blocks, and
 * is pushed again by somebody else, while a third thread asks for the pool's total size; and the keeper of the counts
 * gives them up, or runs units in place. The total is exact, and of a user-defined pool it is never too small.
 */
#define MODEL_REAL_POOLS
#include "units.h"
#include "lock/bias.c"
#include "pool/blocked.c"
#include "pool/fifo.c"
#include "pool/make.c"
#include "pool/parking.c"
#include "pool/pool.c"
#include "pool/request.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "counts";
const char *const model_subjects[] = {"src/pool/blocked.c", "src/pool/blocked.h", "src/pool/fifo.c",
                                      "test/model/include/arch_cpu.h", 0};

static abti_pool pool;
static abti_pool *const served[] = {&pool};
static _Atomic(int) blocked_now; /* the unit has been counted as entered */
static _Atomic(int) user_size;
static _Atomic(int) rounds;
static int users_memory; /* what the functions of a user-defined pool read: 1, until it is freed */

static void reset(void)
{
    model_reset();
    pool = (abti_pool){.ops = &abti_pool_fifo_ops, .form = ABTI_POOL_SHARED_FIFO};
    model_pool_init(&pool);
    abti_queue_init(&pool.queue);
    abti_queue_init(&pool.inbox);
    model_split(&pool.blocked.in_place, 1 << 4);
    for (int i = 0; i < MODEL_THREADS; i++) {
        model_es[i].served = served;
        model_es[i].num_served = 1;
    }
    abti_unit_init(&model_units[0], NULL, NULL, &pool, 0);
    abti_unit_init(&model_units[1], NULL, NULL, &pool, 0);
    blocked_now = 0;
    user_size = 0;
    users_memory = 1;
    rounds = 0;
}

static void reset_kept(void)
{
    reset();
    abti_store_relaxed(&pool.blocked.keeper, &model_es[0]);
}

static void push_user(abti_pool *p, abti_unit *unit, ABT_pool_context context)
{
    (void)p, (void)unit, (void)context;
    atomic_fetch_add_explicit(&user_size, 1, memory_order_acq_rel);
    model_assert(users_memory == 1);
}

static size_t size_of_user(abti_pool *p)
{
    return (size_t)atomic_load_explicit(&user_size, memory_order_acquire);
}

static void reset_user(void)
{
    static const struct abti_pool_ops ops = {.push = push_user, .size = size_of_user};
    reset_kept();
    pool.ops = &ops;
    pool.form = ABTI_POOL_USER;
}

static void reset_private(void)
{
    reset_kept();
    pool.ops = &abti_pool_fifo_priv_ops;
    pool.form = ABTI_POOL_PRIVATE_FIFO;
    abti_queue_push(&pool.queue, &model_units[0]);
    abti_queue_push(&pool.queue, &model_units[1]);
    abti_pool_in_place_grant(&pool, 10);
}

/* The unit blocks on this ES. */
static void block(abti_es *es)
{
    abti_pool_count_entered(es, &pool);
    atomic_store_explicit(&blocked_now, 1, memory_order_release);
}

static void wake(void)
{
    while (!atomic_load_explicit(&blocked_now, memory_order_acquire))
        model_give_way();
    abti_pool_push_unblocked(&pool, &model_units[0], ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

static void ask(bool exactly)
{
    for (int i = 0; i < 2; i++) {
        model_linger(10);
        bool known = atomic_load_explicit(&blocked_now, memory_order_acquire);
        size_t total = abti_pool_total_size(&pool);
        model_assert(!known || total >= 1);
        model_assert(!exactly || total <= 1);
    }
}

static void exactly(int index)
{
    if (index == 0)
        block(model_enter(0));
    else if (index == 1)
        wake();
    else
        ask(true);
}

static void at_least(int index)
{
    if (index == 2)
        ask(false);
    else
        exactly(index);
}

static void disowned(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        block(es);
        abti_pool_drop_keeper(&pool, es);
    } else if (index == 1) {
        model_enter(1); /* which may become the keeper */
        wake();
    } else {
        ask(true);
    }
}

/* The keeper of a private pool takes the counts over from one that has gone. */
static void handed_on(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        block(es);
        abti_pool_drop_keeper(&pool, es);
    } else if (index == 1) {
        abti_es *es = model_enter(1);
        model_linger(30);
        abti_pool_count_entered(es, &pool);
        abti_pool_count_left(es, &pool, 1);
    } else {
        for (int i = 0; i < 2; i++)
            model_assert(abti_pool_total_size(&pool) <= 2);
    }
}

static void none_is_lost(void)
{
    model_assert(abti_pool_total_size(&pool) == 1);
}

/* The first unit stays blocked, while the second one blocks and is woken again and again. */
static void first_stays(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        block(es);
        for (int i = 0; i < 3; i++) {
            while (atomic_load_explicit(&rounds, memory_order_acquire) < 2 * i)
                model_give_way();
            abti_pool_count_entered(es, &pool);
            atomic_fetch_add_explicit(&rounds, 1, memory_order_acq_rel);
        }
    } else if (index == 1) {
        for (int i = 0; i < 3; i++) {
            while (atomic_load_explicit(&rounds, memory_order_acquire) < 2 * i + 1)
                model_give_way();
            abti_pool_push_unblocked(&pool, &model_units[1], ABT_POOL_CONTEXT_OP_THREAD_RESUME);
            atomic_fetch_sub_explicit(&user_size, 1, memory_order_acq_rel); /* it is popped */
            atomic_fetch_add_explicit(&rounds, 1, memory_order_acq_rel);
        }
    } else {
        model_linger(20);
        ask(false);
    }
}

/* The unit is found in the pool, and ends. The pool is freed, while its waker may still be in the user's function. */
static void freed(int index)
{
    if (index == 0) {
        block(model_enter(0));
        while (atomic_load_explicit(&user_size, memory_order_acquire) == 0)
            model_give_way();
        abti_pool_await_wakers(&pool);
        users_memory = 2;
    } else {
        wake();
    }
}

/* Units are joined in place, and made: there are never more than two in the queue. */
static void in_place_and_made(int index)
{
    if (index == 0) {
        model_enter(0);
        for (int i = 0; i < 3; i++) {
            abti_unit *unit = &model_units[i & 1];
            model_assert(abti_pool_in_place_take(&pool));
            abti_queue_unlink_head(&pool.queue, unit);
            abti_queue_push(&pool.queue, unit); /* as if it were another one */
        }
    } else {
        model_linger(10);
        model_assert(pool.ops->size(&pool) <= 2);
    }
}

/* Two units stand in the queue. One after the other is joined in place, which ends. */
static void in_place(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        for (int i = 0; i < 2; i++) {
            model_assert(abti_pool_in_place_take(&pool));
            abti_queue_unlink_head(&pool.queue, &model_units[i]);
            atomic_store_explicit(&blocked_now, i + 1, memory_order_release);
            abti_pool_count_own_left(&pool, 1);
        }
        model_assert(es != NULL);
    } else {
        int gone = atomic_load_explicit(&blocked_now, memory_order_acquire);
        size_t size = pool.ops->size(&pool);
        model_assert(size <= 2 && (int)size <= 2 - gone);
    }
}

const struct model_program model_programs[] = {
    {"a unit blocks and is woken", 3, 3000, reset_kept, exactly, none_is_lost},
    {"a keeper is found", 3, 3000, reset, exactly, none_is_lost},
    {"a keeper gives the counts up", 3, 3000, reset_kept, disowned, none_is_lost},
    {"another keeper follows", 3, 3000, reset_kept, handed_on, none_is_lost},
    {"a user-defined pool", 3, 3000, reset_user, at_least, 0},
    {"one of a user-defined pool stays blocked", 3, 3000, reset_user, first_stays, 0},
    {"a user-defined pool is freed", 2, 3000, reset_user, freed, 0},
    {"units run in place and are made", 2, 4000, reset_private, in_place_and_made, 0},
    {"units run in place", 2, 3000, reset_private, in_place, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {"wait_for_moves", "moves", "relaxed",
     "the counts read after it are acquired, and a sum that is wrong is taken again"},
    {"blocked_left", "own_left", "relaxed", "likewise: no program here has a reader that is misled"},
    {"blocked_entered", "entered", "relaxed", "likewise: the loads before it, and the lock, are enough here"},
    {"abti_pool_num_in_place", "in_place", "relaxed", "the fence in priv_size, behind the load of the size, is enough"},
    {"take_sum", "fence", "none", "each load of the second look is an acquire, too, but the last"},
    {"try_keep", "&none", "acquire", "the keeper publishes nothing by becoming it"},
    {"try_keep", "&none", "failure relaxed", "likewise, one that fails reads nothing"},
    {"abti_pool_count_entered_shared", "own_entered", "relaxed", "what makes the unit findable orders it, too"},
    {"abti_pool_count_entered_shared", "shared_entered", "relaxed", "what makes the unit findable orders it, too"},
    {"abti_pool_in_place_grant", "in_place", "relaxed", "the sum of granted and remain stays as it was"},
    {"abti_pool_drop_keeper", "moves", "release", "a sum around which `moves` has changed is taken again"},
    {"abti_pool_drop_keeper", "entered", NULL, "likewise"},
    {"abti_pool_drop_keeper", "left", NULL, "likewise"},
    {"abti_pool_in_place_take", "left", "relaxed",
     "the size of the queue, which is stored after it with release, is enough"},
    {0},
};

const char *const model_own_mutants[] = {0};
