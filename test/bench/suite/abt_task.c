/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops, tasks and trees of tasks: the comparison paper's figures 8 to 13, fib, N-Queens and UTS. */
#include "abt_team.h"

#include <stdatomic.h>
#include "kernels.h"

enum { TASKS = 1000, ROWS = 1000, COLUMNS = KERNEL_SCAL_N, MAX_PARTS = SUITE_MAX_STREAMS };
enum { LAYOUT = 15, TASKLETS = 16, SEQUENTIAL = 32, MANY = 64 }; /* bits of a variant */

static bool use_tasklets;
static enum team_layout layout;

static void create(ABT_pool pool, void (*func)(void *), void *arg, ABT_thread *unit)
{
    if (use_tasklets)
        CHECK(ABT_task_create(pool, func, arg, unit));
    else
        CHECK(ABT_thread_create(pool, func, arg, ABT_THREAD_ATTR_NULL, unit));
}

/* The pool that the calling stream makes its own units in. */
static ABT_pool own_pool(void)
{
    return team.pools[team_rank()];
}

/* ---- Loops over a vector ---- */

struct range {
    int begin, end, row;
    ABT_thread unit;
};

static float matrix[ROWS][COLUMNS];
static float factor = 2;

static void scal(void *arg)
{
    struct range *r = arg;
    kernel_scal(matrix[r->row], r->begin, r->end, factor);
}

static struct range part_of(int num, int part, int parts)
{
    return (struct range){.begin = num * part / parts, .end = num * (part + 1) / parts};
}

/* The factor is 2 and 1/2 in turns, so that all is as before after two batches. */
static void turn_factor(void)
{
    factor = 2.5F - factor;
}

/* A part of the loop for each stream. */
static void for_loop(void *arg)
{
    struct range ranges[MAX_PARTS];
    for (int s = 0; s < team.num; s++) {
        ranges[s] = part_of(COLUMNS, s, team.num);
        if (s > 0)
            create(team.inboxes[s], scal, &ranges[s], &ranges[s].unit);
    }
    scal(&ranges[0]);
    for (int s = 1; s < team.num; s++)
        CHECK(ABT_thread_free(&ranges[s].unit));
    turn_factor();
}

/* One creator makes a task for each element. */
static void tasks_single(void *arg)
{
    static struct range ranges[TASKS];
    for (int i = 0; i < TASKS; i++) {
        ranges[i] = part_of(COLUMNS, i, TASKS);
        int s = layout == TEAM_PRIV ? i % team.num : 0;
        create(s == 0 ? team.pools[0] : team.inboxes[s], scal, &ranges[i], &ranges[i].unit);
    }
    /* From a RANDWS pool the newest comes first. */
    for (int i = 0; i < TASKS; i++)
        CHECK(ABT_thread_free(&ranges[layout == TEAM_RANDWS ? TASKS - 1 - i : i].unit));
    turn_factor();
}

/* The same in one call, with the parts of other streams first: they begin meanwhile. */
static void tasks_single_many(void *arg)
{
    static struct range ranges[TASKS];
    static ABT_pool pools[TASKS];
    static void (*funcs[TASKS])(void *);
    static void *args[TASKS];
    static ABT_thread units[TASKS];
    int num = 0;
    for (int s = team.num - 1; s >= 0; s--) {
        const struct range part = part_of(TASKS, s, team.num);
        for (int i = part.begin; i < part.end; i++, num++) {
            ranges[num] = part_of(COLUMNS, i, TASKS);
            pools[num] = s == 0 ? team.pools[0] : team.inboxes[s];
            funcs[num] = scal;
            args[num] = &ranges[num];
        }
    }
    CHECK(ABT_thread_create_many(TASKS, pools, funcs, args, ABT_THREAD_ATTR_NULL, units));
    int own = part_of(TASKS, 0, team.num).end;
    CHECK(ABT_thread_free_many(own, units + TASKS - own));
    CHECK(ABT_thread_free_many(TASKS - own, units));
    turn_factor();
}

/* Each stream makes tasks for its part of the elements. */
static void make_part(void *arg)
{
    const struct range *r = arg;
    struct range ranges[TASKS];
    int num = r->end - r->begin;
    for (int i = 0; i < num; i++) {
        ranges[i] = (struct range){.begin = r->begin + i, .end = r->begin + i + 1};
        create(own_pool(), scal, &ranges[i], &ranges[i].unit);
    }
    for (int i = 0; i < num; i++)
        CHECK(ABT_thread_free(&ranges[layout == TEAM_RANDWS ? num - 1 - i : i].unit));
}

static void tasks_parallel(void *arg)
{
    struct range ranges[MAX_PARTS];
    for (int s = 0; s < team.num; s++)
        ranges[s] = part_of(COLUMNS, s, team.num);
    team_everywhere(make_part, ranges, sizeof(ranges[0]));
    turn_factor();
}

/* Rows of a matrix; each row is a parallel loop of its own, in two parts at least. */
static void do_rows(void *arg)
{
    const struct range *rows = arg;
    struct range ranges[MAX_PARTS];
    int parts = team.num < 2 ? 2 : team.num;
    for (int row = rows->begin; row < rows->end; row++) {
        for (int k = 0; k < parts; k++) {
            ranges[k] = part_of(COLUMNS, k, parts);
            ranges[k].row = row;
            if (k > 0)
                create(own_pool(), scal, &ranges[k], &ranges[k].unit);
        }
        scal(&ranges[0]);
        for (int k = parts - 1; k > 0; k--)
            CHECK(ABT_thread_free(&ranges[k].unit));
    }
}

static void nested(void *arg)
{
    struct range ranges[MAX_PARTS];
    for (int s = 0; s < team.num; s++)
        ranges[s] = part_of(ROWS, s, team.num);
    team_everywhere(do_rows, ranges, sizeof(ranges[0]));
    turn_factor();
}

static void sequential(void *arg)
{
    const struct suite_work *work = arg;
    for (int i = 0; i < work->n; i++)
        kernel_scal(matrix[i], 0, COLUMNS, factor);
    turn_factor();
}

static void run_loops(const struct suite_work *work, void (*batch)(void *))
{
    layout = (enum team_layout)(work->variant & LAYOUT);
    use_tasklets = work->variant & TASKLETS;
    team_start(layout);
    kernel_fill(matrix[0], ROWS * COLUMNS);
    suite_run(work->variant & SEQUENTIAL ? sequential : batch, (void *)work, 1);
    kernel_expect_scaled(matrix[0], (int)work->n * COLUMNS, factor);
    team_stop();
}

static void run_for_loop(const struct suite_work *work)
{
    run_loops(work, for_loop);
}

static void run_tasks_single(const struct suite_work *work)
{
    run_loops(work, work->variant & MANY ? tasks_single_many : tasks_single);
}

static void run_tasks_parallel(const struct suite_work *work)
{
    run_loops(work, tasks_parallel);
}

static void run_nested(const struct suite_work *work)
{
    run_loops(work, nested);
}

/* ---- Trees of tasks ---- */

/* Runs func(arg) as a ULT where it can wait, on the first stream. */
static void run_root(void (*func)(void *), void *arg)
{
    ABT_thread root;
    CHECK(ABT_thread_create(team.pools[0], func, arg, ABT_THREAD_ATTR_NULL, &root));
    CHECK(ABT_thread_free(&root));
}

struct fib {
    int n;
    long result;
};

static void fib(void *arg)
{
    struct fib *f = arg, a, b;
    ABT_thread ult;
    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    a.n = f->n - 1;
    b.n = f->n - 2;
    CHECK(ABT_thread_create(own_pool(), fib, &a, ABT_THREAD_ATTR_NULL, &ult));
    fib(&b);
    CHECK(ABT_thread_free(&ult));
    f->result = a.result + b.result;
}

static void fib_batch(void *arg)
{
    struct fib f = {KERNEL_FIB_N, 0};
    run_root(fib, &f);
    suite_expect(f.result, kernel_fib(KERNEL_FIB_N), "fib");
}

static void run_fib(const struct suite_work *work)
{
    team_start((enum team_layout)work->variant);
    suite_run(fib_batch, NULL, (double)kernel_fib_spawns(KERNEL_FIB_N));
    team_stop();
}

static int queens;

static void place_queens(void *arg)
{
    struct kernel_board *board = arg, next[KERNEL_MAX_QUEENS];
    ABT_thread ults[KERNEL_MAX_QUEENS];
    int num = 0;
    for (unsigned free = kernel_queens_free(board, queens); free; free &= free - 1, num++) {
        kernel_queens_place(board, free, queens, &next[num]);
        CHECK(ABT_thread_create(own_pool(), place_queens, &next[num], ABT_THREAD_ATTR_NULL, &ults[num]));
    }
    while (num-- > 0) {
        CHECK(ABT_thread_free(&ults[num]));
        board->solutions += next[num].solutions;
    }
}

static void place_queens_sequentially(struct kernel_board *board)
{
    struct kernel_board next;
    for (unsigned free = kernel_queens_free(board, queens); free; free &= free - 1) {
        kernel_queens_place(board, free, queens, &next);
        place_queens_sequentially(&next);
        board->solutions += next.solutions;
    }
}

static void queens_batch(void *arg)
{
    const struct suite_work *work = arg;
    struct kernel_board board = {0, 0, 0, 0, 0};
    if (work->variant & SEQUENTIAL)
        place_queens_sequentially(&board);
    else
        run_root(place_queens, &board);
    suite_expect(board.solutions, kernel_queens_solutions(queens), "the number of solutions");
}

static void run_queens(const struct suite_work *work)
{
    queens = KERNEL_QUEENS;
    team_start((enum team_layout)(work->variant & LAYOUT));
    suite_run(queens_batch, (void *)work, (double)kernel_queens_placements(queens));
    team_stop();
}

/* ---- UTS: a unit for each node that has children. A ULT joins those that it makes; of tasklets, which cannot, the
 * last one to end tells ---- */

struct branch {
    struct kernel_node node;
    ABT_thread unit;
    struct branch *next; /* of the same node */
};

static enum kernel_tree tree;
static struct {
    _Alignas(64) long nodes;
} tallies[SUITE_MAX_STREAMS];
static atomic_long outstanding; /* tasklets */
static ABT_eventual all_done;

static struct branch *new_branch(void)
{
    struct branch *branch = malloc(sizeof(*branch));
    if (!branch)
        exit(1);
    return branch;
}

/* Makes the units for the children that have some, and returns their branches, the last one first. */
static struct branch *grow(struct branch *self, void (*search)(void *))
{
    struct branch *grown = NULL, *child = new_branch();
    for (int i = 0; i < self->node.num_children; i++) {
        kernel_uts_child(tree, &self->node, i, &child->node);
        if (child->node.num_children == 0)
            continue;
        child->next = grown;
        grown = child;
        if (use_tasklets)
            atomic_fetch_add_explicit(&outstanding, 1, memory_order_relaxed);
        create(own_pool(), search, child, use_tasklets ? NULL : &child->unit);
        child = new_branch();
    }
    free(child);
    tallies[team_rank()].nodes += self->node.num_children; /* no switch: a stream's units run one after the other */
    return grown;
}

static void search(void *arg)
{
    for (struct branch *branch = grow(arg, search), *next; branch; branch = next) {
        CHECK(ABT_thread_free(&branch->unit));
        next = branch->next;
        free(branch);
    }
}

static void search_by_tasklets(void *arg)
{
    grow(arg, search_by_tasklets);
    free(arg);
    if (atomic_fetch_sub(&outstanding, 1) == 1)
        CHECK(ABT_eventual_set(all_done, NULL, 0));
}

static long search_sequentially(const struct kernel_node *node)
{
    struct kernel_node child;
    long found = node->num_children;
    for (int i = 0; i < node->num_children; i++) {
        kernel_uts_child(tree, node, i, &child);
        found += search_sequentially(&child);
    }
    return found;
}

static void run_tasklets(struct branch *root)
{
    CHECK(ABT_eventual_create(0, &all_done));
    atomic_store(&outstanding, 1);
    create(team.pools[0], search_by_tasklets, root, NULL);
    CHECK(ABT_eventual_wait(all_done, NULL));
    CHECK(ABT_eventual_free(&all_done));
}

static void uts_batch(void *arg)
{
    const struct suite_work *work = arg;
    struct branch *root = new_branch();
    long nodes = 1;
    kernel_uts_root(tree, &root->node);
    if (use_tasklets) {
        run_tasklets(root);
    } else {
        if (work->variant & SEQUENTIAL)
            nodes += search_sequentially(&root->node);
        else
            run_root(search, root);
        free(root);
    }
    for (int s = 0; s < team.num; s++) {
        nodes += tallies[s].nodes;
        tallies[s].nodes = 0;
    }
    suite_expect(nodes, kernel_uts_nodes(tree), "the number of nodes");
}

static void run_uts(const struct suite_work *work)
{
    tree = (enum kernel_tree)work->n;
    use_tasklets = work->variant & TASKLETS;
    team_start((enum team_layout)(work->variant & LAYOUT));
    suite_run_long(uts_batch, (void *)work, (double)kernel_uts_nodes(tree));
    team_stop();
}

#define LOOP(name, run, rows)                                                                                          \
    {name, "sequential", "1", run, rows, SEQUENTIAL}, {name, "ULT, private pools", "*", run, rows, TEAM_PRIV},         \
        {name, "tasklet, private pools", "*", run, rows, TEAM_PRIV | TASKLETS},                                        \
        {name, "ULT, RANDWS pools", "*", run, rows, TEAM_RANDWS},                                                      \
    {                                                                                                                  \
        name, "tasklet, RANDWS pools", "*", run, rows, TEAM_RANDWS | TASKLETS                                          \
    }

const struct suite_work abt_task_works[] = {
    LOOP("for-loop", run_for_loop, 1),
    LOOP("tasks-single", run_tasks_single, 1),
    {"tasks-single", "ULT, private pools, create_many", "*", run_tasks_single, 1, TEAM_PRIV | MANY},
    LOOP("tasks-parallel", run_tasks_parallel, 1),
    LOOP("nested", run_nested, ROWS),
    {"fib", "ULT, RANDWS pools", "*", run_fib, 0, TEAM_RANDWS},
    {"nqueens", "sequential", "1", run_queens, 0, SEQUENTIAL},
    {"nqueens", "ULT, RANDWS pools", "*", run_queens, 0, TEAM_RANDWS},
    {"uts-t1", "sequential", "1", run_uts, KERNEL_T1, SEQUENTIAL},
    {"uts-t1", "ULT, RANDWS pools", "*", run_uts, KERNEL_T1, TEAM_RANDWS},
    {"uts-t1", "tasklet, RANDWS pools", "*", run_uts, KERNEL_T1, TEAM_RANDWS | TASKLETS},
    {"uts-t3", "sequential", "1", run_uts, KERNEL_T3, SEQUENTIAL},
    {"uts-t3", "ULT, RANDWS pools", "*", run_uts, KERNEL_T3, TEAM_RANDWS},
    {"uts-t3", "tasklet, RANDWS pools", "*", run_uts, KERNEL_T3, TEAM_RANDWS | TASKLETS},
};
const int abt_task_num = sizeof(abt_task_works) / sizeof(abt_task_works[0]);
