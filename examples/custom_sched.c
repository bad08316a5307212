/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler of one's own: it serves three pools, gold, silver and bronze, in weighted rounds: 4 turns, 2 turns,
 * 1 turn. Each stream has its own scheduler and its own three pools, which hold more than enough work for all its
 * rounds. A turn lasts until a ULT yields or ends, so after r whole rounds the turns must stand at 4r : 2r : r.
 */
#include "team.h"

#include <stdio.h>

enum { TIERS = 3, ROUNDS = 20000, TURNS_OF_A_ROUND = 4 + 2 + 1, TURNS_OF_A_ULT = 100 };

static const int weights[TIERS] = {4, 2, 1};

/* ---- The scheduler ---- */

static void run_rounds(ABT_sched sched)
{
    ABT_pool pools[TIERS];
    ABT_bool stop = ABT_FALSE;

    CHECK(ABT_sched_get_pools(sched, TIERS, 0, pools));
    while (!stop) {
        for (int tier = 0; tier < TIERS; tier++) {
            for (int turn = 0; turn < weights[tier]; turn++) {
                ABT_thread thread;
                CHECK(ABT_pool_pop_thread(pools[tier], &thread));
                if (thread == ABT_THREAD_NULL)
                    break; /* nothing there: the turns go to the others */
                CHECK(ABT_self_schedule(thread, ABT_POOL_NULL));
            }
        }
        /* What any scheduler has to do now and then: learn of requests to its stream, and obey them. */
        CHECK(ABT_xstream_check_events(sched));
        CHECK(ABT_sched_has_to_stop(sched, &stop));
    }
}

/* ---- The work ---- */

/* What a stream has seen; all its ULTs run there one after the other. */
struct server {
    _Alignas(64) long rounds; /* turns are counted until this number of rounds has passed */
    long total;
    long turns[TIERS];
    ABT_xstream stream;
    ABT_sched sched;
    ABT_pool pools[TIERS];
    struct job {
        struct server *server;
        int tier;
    } jobs[TIERS];
};

static struct server servers[TEAM_MAX_STREAMS];

/* The body of a ULT. */
static void work(void *arg)
{
    const struct job *job = arg;
    struct server *server = job->server;

    for (int i = 0; i < TURNS_OF_A_ULT; i++) {
        if (i > 0)
            CHECK(ABT_thread_yield());
        if (server->total++ < server->rounds * TURNS_OF_A_ROUND)
            server->turns[job->tier]++;
    }
}

/* Fills three pools, and only then starts a stream with a scheduler for them. */
static long start_server(struct server *server)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run_rounds};
    long num = (weights[0] * server->rounds + TURNS_OF_A_ULT - 1) / TURNS_OF_A_ULT; /* for the tier of most */

    for (int tier = 0; tier < TIERS; tier++) {
        server->jobs[tier] = (struct job){server, tier};
        CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPSC, ABT_TRUE, &server->pools[tier]));
        for (long i = 0; i < num; i++)
            CHECK(ABT_thread_create(server->pools[tier], work, &server->jobs[tier], ABT_THREAD_ATTR_NULL, NULL));
    }
    CHECK(ABT_sched_create(&def, TIERS, server->pools, ABT_SCHED_CONFIG_NULL, &server->sched));
    CHECK(ABT_xstream_create(server->sched, &server->stream));
    return num * TIERS;
}

static int run(int num_streams)
{
    long turns[TIERS] = {0}, units = 0;
    char answer[64];

    double seconds = team_seconds();
    CHECK(ABT_init(0, NULL));
    for (int i = 0; i < num_streams; i++) {
        servers[i] = (struct server){.rounds = ROUNDS / num_streams + (i < ROUNDS % num_streams)};
        units += start_server(&servers[i]);
    }
    for (int i = 0; i < num_streams; i++) {
        CHECK(ABT_xstream_free(&servers[i].stream)); /* waits until its pools are empty */
        CHECK(ABT_sched_free(&servers[i].sched));    /* and with it go its pools, which are automatic */
        for (int tier = 0; tier < TIERS; tier++)
            turns[tier] += servers[i].turns[tier];
    }
    CHECK(ABT_finalize());
    seconds = team_seconds() - seconds;

    snprintf(answer, sizeof(answer), "%ld:%ld:%ld", turns[0], turns[1], turns[2]);
    return team_report(&(struct report){"custom scheduler", answer, "80000:40000:20000", units, seconds});
}

int main(int argc, char **argv)
{
    struct team_config config;

    team_options(argc, argv, &config, NULL, "", NULL);
    config.num_streams += config.num_streams == 0; /* without streams there is nothing to schedule */
    return run(config.num_streams);
}
