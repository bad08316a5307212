/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program over a message-passing library in the style of MPICH, see mpi.h: all messages arrive, the thread-locals of
 * every thread are destroyed in order, and program and library may initialise and finalise in any order.
 */
#include "mpi.h"

enum { EXTERNALS = 2, ULTS = RANKS - EXTERNALS, ROUNDS = 20, KEYS = 5, STACK_SIZE = 96 * 1024 };

static ABT_key keys[KEYS];
static ABT_barrier all_there;
static atomic_int wrong;

struct program {
    int rank;
    struct tagged {
        struct program *program;
        int number;
    } values[KEYS];
    int order[2 * KEYS], num_destroyed; /* of the values */
};

static void destroy_value(void *value)
{
    struct program *program = ((struct tagged *)value)->program;

    program->order[program->num_destroyed++] = ((struct tagged *)value)->number;
}

static void run_rank(void *arg)
{
    struct program *program = arg;
    int me = program->rank, right = (me + 1) % RANKS, left = (me + RANKS - 1) % RANKS;
    long token = me;

    for (int i = 0; i < KEYS; i++) {
        program->values[i] = (struct tagged){program, i + 1};
        if (!is_native(own_id()))
            must(ABT_key_set(keys[i], &program->values[i]));
    }
    must(ABT_barrier_wait(all_there));
    for (int i = 0; i < ROUNDS; i++) {
        mpi_send(me, right, i, token);
        token = mpi_receive(me, left, i);
        atomic_fetch_add(&wrong, token != (me + RANKS - 1 - i % RANKS) % RANKS);
        atomic_fetch_add(&wrong, mpi_sum(me, i, me + i) != RANKS * (RANKS - 1) / 2 + RANKS * i);
    }
}

static void *run_native_rank(void *program)
{
    run_rank(program);
    free_local(native_local);
    return NULL;
}

/* It is not the last to finalize, wherever it runs. */
static void use_nested(void *arg)
{
    (void)arg;
    must(ABT_init(0, NULL));
    own_local();
    must(ABT_finalize());
}

static void run_ranks(ABT_pool *pools, int num_pools)
{
    static struct program programs[RANKS];
    static const int expected[KEYS] = {3, 4, 1, 5, 2}; /* by number modulo 4; the first key ever has number 2 */
    ABT_thread ults[ULTS];
    ABT_thread_attr attr;
    pthread_t natives[EXTERNALS];
    int in_order = 0;

    memset(programs, 0, sizeof(programs));
    must(ABT_barrier_create(RANKS, &all_there));
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, STACK_SIZE));
    for (int i = 0; i < RANKS; i++) {
        programs[i].rank = i;
        if (i < ULTS)
            must(ABT_thread_create(pools[i % num_pools], run_rank, &programs[i], attr, &ults[i]));
        else
            must(pthread_create(&natives[i - ULTS], NULL, run_native_rank, &programs[i]));
        must(ABT_thread_create(pools[i % num_pools], use_nested, NULL, ABT_THREAD_ATTR_NULL, NULL));
    }
    must(ABT_thread_attr_free(&attr));
    for (int i = 0; i < EXTERNALS; i++)
        pthread_join(natives[i], NULL);
    for (int i = 0; i < ULTS; i++) {
        must(ABT_thread_join(ults[i]));
        if (programs[i].num_destroyed > 0)
            fail("rank %d's values are destroyed before it is freed", i);
        must(ABT_thread_free(&ults[i]));
        in_order += programs[i].num_destroyed == KEYS && !memcmp(programs[i].order, expected, sizeof(expected));
    }
    must(ABT_barrier_free(&all_there));
    is_int(atomic_load(&wrong), 0, "every message arrived where it should");
    is_int(in_order, ULTS, "the thread-locals of every ULT were destroyed once, in order");
}

static void run(bool app_first)
{
    ABT_pool pools[MAX_STREAMS], rotated[MAX_STREAMS];
    ABT_xstream xstreams[MAX_STREAMS];
    int num = client_streams();

    if (app_first)
        must(ABT_init(0, NULL));
    mpi_init();
    for (int i = 0; i < num; i++)
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    for (int i = 0; i < num; i++) {
        ABT_sched sched;
        for (int j = 0; j < num; j++)
            rotated[j] = pools[(i + j) % num];
        must(ABT_sched_create_basic(ABT_SCHED_RANDWS, num, rotated, ABT_SCHED_CONFIG_NULL, &sched));
        must(ABT_xstream_create(sched, &xstreams[i]));
    }
    run_ranks(pools, num);
    for (int i = 0; i < num; i++) {
        must(ABT_xstream_join(xstreams[i]));
        must(ABT_xstream_free(&xstreams[i]));
    }
    mpi_finalize();
    is_int(ABT_initialized(), app_first ? ABT_SUCCESS : ABT_ERR_UNINITIALIZED, "who came first is the last to end");
    if (app_first)
        must(ABT_finalize());
    is_int(atomic_load(&locals_freed), atomic_load(&locals_made), "no thread-local of the library is left");
}

int main(void)
{
    char text[64];
    size_t len;

    client_begin();
    need_checks();                        /* external threads ask who they are */
    setenv("ABT_KEY_TABLE_SIZE", "4", 1); /* the order of destruction depends on it */
    for (int i = 0; i < KEYS; i++)
        must(ABT_key_create(destroy_value, &keys[i]));
    ok(is_native(own_id()), "before ABT_init even main is an external thread");
    run(true);
    run(false);
    for (int i = 0; i < KEYS; i++)
        must(ABT_key_free(&keys[i]));
    must(ABT_error_get_str(ABT_finalize(), text, &len));
    is_str(text, "ABT_ERR_UNINITIALIZED", "the name of an error");
    return done_testing();
}
