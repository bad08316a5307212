/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a runtime build a barrier of its own, and runs tasks while its members wait? It keeps the number of the
 * round in a word, for which members wait, and says what they look for meanwhile.
 *
 *   cc word.c $(pkg-config --cflags --libs argobots) -o word
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MEMBERS = 4, ROUNDS = 1000, TASKS = 500 };

static _Atomic(uint32_t) rounds;
static atomic_int arrived, tasks_left = TASKS, tasks_run;

/* ABT_TRUE: it has run one. */
static ABT_bool run_task(void *arg)
{
    (void)arg;
    if (atomic_fetch_sub(&tasks_left, 1) <= 0)
        return ABT_FALSE;
    atomic_fetch_add(&tasks_run, 1);
    return ABT_TRUE;
}

static void meet(void)
{
    uint32_t round = atomic_load(&rounds);
    if (atomic_fetch_add(&arrived, 1) == MEMBERS - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&rounds, round + 1); /* first the change, then the wake */
        ABTX_word_wake(&rounds, MEMBERS);
    } else {
        ABTX_word_wait(&rounds, round, MEMBERS, ABT_FALSE, run_task, NULL);
    }
}

static void take_part(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++)
        meet();
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_thread members[MEMBERS];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    for (int i = 0; i < MEMBERS; i++)
        ABT_thread_create_on_xstream(stream, take_part, NULL, ABT_THREAD_ATTR_NULL, &members[i]);
    ABT_thread_free_many(MEMBERS, members);
    ABT_xstream_free(&stream);
    printf("%u rounds of %d, and %d tasks\n", (unsigned)rounds, MEMBERS, (int)tasks_run);
    ABT_finalize();
    return rounds != ROUNDS || tasks_run != TASKS;
}
