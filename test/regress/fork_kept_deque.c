/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT of the program forks with the deque that a task's ULT of its stream has left there. It stays on its stream when
 * it has waited for a task that has run on another one. (It went where the task had run, as a task's ULT does. The
 * primary ULT was then on a stream that ABT_finalize refuses.)
 */
#include <abt_fork.h>
#include "regress.h"

enum { ROUNDS = 20 };

static ABT_xstream streams[2];
static ABT_thread forker;
static atomic_bool runs;

/* Is run by the forker's own stream, while the forker waits for it. */
ABTX_VOID_TASK(here, (ABT_eventual, ran))
{
    (void)abtx_here;
    must(ABT_eventual_set(ran, NULL, 0));
}

ABTX_VOID_TASK(fork_here)
{
    ABT_eventual ran;

    must(ABT_eventual_create(0, &ran));
    ABTX_FORK(here, task, ran);
    must(ABT_eventual_wait(ran, NULL));
    ABTX_JOIN(here, task);
    must(ABT_eventual_free(&ran));
}

/* Ends when its forker is blocked, and not before. */
ABTX_TASK(int, there)
{
    ABT_thread_state state = ABT_THREAD_STATE_READY;

    (void)abtx_here;
    atomic_store(&runs, true);
    while (state != ABT_THREAD_STATE_BLOCKED)
        must(ABT_thread_get_state(forker, &state));
    return own_rank();
}

ABTX_TASK(int, fork_there)
{
    ABTX_FORK(there, task);
    while (!atomic_load(&runs))
        must(ABT_thread_yield()); /* others may have what it has forked */
    return ABTX_JOIN(there, task);
}

/* The one stream that takes tasks. */
static void start_on(int i)
{
    must(ABTX_fork_stop());
    must(ABTX_fork_start(1, &streams[i]));
}

static void fork_twice(void *arg)
{
    int before = own_rank();

    must(ABT_self_get_thread(&forker));
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&runs, false);
        start_on(0);
        ABTX_RUN(fork_here);
        start_on(1);
        if (ABTX_RUN(fork_there) == before)
            bail_out("the task has not run on the other stream");
        if (own_rank() != before)
            break;
    }
    is_int(own_rank(), before, "%s stays on its stream", (const char *)arg);
}

int main(void)
{
    ABT_pool pool;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&streams[0]));
    must(ABT_xstream_create(ABT_SCHED_NULL, &streams[1]));
    must(ABT_self_get_last_pool(&pool));
    fork_twice("the primary ULT");
    ABT_thread thread = ult_in(pool, fork_twice, "a ULT");
    must(ABT_thread_free(&thread));
    must(ABTX_fork_stop());
    must(ABT_xstream_free(&streams[1]));
    must(ABT_finalize());
    return done_testing();
}
