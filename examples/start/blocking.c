/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I call foreign code that blocks and must stay on its thread? A ULT does so in a blocking region: it keeps its
 * native thread for itself, and another one runs the other units of the stream meanwhile.
 *
 *   cc blocking.c $(pkg-config --cflags --libs argobots) -o blocking
 */
#include <abt.h>
#include <stdio.h>
#include <unistd.h>

/* Stands for a library that keeps something for each native thread, such as a connection, and waits for an answer. */
static _Thread_local int connection;

static int ask(void)
{
    usleep(20000);
    return connection;
}

static volatile int is_done;

static void client(void *arg)
{
    int number = *(int *)arg, answer;
    ABTX_blocking_begin();
    connection = number;
    answer = ask();
    ABTX_blocking_end();
    printf("client %d: %s\n", number, answer == number ? "its own answer" : "somebody else's answer");
}

static void others(void *count)
{
    while (!is_done) {
        (*(long *)count)++;
        ABT_self_yield();
    }
}

int main(int argc, char **argv)
{
    enum { NUM = 3 };
    ABT_pool pool;
    ABT_thread clients[NUM], other;
    int numbers[NUM];
    long count = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < NUM; i++) {
        numbers[i] = i + 1;
        ABT_thread_create(pool, client, &numbers[i], ABT_THREAD_ATTR_NULL, &clients[i]);
    }
    ABT_thread_create(pool, others, &count, ABT_THREAD_ATTR_NULL, &other);
    for (int i = 0; i < NUM; i++)
        ABT_thread_free(&clients[i]);
    is_done = 1;
    ABT_thread_free(&other);
    printf("others ran meanwhile: %s\n", count > 0 ? "yes" : "no");
    ABT_finalize();
    return count == 0;
}
