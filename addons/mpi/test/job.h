/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test as a job of several processes: the program starts itself anew by mpirun. The process of rank 0 prints TAP, and
 * the others print to stderr what has failed, and end with a status that mpirun returns.
 */
#ifndef MPI_TEST_JOB_H
#define MPI_TEST_JOB_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <abt.h>
#include <mpi.h>

#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

#ifdef OPEN_MPI
enum { JOB_IS_OPEN_MPI = 1 };
#else
enum { JOB_IS_OPEN_MPI = 0 };
#endif

static int job_rank, job_size;

/* More processes than cores are fine, and none is bound to a core. What only one of the two knows, the other ignores.
 */
static inline void job_set_variables(void)
{
    static const char *const variables[] = {
        "JOB_IS_RUNNING=1",
        "OMPI_ALLOW_RUN_AS_ROOT=1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        "OMPI_MCA_rmaps_base_oversubscribe=1",
        "OMPI_MCA_hwloc_base_binding_policy=none",
        "OMPI_MCA_btl_vader_single_copy_mechanism=none",
        "OMPI_MCA_btl_base_warn_component_unused=0",
        "OMPI_MCA_orte_tmpdir_base=/tmp",
        "ABT_THREAD_STACKSIZE=262144", /* creating a window takes more than 16 KiB */
        "ASAN_OPTIONS=detect_leaks=0", /* the MPI libraries leak */
    };

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        putenv((char *)variables[i]);
}

/* First of all in main. Returns in each process of the job, not with MPI_Init. */
static inline void job_begin(const char *num)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (getenv("JOB_IS_RUNNING")) {
        watchdog_begin(0);
        return;
    }
    if (UNDER_TSAN)
        skip_all("the MPI library is not made for the sanitizer");
    job_set_variables();
    path[length < 0 ? 0 : length] = '\0';
    execlp(JOB_RUN, JOB_RUN, "-n", num, path, (char *)NULL);
    skip_all(JOB_RUN " is not installed");
}

/* After MPI_Init. */
static inline void job_know(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &job_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job_size);
    if (job_rank > 0 && !freopen("/dev/null", "w", stdout))
        abort();
}

/* In place of done_testing; after MPI_Finalize. */
static inline int job_end(void)
{
    return job_rank == 0 ? done_testing() : atomic_load(&tap_failed) > 0;
}

typedef struct {
    void (*play)(void);
} job_role;

static inline void job_play(void *arg)
{
    ((const job_role *)arg)->play();
}

/* Runs num ULTs on the caller's stream until all have ended. */
static inline void job_run(int num, void (*func)(void *), void *args, size_t size)
{
    ABT_xstream xstream;
    ABT_pool pool;
    ABT_thread *ults = calloc((size_t)num, sizeof(*ults));

    ABT_xstream_self(&xstream);
    ABT_xstream_get_main_pools(xstream, 1, &pool);
    for (int i = 0; i < num; i++)
        ABT_thread_create(pool, func, (char *)args + (size_t)i * size, ABT_THREAD_ATTR_NULL, &ults[i]);
    for (int i = 0; i < num; i++)
        ABT_thread_free(&ults[i]);
    free(ults);
}

/* Two ULTs of the caller's stream, of which the first one runs first; until both have ended. */
static inline void job_run_pair(void (*first)(void), void (*second)(void))
{
    const job_role roles[2] = {{first}, {second}};

    job_run(2, job_play, (void *)(uintptr_t)roles, sizeof(roles[0]));
}

/* Each process sends a number to the next one, with the tag. Whether the right one has come. */
static inline bool job_send_around(int tag)
{
    int next = (job_rank + 1) % job_size, before = (job_rank + job_size - 1) % job_size, out = job_rank * 100 + tag,
        in = -1;

    MPI_Sendrecv(&out, 1, MPI_INT, next, tag, &in, 1, MPI_INT, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return in == before * 100 + tag;
}

static inline int class_of(int code)
{
    int class = MPI_ERR_UNKNOWN;

    MPI_Error_class(code, &class);
    return class;
}

/*
 * Receives that fail or are ended: `from` sends two numbers with the tag to each, whose buffer is for one; nothing is
 * sent with the other tag.
 */
static inline void job_receive_too_long(int from, int tag)
{
    int value;

    is_int(class_of(MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE,
           "a message that is too long");
}

/* The same where a handler of the program gets the code, after which MPICH 5 returns MPI_SUCCESS. */
static inline void job_receive_handled(int from, int tag, MPI_Comm comm)
{
    int value, code = MPI_Recv(&value, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);

    ok(class_of(code) == MPI_ERR_TRUNCATE || (!JOB_IS_OPEN_MPI && code == MPI_SUCCESS), "a handled error");
}

static inline void job_post_two(int from, int tag, int tag_never, int values[2], MPI_Request requests[3])
{
    MPI_Irecv(values, 1, MPI_INT, from, tag_never, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(values, 1, MPI_INT, from, tag_never, MPI_COMM_WORLD, &requests[2]); /* and is never started */
    MPI_Irecv(values + 1, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &requests[1]);
}

static inline void job_wait_for_two(MPI_Request requests[3])
{
    MPI_Status statuses[3];

    is_int(class_of(MPI_Waitall(3, requests, statuses)), MPI_ERR_IN_STATUS, "one of two fails");
    is_int(class_of(statuses[0].MPI_ERROR), MPI_ERR_PENDING, "the other one is pending");
    is_int(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE, "what is wrong with the one");
    is_int(statuses[2].MPI_ERROR, MPI_SUCCESS, "an inactive one is done");
    MPI_Request_free(&requests[2]);
    MPI_Cancel(&requests[0]);
    is_int(MPI_Wait(&requests[0], &statuses[0]), MPI_SUCCESS, "it can be waited for still");
}

#endif
