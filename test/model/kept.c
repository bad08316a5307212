/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks that a member of libabtomp keeps: task/deque.c as it is. The owner pushes and pops, two others expose what it
 * keeps and steal. Each task is taken once, by one who sees what it is, and an owner that finds nothing keeps nothing.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "base/delay.h"
#include "checker.h"

/* The accesses of add-ons, as in their build with delays: they tell the checker where they stand. */
#include "../delays.h"
#undef DELAYED
#undef DELAYED_VOID
#define DELAYED(operation) ABTI_DELAYED(operation)
#define DELAYED_VOID(operation) ABTI_DELAYED_VOID(operation)

static int model_syscall(void)
{
    if (!model_is_mutant("no membarrier"))
        model_fence_all();
    return 0;
}
#define syscall(...) model_syscall()
#include "task/deque.c"

const char model_name[] = "kept";
const char *const model_subjects[] = {"addons/openmp/src/task/deque.c", "addons/openmp/src/task/tasks.h", 0};

enum { TASKS = 4, MEMBERS = 3 };

static struct abtomp_deque deque;
static struct abtomp_task *entries[TASKS];
static struct abtomp_task tasks[TASKS];
static int taken[TASKS];
static const int num_members = MEMBERS;

void abtomp_fail(const char *why)
{
    __builtin_trap();
}

/* Nobody sleeps: a thread that finds the lock taken gives way. */
void abtomp_mutex_lock_slow(_Atomic(uint32_t) *mutex)
{
    while (!abtomp_mutex_trylock(mutex))
        model_give_way();
}

void abtomp_mutex_wake(_Atomic(uint32_t) *mutex)
{
}

static void before(void)
{
    deque = (struct abtomp_deque){.entries = entries, .mask = TASKS - 1};
    for (int i = 0; i < TASKS; i++) {
        entries[i] = NULL;
        tasks[i].priority = 0;
        taken[i] = 0;
    }
}

/* Two that take the same task race for `taken`. */
static void take(struct abtomp_task *task)
{
    model_assert(task && task->priority == 7);
    taken[task - tasks]++;
}

static bool may_take(const struct abtomp_task *task, const void *arg)
{
    return task->priority == 7;
}

static void push(int index)
{
    tasks[index].priority = 7;
    model_assert(abtomp_deque_push(&deque, &tasks[index]));
}

static void pop_all(void)
{
    struct abtomp_task *task;
    while (abtomp_deque_may_pop(&deque, 0) && (task = abtomp_deque_pop(&deque, 0, &num_members)))
        take(task);
}

static void expose_and_steal(int times)
{
    struct abtomp_task *stolen[2];
    for (int i = 0; i < times; i++) {
        model_linger(8);
        abtomp_deque_expose(&deque);
        uint32_t num = abtomp_deque_steal(&deque, stolen, 2, may_take, NULL);
        while (num > 0)
            take(stolen[--num]);
    }
}

/* The owner makes some, takes one, makes others, and looks until it finds none. */
static void keep(void)
{
    push(0);
    push(1);
    struct abtomp_task *task = abtomp_deque_pop(&deque, 0, &num_members);
    if (task)
        take(task);
    push(2);
    push(3);
    pop_all();
}

/* It makes some of them public itself, and takes them back. */
static void publish(void)
{
    push(0);
    push(1);
    push(2);
    abtomp_deque_publish(&deque, 1);
    pop_all();
}

/* The others expose twice. */
static void act(int index, void (*owner)(void))
{
    if (index > 0)
        expose_and_steal(2);
    else
        owner();
}

static void keeping(int index)
{
    act(index, keep);
}

static void publishing(int index)
{
    act(index, publish);
}

/* There is one task only: the owner, who finds it gone and given back, may not leave it. */
static void last(int index)
{
    if (index > 0) {
        abtomp_deque_expose(&deque);
        return;
    }
    push(0);
    pop_all();
}

/* The owner pushes where others have read before. */
static void going_round(int index)
{
    if (index > 0) {
        expose_and_steal(3);
        return;
    }
    deque.mask = 1;
    for (int i = 0; i < TASKS; i++) {
        for (int looks = 0; abtomp_deque_num(&deque) > deque.mask && looks < 20; looks++)
            model_give_way();
        if (abtomp_deque_num(&deque) <= deque.mask)
            push(i);
    }
    pop_all();
}

static void after(void)
{
    uint32_t rest = abtomp_deque_num_public(&deque), num = 0;
    model_assert(abtomp_deque_num_kept(&deque) == 0);
    for (int i = 0; i < TASKS; i++) {
        model_assert(taken[i] <= 1);
        num += tasks[i].priority == 7 && taken[i] == 0;
    }
    model_assert(num == rest);
}

const struct model_program model_programs[] = {
    {"keeping tasks", 3, 4000, before, keeping, after},
    {"making them public", 2, 4000, before, publishing, after},
    {"the last one", 2, 4000, before, last, after},
    {"going round", 2, 4000, before, going_round, after},
    {0},
};

const struct model_kept model_kept[] = {
    {0},
};

const char *const model_own_mutants[] = {"no membarrier", 0};
