/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of OpenMP that wait in MPI give their thread to other tasks: first those are made that receive, then those that
 * send to them, to the process itself or to the other one. With synchronous sends both wait for each other.
 */
#include <omp.h>
#include "job.h"

enum { TASKS = 8, MORE = 300, ROUNDS = 20 };

static int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend};
static int threads, wrong;
#pragma omp threadprivate(wrong)

static void receive(int from, int tag, int number)
{
    int in = -1;
    MPI_Recv(&in, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += in != from * 1000 + tag || omp_get_thread_num() != number;
}

/* The number of its thread is taken before the wait. */
static void make_receivers(int num, int from)
{
    for (int i = 0; i < num; i++) {
#pragma omp task firstprivate(i)
        receive(from, i, omp_get_thread_num());
    }
}

static void make_senders(int num, int to, int kind)
{
    for (int i = 0; i < num; i++) {
#pragma omp task firstprivate(i)
        {
            int out = job_rank * 1000 + i;
            sends[kind](&out, 1, MPI_INT, to, i, MPI_COMM_WORLD);
        }
    }
}

static int sum_of_wrong(void)
{
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        sum += wrong;
        wrong = 0;
    }
    return sum;
}

static void exchange(int num, int peer, int kind, const char *what)
{
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(threads)
#pragma omp single
        {
            make_receivers(num, peer);
            make_senders(num, peer, kind);
        }
    }
    is_int(sum_of_wrong(), 0, what);
}

/* A member waits in MPI itself, and a task of its own sends what it waits for. */
static void member_waits(void)
{
#pragma omp parallel num_threads(threads)
    {
        int tag = omp_get_thread_num(), out = job_rank * 1000 + tag;
#pragma omp task firstprivate(out, tag)
        MPI_Ssend(&out, 1, MPI_INT, job_rank, tag, MPI_COMM_WORLD);
        receive(job_rank, tag, tag);
    }
    is_int(sum_of_wrong(), 0, "a member waits for what its own task sends");
}

/* The holder waits for a task that needs the same lock later, on one thread or the other. */
static void critical_waits(void)
{
    int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i) shared(sum)
#pragma omp critical
        {
            receive(job_rank, i, omp_get_thread_num());
            sum++;
        }
#pragma omp task firstprivate(i) shared(sum)
        {
            int out = job_rank * 1000 + i;
            MPI_Ssend(&out, 1, MPI_INT, job_rank, i, MPI_COMM_WORLD);
#pragma omp critical
            sum++;
        }
    }
    is_int(sum, 2 * TASKS, "who waits in a critical region keeps others out, and does not stop its thread");
    is_int(sum_of_wrong(), 0, "each gets its message there");
}

/* Its stack and its place in the tree of tasks stay its own: children, taskwait, a region inside. */
static void parent_waits(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        {
            int parts[4] = {0};
            for (int j = 0; j < 4; j++) {
#pragma omp task shared(parts) firstprivate(i, j)
                {
                    receive(job_rank, 10 * i + j, omp_get_thread_num());
                    parts[j] = 1;
                }
            }
            for (int j = 0; j < 4; j++) {
#pragma omp task firstprivate(i, j)
                {
                    int out = job_rank * 1000 + 10 * i + j;
                    MPI_Ssend(&out, 1, MPI_INT, job_rank, 10 * i + j, MPI_COMM_WORLD);
                }
            }
#pragma omp taskwait
            wrong += parts[0] + parts[1] + parts[2] + parts[3] != 4;
            int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
            members += omp_get_level() == 2;
            wrong += members != 2 || omp_get_level() != 1;
        }
    }
    is_int(sum_of_wrong(), 0, "children wait, and their parent for them");
}

int main(void)
{
    int level;

    job_begin("2");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    job_know();
    omp_set_max_active_levels(2);
    for (threads = 2; threads <= 4; threads += 2) {
        for (int kind = 0; kind < 2; kind++) {
            exchange(TASKS, job_rank, kind, "tasks receive what later tasks send to the process itself");
            exchange(TASKS, 1 - job_rank, kind, "to the other one");
        }
        exchange(MORE, job_rank, 1, "more tasks wait than a member may have before it runs some itself");
        member_waits();
        critical_waits();
        parent_waits();
    }
    is_int(MPI_Finalize(), MPI_SUCCESS, "MPI_Finalize");
    return job_end();
}
