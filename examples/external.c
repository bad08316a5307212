/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service: native threads that the library knows nothing of hand work to execution streams and wait for the results,
 * as the threads of a server would. Each client counts the primes in its share of the numbers below ten million, in
 * blocks of a thousand; each block is a ULT.
 */
#include "team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 10000000, ROOT = 3163, BLOCK = 1000, BLOCKS = LIMIT / BLOCK, CLIENTS = 4 };

struct block {
    int first;
    int num_primes;
    ABT_thread ult;
};

static int primes[ROOT], num_primes; /* below the root of the limit */
static struct block blocks[BLOCKS];
static ABT_pool pool;

static void find_small_primes(void)
{
    for (int n = 2; n < ROOT; n++) {
        int i = 0;
        while (i < num_primes && n % primes[i] != 0)
            i++;
        if (i == num_primes)
            primes[num_primes++] = n;
    }
}

/* The body of a ULT: the sieve of Eratosthenes. */
static void count_primes(void *arg)
{
    struct block *block = arg;
    char composite[BLOCK];

    memset(composite, 0, sizeof(composite));
    for (int i = 0; i < num_primes; i++) {
        int p = primes[i], n = p * p;
        if (n < block->first)
            n = (block->first + p - 1) / p * p;
        for (; n < block->first + BLOCK; n += p)
            composite[n - block->first] = 1;
    }
    block->num_primes = 0;
    for (int i = 0; i < BLOCK; i++)
        block->num_primes += !composite[i] && block->first + i >= 2;
}

/* The body of a native thread. It may use the library without telling it anything first. */
static void *be_client(void *arg)
{
    struct block *mine = arg;
    for (int i = 0; i < BLOCKS / CLIENTS; i++)
        CHECK(ABT_thread_create(pool, count_primes, &mine[i], ABT_THREAD_ATTR_NULL, &mine[i].ult));
    for (int i = 0; i < BLOCKS / CLIENTS; i++)
        CHECK(ABT_thread_free(&mine[i].ult)); /* waits for it first: this thread sleeps meanwhile */
    return NULL;
}

static void run_clients(void)
{
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        if (pthread_create(&clients[i], NULL, be_client, &blocks[BLOCKS / CLIENTS * i]) != 0)
            abort();
    }
    /* This stops the primary stream as a whole; the work is done by the others. */
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
}

int main(int argc, char **argv)
{
    struct team_config config;
    ABT_xstream streams[TEAM_MAX_STREAMS];
    char answer[32];
    long sum = 0;

    team_options(argc, argv, &config, NULL, "", NULL);
    find_small_primes();
    for (int i = 0; i < BLOCKS; i++)
        blocks[i].first = i * BLOCK;

    double seconds = team_seconds();
    if (config.num_streams == 0) {
        for (int i = 0; i < BLOCKS; i++)
            count_primes(&blocks[i]);
    } else {
        CHECK(ABT_init(0, NULL));
        CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
        for (int i = 0; i < config.num_streams; i++)
            CHECK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));
        run_clients();
        for (int i = 0; i < config.num_streams; i++)
            CHECK(ABT_xstream_free(&streams[i]));
        CHECK(ABT_finalize());
    }
    seconds = team_seconds() - seconds;

    for (int i = 0; i < BLOCKS; i++)
        sum += blocks[i].num_primes;
    snprintf(answer, sizeof(answer), "%ld", sum);
    return team_report(&(struct report){"external threads", answer, "664579", BLOCKS, seconds});
}
