/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the examples share: a team of execution streams with pools between them, the command line that chooses it,
 * a check of return codes, and the one line of results that each program prints.
 */
#ifndef EXAMPLES_TEAM_H
#define EXAMPLES_TEAM_H

#include <abt.h>

/* Every return code is looked at: anything but ABT_SUCCESS ends the program with a message. */
#define CHECK(call) team_check((call), #call, __FILE__, __LINE__)

enum { TEAM_MAX_STREAMS = 256 };

enum team_layout {
    TEAM_SHARED,   /* one pool that all streams serve */
    TEAM_STEALING, /* a pool for each stream; an idle stream looks into the others' */
    TEAM_PRIVATE   /* two pools for each stream: one that it alone touches, and an inbox for the others */
};

/* The choices of the command line; see team_options(). */
struct team_config {
    int num_streams; /* 0: run sequentially, without the library */
    ABT_sched_predef sched;
    ABT_pool_kind kind;
    enum team_layout layout;
};

struct team {
    int num_streams;
    ABT_xstream streams[TEAM_MAX_STREAMS]; /* [0] is the primary one, which runs main() */
    ABT_pool inboxes[TEAM_MAX_STREAMS];    /* [i]: anybody may push work for stream i */
    ABT_pool locals[TEAM_MAX_STREAMS];     /* [i]: work that stream i makes for itself; may be inboxes[i] again */
};

struct report {
    const char *job;
    const char *answer;
    const char *published; /* NULL where there is nothing to compare with */
    long units;            /* work units, or what would have been units in a sequential run */
    double seconds;
};

/* Reads  -e streams  -s scheduler  -p pool kind  -l layout  and the program's own options, listed in `more` as for
 * getopt(3), each of which is given to handle(). A program that makes its own schedulers and pools passes NULL for
 * `more` and has -e only. Ends the program with the usage text when something is wrong. */
void team_options(int argc, char **argv, struct team_config *config, const char *more, const char *usage,
                  int (*handle)(int option, const char *value));

/* Initialises the library and starts the streams; main() becomes a ULT of stream 0. No streams: does nothing. */
void team_start(struct team *team, const struct team_config *config);

/* Ends the streams, when the work in their pools is done, and the library. */
void team_stop(struct team *team);

/* Moves the calling ULT back to the primary stream: a stream cannot be ended by a ULT that runs on it. */
void team_go_home(void);

/* The rank of the stream that runs the caller: 0 to num_streams - 1. */
int team_rank(void);

/* The pool for work that had best stay on the caller's stream. */
ABT_pool team_pool(const struct team *team);

/* A pool for the i-th piece of work that is to be dealt out to all streams. */
ABT_pool team_pool_for(const struct team *team, int i);

int team_num_cores(void);
double team_seconds(void);
void *team_alloc(size_t size);
void team_check(int code, const char *call, const char *file, int line);

/* Prints the result and gives the exit status: 0 when the answer is the published one. */
int team_report(const struct report *report);

#endif
