/* SPDX-License-Identifier: BSD-3-Clause */
/* A team of execution streams: how a program sets up streams, schedulers and pools. See team.h. */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const sched_names[] = {[ABT_SCHED_BASIC] = "basic",
                                          [ABT_SCHED_PRIO] = "prio",
                                          [ABT_SCHED_RANDWS] = "randws",
                                          [ABT_SCHED_BASIC_WAIT] = "basic_wait"};
static const char *const kind_names[] = {
    [ABT_POOL_FIFO] = "fifo", [ABT_POOL_FIFO_WAIT] = "fifo_wait", [ABT_POOL_RANDWS] = "randws"};
static const char *const layout_names[] = {
    [TEAM_SHARED] = "shared", [TEAM_STEALING] = "stealing", [TEAM_PRIVATE] = "private"};

#define LOOK_UP(name, names) look_up((name), (names), (int)(sizeof(names) / sizeof((names)[0])))

static int look_up(const char *name, const char *const *names, int num)
{
    for (int i = 0; i < num; i++) {
        if (names[i] && strcmp(name, names[i]) == 0)
            return i;
    }
    return -1;
}

void team_options(int argc, char **argv, struct team_config *config, const char *more, const char *usage,
                  int (*handle)(int option, const char *value))
{
    char letters[32];
    int sched = ABT_SCHED_RANDWS, kind = ABT_POOL_RANDWS, layout = TEAM_STEALING, bad = 0, option;

    config->num_streams = team_num_cores();
    snprintf(letters, sizeof(letters), "e:%s%s", more ? "s:p:l:" : "", more ? more : "");
    while ((option = getopt(argc, argv, letters)) != -1) {
        switch (option) {
        case 'e': config->num_streams = atoi(optarg); break;
        case 's': sched = LOOK_UP(optarg, sched_names); break;
        case 'p': kind = LOOK_UP(optarg, kind_names); break;
        case 'l': layout = LOOK_UP(optarg, layout_names); break;
        default: bad |= option == '?' || handle(option, optarg) != 0; break;
        }
    }
    bad |= sched < 0 || kind < 0 || layout < 0;
    if (bad || optind < argc || config->num_streams < 0 || config->num_streams > TEAM_MAX_STREAMS) {
        fprintf(stderr, "usage: %s [-e streams; 0: run sequentially, without the library] %s %s\n", argv[0],
                more ? "[-s basic|prio|randws|basic_wait] [-p fifo|fifo_wait|randws] [-l shared|stealing|private]" : "",
                usage);
        exit(2);
    }
    config->sched = (ABT_sched_predef)sched;
    config->kind = (ABT_pool_kind)kind;
    config->layout = (enum team_layout)layout;
}

static ABT_pool make_pool(ABT_pool_kind kind, ABT_pool_access access)
{
    ABT_pool pool;
    /* Automatic: the pool is freed with the last scheduler that serves it. */
    CHECK(ABT_pool_create_basic(kind, access, ABT_TRUE, &pool));
    return pool;
}

static void make_pools(struct team *team, const struct team_config *config)
{
    for (int i = 0; i < team->num_streams; i++) {
        int first = config->layout == TEAM_SHARED ? 0 : i;
        if (i == first)
            team->inboxes[i] = make_pool(config->kind, ABT_POOL_ACCESS_MPMC);
        else
            team->inboxes[i] = team->inboxes[first];
        team->locals[i] = team->inboxes[i];
        if (config->layout == TEAM_PRIVATE)
            team->locals[i] = make_pool(config->kind, ABT_POOL_ACCESS_PRIV);
    }
}

/* Lists the pools that the scheduler of stream i is to serve. */
static int choose_pools(const struct team *team, enum team_layout layout, int i, ABT_pool *pools)
{
    int num = 0;
    pools[num++] = team->inboxes[i];
    if (layout == TEAM_PRIVATE)
        pools[num++] = team->locals[i];
    for (int k = 1; layout == TEAM_STEALING && k < team->num_streams; k++)
        pools[num++] = team->inboxes[(i + k) % team->num_streams];
    return num;
}

void team_start(struct team *team, const struct team_config *config)
{
    ABT_pool pools[TEAM_MAX_STREAMS + 1];

    team->num_streams = config->num_streams;
    if (team->num_streams == 0)
        return;
    CHECK(ABT_init(0, NULL));
    make_pools(team, config);
    /* The primary stream exists already: it changes its scheduler. The others are created with theirs. */
    int num_pools = choose_pools(team, config->layout, 0, pools);
    CHECK(ABT_xstream_self(&team->streams[0]));
    CHECK(ABT_xstream_set_main_sched_basic(team->streams[0], config->sched, num_pools, pools));
    for (int i = 1; i < team->num_streams; i++) {
        num_pools = choose_pools(team, config->layout, i, pools);
        CHECK(ABT_xstream_create_basic(config->sched, num_pools, pools, ABT_SCHED_CONFIG_NULL, &team->streams[i]));
    }
}

void team_stop(struct team *team)
{
    if (team->num_streams == 0)
        return;
    for (int i = 1; i < team->num_streams; i++) {
        team_go_home(); /* each time: the wait for a stream may end on another one */
        CHECK(ABT_xstream_free(&team->streams[i]));
    }
    CHECK(ABT_finalize());
}

void team_go_home(void)
{
    /* main() is a ULT like any other: while it waited, another stream may have taken it from its pool. */
    while (team_rank() != 0)
        CHECK(ABT_thread_yield());
}

int team_rank(void)
{
    int rank;
    CHECK(ABT_self_get_xstream_rank(&rank));
    return rank;
}

ABT_pool team_pool(const struct team *team)
{
    return team->locals[team_rank()];
}

ABT_pool team_pool_for(const struct team *team, int i)
{
    return team->inboxes[i % team->num_streams];
}

int team_num_cores(void)
{
    int num = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return num < 1 ? 1 : num > TEAM_MAX_STREAMS ? TEAM_MAX_STREAMS : num;
}

double team_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *team_alloc(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory) {
        perror("malloc");
        exit(1);
    }
    return memory;
}

void team_check(int code, const char *call, const char *file, int line)
{
    char name[64] = "unknown error";
    if (code == ABT_SUCCESS)
        return;
    ABT_error_get_str(code, name, NULL);
    fprintf(stderr, "%s:%d: %s (%d) from %s\n", file, line, name, code, call);
    exit(1);
}

int team_report(const struct report *report)
{
    int ok = !report->published || strcmp(report->answer, report->published) == 0;
    printf("%s: answer %s published %s units %ld seconds %.6f %s\n", report->job, report->answer,
           report->published ? report->published : "-", report->units, report->seconds, ok ? "ok" : "WRONG");
    return ok ? 0 : 1;
}
