/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I find units that wait for ever? By ABT_DEADLOCK_CHECK=1 in the environment. A program that is woken by
 * threads which the library does not know says so meanwhile, so that nothing is told that is not true.
 *
 *   cc deadlock.c $(pkg-config --cflags --libs argobots) -lpthread -o deadlock
 */
#include <abt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static ABT_eventual answer;

/* It has never called the library before: nobody could know that it will. */
static void *brings_answer(void *arg)
{
    int value = 42;
    (void)arg;
    usleep(50000);
    ABT_eventual_set(answer, &value, sizeof(value));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *value;
    int result, code, refused;

    setenv("ABT_DEADLOCK_CHECK", "1", 0); /* as from a shell; ABT_init reads it */
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_eventual_create(sizeof(int), &answer);
    code = ABTX_expect_external_wake(1); /* one more thread or event of that kind is to come */
    if (pthread_create(&thread, NULL, brings_answer, NULL) != 0)
        return 1;
    ABT_eventual_wait(answer, &value); /* without the line above stderr would tell of a deadlock */
    result = *(int *)value;
    pthread_join(thread, NULL);
    ABTX_expect_external_wake(-1);           /* it has come */
    refused = ABTX_expect_external_wake(-1); /* fewer than none cannot be expected */
    ABT_eventual_free(&answer);
    ABT_finalize();
    printf("the answer is %d; that it was to come was told before\n", result);
    return result != 42 || code != ABT_SUCCESS || refused == ABT_SUCCESS;
}
