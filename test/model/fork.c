/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deques: fork/deque.c as it is, with the inline functions of abt_fork.h. An owner forks and joins, two thieves ask and
 * steal. Each task runs once, by one who sees its arguments, and the owner sees what it has done. A request that is
 * left at the end has moved the limit, so that the owner's next fork or join would serve it.
 */
#include "checker.h"

#include "fork/deque.c"

const char model_name[] = "fork";
const char *const model_subjects[] = {"src/fork/deque.c", "src/fork/deque.h", 0};

enum { TASKS = 3, TRIES = 4 };

bool abti_annotate_order;
static char memory[2][ABTX_DEQUE_BYTES] __attribute__((aligned(ABTX_DEQUE_BYTES)));
static const volatile int nobody;

static struct model_task {
    struct abtx_task base;
    int argument, ran;
} tasks[TASKS];

static struct abti_deque *deque(void)
{
    return (struct abti_deque *)(void *)memory[0];
}

static void reset(void)
{
    deque()->idle = &nobody;
    for (int i = 0; i <= TASKS; i++)
        deque()->entries[i] = NULL;
    for (int i = 0; i < TASKS; i++)
        tasks[i] = (struct model_task){.argument = 0};
    abti_deque_begin(deque(), false);
}

/* --- As in fork/fork.c, but that a forker spins --- */

abtx_at ABTX_fork_slow(abtx_at here, struct abtx_task *task)
{
    abti_deque_publish(deque(), (uint32_t)(here - deque()->entries) + 1);
    return here + 1;
}

int ABTX_fork_join_slow(abtx_at here)
{
    uint32_t index = (uint32_t)(here - deque()->entries);
    bool is_ours = true;
    if (index >= deque()->split)
        abti_deque_publish(deque(), index);
    else
        is_ours = abti_deque_take_back(deque(), index);
    if (!is_ours) {
        while (atomic_load_explicit(abti_task_state(*here), memory_order_acquire) != ABTI_TASK_DONE)
            model_give_way();
        abti_deque_forget(deque(), index);
    }
    *here = NULL;
    return is_ours;
}

/* --- The owner --- */

static void run(struct model_task *task)
{
    model_assert(task->argument == 1);
    task->argument = 2;
    model_assert(task->ran++ == 0);
}

static void run_task(abtx_at here, struct abtx_task *task)
{
    (void)here, (void)task;
}

static abtx_at fork_task(abtx_at here, int i)
{
    tasks[i].argument = 1;
    return abtx_fork(here, &tasks[i].base, run_task);
}

static void join_task(abtx_at here, int i)
{
    if (abtx_join(here))
        run(&tasks[i]);
    model_assert(tasks[i].argument == 2 && tasks[i].ran == 1);
}

/* --- Thieves --- */

static void steal(void)
{
    for (int i = 0; i < TRIES; i++) {
        struct abtx_task *task = abti_deque_steal(deque());
        if (task) {
            run((struct model_task *)task);
            atomic_exchange_explicit(abti_task_state(task), ABTI_TASK_DONE, memory_order_acq_rel);
        } else {
            abti_deque_ask(deque());
        }
        model_linger(10);
    }
}

static void two_forks(int index)
{
    abtx_at here = &deque()->entries[0];
    if (index > 0) {
        steal();
        return;
    }
    abtx_at second = fork_task(here, 0);
    abtx_at third = fork_task(second, 1);
    (void)third;
    join_task(second, 1);
    join_task(here, 0);
}

static void three_forks(int index)
{
    abtx_at here = &deque()->entries[0];
    if (index > 0) {
        steal();
        return;
    }
    abtx_at second = fork_task(here, 0);
    fork_task(second, 1);
    join_task(second, 1);
    fork_task(second, 2);
    join_task(second, 2);
    join_task(here, 0);
}

/* The owner blocks once in between: all its tasks become public. */
static void blocking(int index)
{
    abtx_at here = &deque()->entries[0];
    if (index > 0) {
        steal();
        return;
    }
    abtx_at second = fork_task(here, 0);
    fork_task(second, 1);
    abti_deque_publish_all(deque());
    join_task(second, 1);
    join_task(here, 0);
}

static void after(void)
{
    uint64_t part = abti_load_relaxed(&deque()->public_part);
    model_assert(abti_deque_tail(part) == 0 && abti_deque_split(part) == 0 && deque()->split == 0);
    model_assert(!abti_load_relaxed(&deque()->request) ||
                 abti_load_relaxed(&deque()->limit) == (uintptr_t)deque() + ABTX_DEQUE_BYTES);
}

const struct model_program model_programs[] = {{"2 forks, 2 thieves", 3, 6000, reset, two_forks, after},
                                               {"3 forks, 2 thieves", 3, 6000, reset, three_forks, after},
                                               {"a forker blocks", 3, 4000, reset, blocking, after},
                                               {0}};

const struct model_kept model_kept[] = {{0}};
const char *const model_own_mutants[] = {0};
