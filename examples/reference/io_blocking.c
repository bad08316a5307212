/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I call foreign code that blocks, look up a name, or sleep? By functions that let only the ULT wait.
 *
 *   cc io_blocking.c $(pkg-config --cflags --libs abtio argobots) -o io_blocking
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is_done, turns;

static void others(void *arg)
{
    (void)arg;
    for (; !is_done; turns++)
        ABT_self_yield();
}

/* Of a library that knows nothing of ULTs. Its errors are negative numbers, too. */
static ssize_t slow_answer(void *arg)
{
    usleep(20000);
    return *(int *)arg * 2;
}

int main(int argc, char **argv)
{
    abtio_config config = {.backend = ABTIO_BACKEND_AUTO, .max_threads = 4};
    abtio_info info;
    struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_NUMERICHOST}, *list = NULL;
    ABT_pool pool;
    ABT_thread unit;
    int number = 21, answer, found, slept, told;

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(&config) != 0)
        return 1;
    told = abtio_get_info(&info);
    printf("by %s: %s\n", info.backend == ABTIO_BACKEND_IO_URING ? "io_uring" : "threads", info.reason);
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, others, NULL, ABT_THREAD_ATTR_NULL, &unit);

    answer = (int)abtio_blocking(slow_answer, &number, ABTIO_FOREVER); /* on a native thread, not on this stream */
    printf("the answer is %d, and others had turns meanwhile: %s\n", answer, turns > 0 ? "yes" : "no");
    slept = abtio_sleep(1000000, ABTIO_FOREVER);
    found = abtio_getaddrinfo("127.0.0.1", "80", &hints, &list, ABTIO_FOREVER);
    printf("look-up: %s\n", found == 0 ? "found" : found > 0 ? gai_strerror(-found) : strerror(-found));
    if (list)
        freeaddrinfo(list);
    is_done = 1;
    ABT_thread_free(&unit);
    abtio_finalize();
    ABT_finalize();
    return told != 0 || answer != 42 || turns == 0 || slept != 0 || found != 0;
}
