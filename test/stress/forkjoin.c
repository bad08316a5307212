/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fork and join: a Fibonacci tree and N-Queens, a unit per node, in private, shared and stealing pools. A joined unit
 * that is next in the pool runs in place, on the rest of its joiner's stack, and so do several that are joined at once;
 * here some of them yield, block, exit, are cancelled, or move to another ES in the middle.
 */
#include "stress.h"

enum { MAX_ES = 3 };

static int num_es;
static ABT_pool work_pools[MAX_ES]; /* where an ES's units go; may be private */
static ABT_pool home_pools[MAX_ES]; /* each ES's second pool, which others may push to */
static ABT_xstream xstreams[MAX_ES];
static ABT_pool_access access_kind;
static atomic_long moves, blocks, cancels;

/* --- Somebody to resume what blocks: a ULT or an external thread looks into this mailbox --- */

static _Atomic(ABT_thread) mailbox;
static atomic_bool stop;

static void post(ABT_thread self)
{
    ABT_thread empty = NULL;
    while (!atomic_compare_exchange_strong(&mailbox, &empty, self)) {
        empty = NULL;
        must(ABT_self_yield());
    }
}

static bool serve_mailbox(void)
{
    ABT_thread thread = atomic_load(&mailbox);
    ABT_thread_state state;
    if (!thread)
        return false;
    must(ABT_thread_get_state(thread, &state));
    if (state != ABT_THREAD_STATE_BLOCKED)
        return false;
    atomic_store(&mailbox, NULL);
    must(ABT_thread_resume(thread));
    return true;
}

static void *external_waker(void *arg)
{
    while (!atomic_load(&stop)) {
        if (!serve_mailbox())
            nap_us(20);
    }
    return arg;
}

/* --- Nodes --- */

struct node {
    int n;
    bool private; /* must not leave its ES: its joiner's pool is private */
    long result;
};

static void fib(void *arg);

static void to_another_es(struct rng *rng)
{
    ABT_thread self;
    int to = (int)below(rng, (unsigned)num_es);
    ABT_pool pool;
    must(ABT_self_get_thread(&self));
    must(ABT_self_get_last_pool(&pool));
    if (pool == home_pools[to])
        return;
    must(ABT_thread_migrate_to_pool(self, home_pools[to]));
    must(ABT_self_yield());
    if (own_rank() != to)
        bail_out("migrated to ES %d but runs on %d", to, own_rank());
    atomic_fetch_add(&moves, 1);
}

static void misbehave(struct node *node, struct rng *rng)
{
    ABT_thread self;
    switch (below(rng, 24)) {
    case 0:
    case 1: must(ABT_self_yield()); break;
    case 2:
        must(ABT_self_get_thread(&self));
        post(self);
        must(ABT_self_suspend());
        atomic_fetch_add(&blocks, 1);
        break;
    case 3:
    case 4:
        if (!node->private)
            to_another_es(rng);
        break;
    default: break;
    }
}

static void fork_two(struct node *node, struct rng *rng)
{
    struct node child[2] = {{.n = node->n - 1, .result = -1}, {.n = node->n - 2, .result = -1}};
    ABT_thread thread[2];
    int rank = own_rank();
    ABT_pool pool = work_pools[rank], own;
    int first = (int)below(rng, 2);
    /* A child that may end elsewhere pushes its joiner: the joiner's pool must not be private then. */
    must(ABT_self_get_last_pool(&own));
    if (!node->private && own != home_pools[rank])
        must(ABT_self_set_associated_pool(home_pools[rank]));
    child[0].private = child[1].private = node->private;
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, fib, &child[i], ABT_THREAD_ATTR_NULL, &thread[i]));
    if (child[1].n < 2 && one_in(rng, 10)) { /* one that has no children itself, whose results would have no place */
        must(ABT_thread_cancel(thread[1]));
        atomic_fetch_add(&cancels, 1);
    }
    if (one_in(rng, 3))
        must(ABT_thread_join_many(2, thread));
    for (int i = 0; i < 2 && one_in(rng, 2); i++) {
        ABT_thread *next = &thread[(i + first) % 2];
        if (one_in(rng, 3))
            must(ABT_thread_join(*next));
        must(ABT_thread_free(next));
    }
    must(ABT_thread_free_many(2, thread));
    for (int i = 0; i < 2; i++) {
        if (child[i].result < 0) { /* it was cancelled in time, or in the middle: do it again */
            child[i].private = true;
            fib(&child[i]);
        }
    }
    node->result = child[0].result + child[1].result;
}

static void fib(void *arg)
{
    struct node *node = arg;
    struct rng rng = rng_fresh();
    ABT_bool unnamed;
    volatile double keep = (double)node->n; /* across switches, in a register if it likes */

    misbehave(node, &rng);
    if (node->n < 2)
        node->result = node->n;
    else
        fork_two(node, &rng);
    if (keep != (double)node->n)
        bail_out("a local variable has changed");
    misbehave(node, &rng);
    /* Not in the nested call of fork_two. */
    if (one_in(&rng, 8) && ABT_self_is_unnamed(&unnamed) == ABT_SUCCESS && !node->private)
        ABT_self_exit();
}

static long fib_of(int n)
{
    long a = 0, b = 1;
    while (n-- > 0) {
        long c = a + b;
        a = b;
        b = c;
    }
    return a;
}

/* --- N-Queens --- */

struct board {
    int n, row;
    unsigned columns, left, right; /* attacked in this row */
    long solutions;
};

static void queens(void *arg)
{
    struct board *board = arg, next[16];
    ABT_thread threads[16];
    int num = 0;
    if (board->row == board->n) {
        board->solutions = 1;
        return;
    }
    ABT_pool pool = work_pools[own_rank()];
    unsigned attacked = board->columns | board->left | board->right;
    for (int i = 0; i < board->n; i++) {
        unsigned bit = 1u << i;
        if (attacked & bit)
            continue;
        next[num] = (struct board){
            board->n, board->row + 1, board->columns | bit, (board->left | bit) << 1, (board->right | bit) >> 1, 0};
        must(ABT_thread_create(pool, queens, &next[num], ABT_THREAD_ATTR_NULL, &threads[num]));
        num++;
    }
    must(ABT_thread_free_many(num, threads));
    board->solutions = 0;
    for (int i = 0; i < num; i++)
        board->solutions += next[i].solutions;
}

/* --- Teams --- */

static void make_team(int size, ABT_pool_kind kind, ABT_pool_access access, ABT_sched_predef predef)
{
    num_es = size;
    access_kind = access;
    must(ABT_init(0, NULL));
    for (int i = 0; i < size; i++) {
        must(ABT_pool_create_basic(kind, access, ABT_TRUE, &work_pools[i]));
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &home_pools[i]));
    }
    for (int i = 0; i < size; i++) {
        ABT_pool pools[] = {work_pools[i], home_pools[i]};
        if (i > 0) {
            must(ABT_xstream_create_basic(predef, 2, pools, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
            continue;
        }
        must(ABT_xstream_self(&xstreams[0]));
        must(ABT_xstream_set_main_sched_basic(xstreams[0], predef, 2, pools));
        must(ABT_self_set_associated_pool(home_pools[0]));
        must(ABT_self_yield());
    }
}

/* A waker counts a unit as left after it has pushed it: the sum may lag a little. */
static void check_empty(ABT_pool pool)
{
    size_t total = 99;
    for (; total != 0; nap_us(10))
        must(ABT_pool_get_total_size(pool, &total));
}

static void play(struct rng *rng)
{
    static const struct {
        ABT_pool_kind kind;
        ABT_pool_access access;
        const char *name;
    } kinds[] = {{ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, "private FIFO"},
                 {ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, "FIFO"},
                 {ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, "RANDWS"}};
    unsigned k = below(rng, 4) % 3; /* private ones twice as often */
    int size = 1 + (int)below(rng, MAX_ES), n = SCALED(12, 10, 8) + (int)below(rng, 4);
    bool stay = one_in(rng, 3);
    struct node roots[MAX_ES];
    ABT_thread threads[MAX_ES];
    struct board board = {.n = SCALED(7, 6, 5)};
    pthread_t native;

    make_team(size, kinds[k].kind, kinds[k].access, one_in(rng, 2) ? ABT_SCHED_BASIC : ABT_SCHED_PRIO);
    atomic_store(&stop, false);
    must(pthread_create(&native, NULL, external_waker, NULL));
    for (int i = 0; i < size; i++) {
        roots[i] = (struct node){.n = n, .private = stay, .result = -1};
        must(ABT_thread_create(home_pools[i], fib, &roots[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    must(ABT_thread_free_many(size, threads));
    for (int i = 0; i < size; i++)
        is_int(roots[i].result, fib_of(n), "fib(%d) in %s pools of %d ESs%s", n, kinds[k].name, size,
               stay ? ", staying" : "");
    must(ABT_thread_create(home_pools[0], queens, &board, ABT_THREAD_ATTR_NULL, &threads[0]));
    must(ABT_thread_free(&threads[0]));
    is_int(board.solutions, board.n == 7 ? 40 : board.n == 6 ? 4 : 10, "%d queens", board.n);
    for (int i = 0; i < size; i++) {
        check_empty(work_pools[i]);
        check_empty(home_pools[i]);
    }
    atomic_store(&stop, true);
    pthread_join(native, NULL);
    for (int i = 1; i < size; i++)
        must(ABT_xstream_free(&xstreams[i]));
    must(ABT_finalize());
}

int main(void)
{
    stress_begin();
    need_cancel_and_migrate();
    struct rng rng = rng_make(2);

    stress_play(play, &rng, 2.5);
    diag("%ld moves, %ld blocks, %ld cancels", atomic_load(&moves), atomic_load(&blocks), atomic_load(&cancels));
    return done_testing();
}
