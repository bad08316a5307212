/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does an execution stream offer? A rank of my choice, a pause between join and revive, and another scheduler.
 *
 *   cc streams.c $(pkg-config --cflags --libs argobots) -o streams
 */
#include <abt.h>
#include <stdio.h>

static void stores_rank(void *arg)
{
    ABT_self_get_xstream_rank(arg);
}

/* The rank of the stream that has run a unit of the pool. */
static int rank_behind(ABT_pool pool)
{
    ABT_thread unit;
    int rank = -1;
    ABT_thread_create(pool, stores_rank, &rank, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit);
    return rank;
}

static const char *state_of(ABT_xstream stream)
{
    ABT_xstream_state state;
    ABT_xstream_get_state(stream, &state);
    return state == ABT_XSTREAM_STATE_RUNNING ? "runs" : "has stopped";
}

int main(int argc, char **argv)
{
    ABT_xstream me, stream;
    ABT_bool is_primary, is_other_primary;
    ABT_sched sched, first_sched;
    ABT_pool pool, second_pool;
    int rank, streams, number_of_pools, ranks[3];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&me);
    ABT_xstream_create_with_rank(ABT_SCHED_NULL, 7, &stream); /* a rank chooses the CPU, too, if streams are bound */
    ABT_xstream_get_num(&streams);
    ABT_xstream_is_primary(me, &is_primary);
    ABT_xstream_is_primary(stream, &is_other_primary);
    ABT_xstream_get_main_sched(stream, &first_sched);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ranks[0] = rank_behind(pool);
    printf("%d streams; stream %d %s\n", streams, ranks[0], state_of(stream));

    ABT_xstream_join(stream); /* its native thread has ended, and the handle stays */
    ABT_xstream_set_rank(stream, 3);
    printf("joined: it %s\n", state_of(stream));
    ABT_xstream_revive(stream);
    ranks[1] = rank_behind(pool);
    printf("revived: stream %d %s\n", ranks[1], state_of(stream));

    /* While it is stopped, it may get another scheduler, here one with three pools. */
    ABT_xstream_join(stream);
    ABT_sched_create_basic(ABT_SCHED_PRIO, 3, NULL, ABT_SCHED_CONFIG_NULL, &sched);
    ABT_xstream_set_main_sched(stream, sched);
    ABT_xstream_revive(stream);
    ABT_sched_get_num_pools(sched, &number_of_pools);
    ABT_xstream_get_main_pools(stream, 1, &second_pool);
    ranks[2] = rank_behind(second_pool);
    ABT_xstream_get_rank(stream, &rank);
    printf("stream %d has a scheduler of %d pools now\n", rank, number_of_pools);
    ABT_xstream_free(&stream);
    ABT_xstream_get_num(&streams);
    ABT_finalize();
    return !is_primary || is_other_primary || streams != 1 || ranks[0] != 7 || ranks[1] != 3 || ranks[2] != 3 ||
           rank != 3 || number_of_pools != 3 || sched == first_sched;
}
