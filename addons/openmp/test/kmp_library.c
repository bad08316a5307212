/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructs of OpenMP for clang, which has no header of its own for them here. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "kmp.h"

extern int omp_get_num_teams(void);
extern int omp_get_num_threads(void);
extern int omp_get_team_num(void);
extern int omp_get_thread_num(void);
extern int omp_in_parallel(void);

enum { NUM = 1000, MOST = 8 };

static int regions(int num)
{
    int calls[MOST] = {0}, wrong = 0, alone = 0;
#pragma omp parallel num_threads(num)
    {
        calls[omp_get_thread_num()]++;
        if (omp_get_num_threads() != num)
            calls[0] += 10;
    }
    for (int i = 0; i < num; i++)
        wrong += calls[i] != 1;
#pragma omp parallel num_threads(num) if (num > MOST)
    alone += omp_get_num_threads();
    return wrong + (alone != 1) + (omp_in_parallel() != 0);
}

/* More variables than the first tiers have: 20, and 70. */
#define EACH5(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4)
#define EACH20(X, p) EACH5(X, p##0) EACH5(X, p##1) EACH5(X, p##2) EACH5(X, p##3)
#define EACH80(X, p) EACH20(X, p##0) EACH20(X, p##1) EACH20(X, p##2) EACH20(X, p##3)
#define DEFINE(v) int v = ++last;
#define COUNT(v) v++;
#define SUM(v) sum += v;

static int many_shared(int num)
{
    int last = 0, sum = 0, wrong = 0;
    EACH20(DEFINE, a)
#pragma omp parallel num_threads(num)
    {
#pragma omp critical
        {
            EACH20(COUNT, a)
        }
    }
    EACH20(SUM, a)
    wrong += sum != 20 * 21 / 2 + 20 * num;
    last = sum = 0;
    EACH80(DEFINE, b)
#pragma omp parallel num_threads(num)
    {
#pragma omp critical(of_many)
        {
            EACH80(COUNT, b)
        }
    }
    EACH80(SUM, b)
    return wrong + (sum != 80 * 81 / 2 + 80 * num);
}

/* Each number is met once, and the last one is known: type, first, condition, step, how many, and the clause. */
#define LOOP(type, first, condition, step, count, ...)                                                                 \
    {                                                                                                                  \
        int seen[NUM] = {0};                                                                                           \
        type last = 0;                                                                                                 \
        _Pragma("omp parallel num_threads(num)")                                                                       \
        {                                                                                                              \
            _Pragma(#__VA_ARGS__) for (type i = (first); condition; i += (step))                                       \
            {                                                                                                          \
                int at = (int)((i - (first)) / (step));                                                                \
                _Pragma("omp atomic") seen[at]++;                                                                      \
                last = i;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        for (int i = 0; i < NUM; i++)                                                                                  \
            wrong += seen[i] != (i < (count));                                                                         \
        wrong += (count) > 0 && last != (type)((first) + (type)((count)-1) * (step));                                  \
    }

#define LOOPS(...)                                                                                                     \
    LOOP(int, 0, i < 97, 1, 97, omp for lastprivate(last) __VA_ARGS__)                                                 \
    LOOP(int, 50, i > -47, -2, 49, omp for lastprivate(last) __VA_ARGS__)                                              \
    LOOP(int, 0, i < num - num, 1, 0, omp for lastprivate(last) __VA_ARGS__)                                           \
    LOOP(int, INT_MIN, i < INT_MIN + 2, 1, 2, omp for lastprivate(last) __VA_ARGS__)                                   \
    LOOP(unsigned, UINT_MAX - 90, i < UINT_MAX - 5, 3, 29, omp for lastprivate(last) __VA_ARGS__)                      \
    LOOP(long, -3, i <= 996, 2, 500, omp for lastprivate(last) __VA_ARGS__)                                            \
    LOOP(unsigned long, 0, i < 1, 1, 1, omp for lastprivate(last) __VA_ARGS__)                                         \
    LOOP(unsigned long, ULONG_MAX - 30, i < ULONG_MAX - 1, 1, 29, omp for lastprivate(last) __VA_ARGS__)

static int static_loops(int num)
{
    int wrong = 0;
    LOOPS(schedule(static))
    LOOPS(schedule(static, 4))
    return wrong;
}

static int dynamic_loops(int num)
{
    int wrong = 0;
    LOOPS(schedule(dynamic))
    LOOPS(schedule(monotonic : dynamic, 3))
    LOOPS(schedule(guided, 2))
    LOOPS(schedule(auto))
    LOOPS(schedule(runtime))
    return wrong;
}

/* Constructs without a barrier between them: members are some apart. */
static int nowait_loops(int num)
{
    int sum = 0;
#pragma omp parallel num_threads(num)
    for (int round = 0; round < 30; round++) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 10; i++) {
#pragma omp atomic
            sum += i;
        }
    }
    return sum != 30 * 45;
}

#define ORDERED(...)                                                                                                   \
    {                                                                                                                  \
        int next = 0;                                                                                                  \
        _Pragma("omp parallel num_threads(num)")                                                                       \
        {                                                                                                              \
            _Pragma(#__VA_ARGS__) for (int i = 0; i < 60; i++)                                                         \
            {                                                                                                          \
                _Pragma("omp ordered") wrong += next++ != i;                                                           \
            }                                                                                                          \
        }                                                                                                              \
        wrong += next != 60;                                                                                           \
    }

static int ordered_loops(int num)
{
    int wrong = 0;
    ORDERED(omp for ordered)
    ORDERED(omp for ordered schedule(static, 3))
    ORDERED(omp for ordered schedule(dynamic, 2))
    ORDERED(omp for ordered schedule(guided))
    return wrong;
}

/* Loops whose bounds depend on outer ones, divided as one. */
static int triangles(int num)
{
    enum { SIDE = 23, ALL = SIDE * (SIDE + 1) / 2 };
    int seen[SIDE][SIDE] = {{0}}, above = 0, wrong = 0;
#pragma omp parallel num_threads(num)
    {
#pragma omp for collapse(2)
        for (int i = 0; i < SIDE; i++)
            for (int j = i; j < SIDE; j++)
                seen[i][j]++;
#pragma omp for collapse(2) schedule(dynamic, 3) reduction(+ : above)
        for (int i = SIDE; i > 0; i--)
            for (int j = 0; j < 2 * i; j += 2)
                above += seen[j / 2][i - 1];
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        wrong += seen[i / SIDE][i % SIDE] != (i % SIDE >= i / SIDE);
    return wrong + (above != ALL);
}

static int sections(int num)
{
    int calls[3] = {0};
#pragma omp parallel sections num_threads(num)
    {
#pragma omp section
        calls[0]++;
#pragma omp section
        calls[1]++;
#pragma omp section
        calls[2]++;
    }
    return (calls[0] != 1) + (calls[1] != 1) + (calls[2] != 1);
}

static int reductions(int num)
{
    long sum = 0, product = 1, sum_inside = 0;
    double most = 0;
    int wrong = 0;
#pragma omp parallel for num_threads(num) reduction(+ : sum) reduction(* : product) reduction(max : most)
    for (int i = 1; i <= 100; i++) {
        sum += i;
        product *= i <= 20 ? i : 1;
        most = i > most ? i : most;
    }
    wrong += (sum != 5050) + (product != 2432902008176640000) + (most != 100);
    /* Members go on with what all have added. */
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    {
#pragma omp for reduction(+ : sum_inside)
        for (int i = 0; i < 100; i++)
            sum_inside++;
        wrong += sum_inside != 100;
    }
    return wrong;
}

static int singles(int num)
{
    int times = 0, masters = 0, wrong = 0;
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    for (int round = 0; round < 20; round++) {
        int value = -1, other = -1;
#pragma omp single
        times++;
        wrong += times != round + 1;
#pragma omp barrier
#pragma omp single copyprivate(value, other)
        {
            value = round;
            other = omp_get_thread_num();
        }
        wrong += value != round || other < 0;
#pragma omp master
        masters++;
    }
    return wrong + (times != 20) + (masters != 20);
}

static int cancels(int num)
{
    int after = 0, wrong = 0, done = 0;
#pragma omp parallel num_threads(num)
    {
#pragma omp cancel parallel
#pragma omp atomic
        after++;
    }
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(num)
        for (int again = 0; again < 3; again++) {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 100; i++) {
#pragma omp cancel for
#pragma omp atomic
                after++;
            }
#pragma omp atomic
            done++;
        }
    }
    wrong += done != 20 * 3 * num;
    return wrong + (after != 0);
}

#define CROSSING(...)                                                                                                  \
    {                                                                                                                  \
        int steps[20][10];                                                                                             \
        _Pragma("omp parallel num_threads(num)")                                                                       \
        {                                                                                                              \
            _Pragma(#__VA_ARGS__) for (int i = 0; i < 20; i++)                                                         \
            {                                                                                                          \
                for (int j = 9; j >= 0; j--) {                                                                         \
                    _Pragma(                                                                                           \
                        "omp ordered depend(sink : i - 1, j) depend(sink : i, j + 1)") int above =                     \
                                                                                               i > 0 ? steps[i - 1][j] \
                                                                                                     : 0,              \
                                                                                           before =                    \
                                                                                               j < 9 ? steps[i][j + 1] \
                                                                                                     : 0;              \
                    steps[i][j] = (above > before ? above : before) + 1;                                               \
                    _Pragma("omp ordered depend(source)")                                                              \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int i = 0; i < 20; i++)                                                                                   \
            for (int j = 0; j < 10; j++)                                                                               \
                wrong += steps[i][j] != i + 10 - j;                                                                    \
    }

static int doacross_loops(int num)
{
    int wrong = 0;
    CROSSING(omp for ordered(2))
    CROSSING(omp for ordered(2) schedule(static, 3))
    CROSSING(omp for ordered(2) schedule(dynamic, 2))
    CROSSING(omp for ordered(2) schedule(guided))
    CROSSING(omp for collapse(2) ordered(2))
    return wrong;
}

static int teams(int num)
{
    int seen[NUM] = {0}, of_teams = 0, wrong = 0;
#pragma omp teams num_teams(num) thread_limit(2) reduction(+ : of_teams)
    {
        of_teams += omp_get_num_teams() == num && omp_get_team_num() < num;
#pragma omp distribute
        for (int i = 0; i < NUM; i++)
            seen[i]++;
#pragma omp distribute dist_schedule(static, 7)
        for (int i = 0; i < NUM; i++)
            seen[i]++;
#pragma omp distribute parallel for schedule(dynamic, 3)
        for (int i = 0; i < NUM; i++) {
#pragma omp atomic
            seen[i]++;
        }
    }
    for (int i = 0; i < NUM; i++)
        wrong += seen[i] != 3;
    return wrong + (of_teams != num);
}

const struct kmp_check kmp_checks[] = {
    {"regions", regions},
    {"regions of many shared variables", many_shared},
    {"static loops", static_loops},
    {"dynamic loops", dynamic_loops},
    {"loops without barriers", nowait_loops},
    {"ordered loops", ordered_loops},
    {"loops whose bounds depend on outer ones", triangles},
    {"sections", sections},
    {"reductions", reductions},
    {"single, master and copyprivate", singles},
    {"cancellation", cancels},
    {"loops whose iterations wait for others", doacross_loops},
    {"teams", teams},
    {NULL, NULL},
};

/* A region without clauses, before which clang calls nothing: how many members it has. */
int kmp_first(void)
{
    int num = 0;
#pragma omp parallel
#pragma omp atomic
    num++;
    return num;
}

/* By a member of a region of the program: how much is wrong with constructs in it, and with a region inside. */
int kmp_of_team(int num)
{
    static int sum;
    int wrong = omp_get_num_threads() != num, copied = -1, inside = 0;
#pragma omp single
    sum = 0;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 50; i++) {
#pragma omp critical(of_both)
        sum++;
    }
    wrong += sum != 50;
#pragma omp barrier
#pragma omp single copyprivate(copied)
    copied = 7;
#pragma omp parallel num_threads(2) reduction(+ : inside)
    inside += omp_get_num_threads();
    return wrong + (copied != 7) + (inside != 4);
}
