/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does an eventual offer? It is a flag that is set once, with a value: wait for it, wait for some time, look at
 * it without waiting, and use it again. One with static storage has no value.
 *
 *   cc eventual.c $(pkg-config --cflags --libs argobots) -o eventual
 */
#include <abt.h>
#include <stdio.h>
#include <time.h>

static ABT_eventual_memory go_memory = ABT_EVENTUAL_INITIALIZER;

static void answers(void *arg)
{
    int answer = 42;
    ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&go_memory), NULL); /* any number of units may wait for it */
    ABT_eventual_set(*(ABT_eventual *)arg, &answer, sizeof(answer));     /* the value is copied */
}

int main(int argc, char **argv)
{
    enum { ROUNDS = 2 };
    ABT_eventual go = ABT_EVENTUAL_MEMORY_GET_HANDLE(&go_memory), answer;
    ABT_pool pool;
    ABT_thread unit;
    void *value;
    ABT_bool is_ready;
    struct timespec past = {0, 0};
    int late, twice, right = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_eventual_create(sizeof(int), &answer);
    for (int round = 0; round < ROUNDS; round++) {
        ABT_thread_create(pool, answers, &answer, ABT_THREAD_ATTR_NULL, &unit);
        ABT_eventual_test(answer, &value, &is_ready);
        late = ABT_eventual_timedwait(answer, &value, &past);
        printf("before: ready %d, the time is over: %s\n", is_ready, late == ABT_ERR_COND_TIMEDOUT ? "yes" : "no");
        ABT_eventual_set(go, NULL, 0);
        ABT_eventual_wait(answer, &value); /* the value stays where it is until the eventual is freed */
        right += !is_ready && late == ABT_ERR_COND_TIMEDOUT && *(int *)value == 42;
        ABT_eventual_test(answer, &value, &is_ready);
        printf("after: ready %d, the answer is %d\n", is_ready, *(int *)value);
        twice = ABT_eventual_set(answer, value, sizeof(int));
        printf("set once more: %s\n", twice == ABT_ERR_EVENTUAL ? "refused" : "done");
        ABT_thread_free(&unit);
        /* Nobody waits: both may be used again. */
        ABT_eventual_reset(answer);
        ABT_eventual_reset(go);
    }
    ABT_eventual_free(&answer);
    ABT_finalize();
    return right != ROUNDS || twice != ABT_ERR_EVENTUAL;
}
