/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: three ULTs each hold a mutex and wait for that of the next one, while another ULT runs on
 * run: ABT_DEADLOCK_CHECK=cycles
 * exit: 0
 * says: deadlock: units wait for each other
 * says: ULT [0-9]+ .* waits for mutex .* held by ULT .*, which waits for mutex .* held by ULT .*, which waits for mutex
 * .* held by
 */
#include <abt.h>
#include <time.h>
#include <unistd.h>

enum { NUM = 3 };

static ABT_mutex mutexes[NUM];

void take_two(void *arg)
{
    long first = (long)arg;
    ABT_mutex_lock(mutexes[first]);
    ABT_thread_yield();
    ABT_mutex_lock(mutexes[(first + 1) % NUM]);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread threads[NUM];
    ABT_init(argc, argv);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    for (long i = 0; i < NUM; i++) {
        ABT_mutex_create(&mutexes[i]);
        ABT_thread_create(pool, take_two, (void *)i, ABT_THREAD_ATTR_NULL, &threads[i]);
    }
    for (time_t end = time(NULL) + 3; time(NULL) < end;)
        ABT_thread_yield();
    _exit(0);
}
