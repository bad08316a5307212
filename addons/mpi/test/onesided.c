/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided calls that have to wait: a ULT of rank 0 makes one, and rank 1 gives up its lock, or looks for messages,
 * only when another ULT of the same stream of rank 0 has set a flag in memory of both. If the first one did not leave
 * the stream, that would never come. MPICH 4.0 takes no lock with MPI_MODE_NOCHECK, but gives it back.
 */
#include "job.h"

enum { GO, VALUE, WORDS };

static _Atomic int *shared; /* of both processes */
static MPI_Win flags, window;
static int round_no, sum, one = 1, before; /* the last two are in use until an operation has been completed */

static void add_one(void)
{
    MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 0, MPI_SUM, window);
    sum++;
}

static void lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    add_one();
    MPI_Win_unlock(1, window);
}

static void lock_all(void)
{
    MPI_Win_lock_all(0, window);
    add_one();
    MPI_Win_unlock_all(window);
}

static void flush(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    add_one();
    MPI_Win_flush(1, window);
    add_one();
    MPI_Win_flush_local(1, window);
    MPI_Win_unlock(1, window);
}

static void flush_all(void)
{
    MPI_Win_lock_all(0, window);
    add_one();
    MPI_Win_flush_all(window);
    add_one();
    MPI_Win_flush_local_all(window);
    MPI_Win_unlock_all(window);
}

static const struct {
    const char *name;
    void (*wait)(void);
    bool is_locked; /* rank 1 has the lock meanwhile */
} cases[] = {{"MPI_Win_lock", lock, true},
             {"MPI_Win_lock_all", lock_all, true},
             {"MPI_Win_flush", flush, false},
             {"MPI_Win_flush_all", flush_all, false},
             {"MPI_Win_unlock", lock, false}};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static void wait_for_other(void)
{
    cases[round_no % CASES].wait();
}

static void let_other_go(void)
{
    atomic_store(&shared[GO], round_no + 1);
}

/* Out of the MPI library until the flag is set. */
static void hold(bool is_locked)
{
    if (is_locked)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    while (atomic_load(&shared[GO]) != round_no + 1)
        usleep(100);
    if (is_locked)
        MPI_Win_unlock(1, window);
}

static void run_cases(const char *how)
{
    for (int i = 0; i < CASES; i++, round_no++) {
        if (job_rank == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            job_run_pair(wait_for_other, let_other_go);
        } else {
            hold(cases[i].is_locked);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        ok(true, "%s waits, and others run%s", cases[i].name, how);
    }
}

/* A loop of calls, none of which waits, for what another ULT does. */
static void ask_for_value(void)
{
    before = 0;
    while (before == 0 && atomic_load(&shared[VALUE]) == 0) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 1, MPI_NO_OP, window);
        MPI_Win_flush(0, window);
    }
}

static void set_value(void)
{
    atomic_store(&shared[VALUE], 1);
}

static void ask(void)
{
    MPI_Win_lock_all(0, window);
    job_run_pair(ask_for_value, set_value);
    MPI_Win_unlock_all(window);
    pass("a loop of MPI_Win_flush lets others run");
}

static void handle(MPI_Win *win, int *code, ...)
{
    bail_out("the handler gets code %d", *code);
}

static void check_sum(void)
{
    int got = 0;

    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
    is_int(got, sum, "nothing is lost");
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Aint size;
    int level, unit, *memory;
    void *base;

    job_begin("2");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    job_know();
    ABT_init(argc, argv);
    MPI_Win_allocate_shared(job_rank == 0 ? WORDS * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &flags);
    MPI_Win_shared_query(flags, 0, &size, &unit, &base);
    shared = base;
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    run_cases("");
    if (job_rank == 0)
        ask();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_create_errhandler(handle, &handler);
    MPI_Win_set_errhandler(window, handler);
    run_cases(", with a handler of the program");
    if (job_rank == 0)
        check_sum();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&window);
    MPI_Win_free(&flags);
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
