/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTS, the Unbalanced Tree Search benchmark, on several processes. Each has a bag of nodes. A worker takes one out at a
 * time: while the bag is nearly empty it puts the node's children there, otherwise it searches all that is below the
 * node, by fork and join on the streams of its process. One whose bag is empty asks the other processes for nodes. A
 * ULT in each process, the server, waits for such thieves and gives them the older half of the bag.
 *
 *   mpirun -n 2 abt-run --mpi ./uts [-e streams] [-t tree] [-s]
 *
 * The server waits in MPI_Recv while the worker works: with libabtmpi that costs no stream. Without it the server needs
 * an execution stream of its own, by -s.
 *
 * The end is found by the algorithm of Dijkstra and Scholten: who gives nodes to a process that has none becomes its
 * parent. A process that has nothing to do, and of whose gifts all are accounted for, accounts to its parent for the
 * gift that woke it. A gift to a process that has a parent is accounted for at once. Process 0 is the root.
 */
#include "common.h"
#include "uts_tree.h"

#include <abt_fork.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG_SERVER = 1, TAG_GIFT };
enum call { ASK, ACCOUNT, END, STOP }; /* what a server is called for */
enum { NO_PARENT = -1, FEW = 16, MAX_GIFT = 64, NAP_NS = 50000 };

/* All that the worker and the server of a process share. */
static struct {
    ABT_mutex mutex;
    struct uts_node *nodes; /* the newest one last */
    int num, room;
    int parent;   /* who accounts for this process; its own rank: it is the root */
    int num_open; /* gifts that nobody has accounted for */
    int is_busy;  /* the worker has nodes */
    int has_ended;
} bag;

static int rank, num_ranks;
static long num_gifts;
static struct uts_tally tally;

/* ---- The bag ----------------------------------------------------------------------------------------------------- */

static void put(const struct uts_node *nodes, int num)
{
    if (bag.num + num > bag.room) {
        bag.room = 2 * (bag.num + num);
        bag.nodes = realloc(bag.nodes, (size_t)bag.room * sizeof(*nodes));
        if (!bag.nodes)
            give_up("out of memory");
    }
    memcpy(bag.nodes + bag.num, nodes, (size_t)num * sizeof(*nodes));
    bag.num += num;
}

/* The newest node, which is likely to be the smallest. Returns how many there were. */
static int take(struct uts_node *node)
{
    CHECK(ABT_mutex_lock(bag.mutex));
    int num = bag.num;
    if (num > 0)
        *node = bag.nodes[--bag.num];
    CHECK(ABT_mutex_unlock(bag.mutex));
    return num;
}

/* The older half, for a thief. */
static int take_half(struct uts_node *gift)
{
    CHECK(ABT_mutex_lock(bag.mutex));
    int num = (bag.num + 1) / 2 < MAX_GIFT ? (bag.num + 1) / 2 : MAX_GIFT;
    if (num > 0) {
        memcpy(gift, bag.nodes, (size_t)num * sizeof(*gift));
        bag.num -= num;
        memmove(bag.nodes, bag.nodes + num, (size_t)bag.num * sizeof(*gift));
        bag.num_open++;
        num_gifts++;
    }
    CHECK(ABT_mutex_unlock(bag.mutex));
    return num;
}

/* ---- Calls of servers -------------------------------------------------------------------------------------------- */

/* Nobody waits until it has come: what is sent does not change. */
static void call(int server, enum call what)
{
    static const int numbers[] = {[ASK] = ASK, [ACCOUNT] = ACCOUNT, [END] = END, [STOP] = STOP};
    MPI_Request request;

    MPI_Isend(&numbers[what], 1, MPI_INT, server, TAG_SERVER, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

static void note_end(void)
{
    CHECK(ABT_mutex_lock(bag.mutex));
    bag.has_ended = 1;
    CHECK(ABT_mutex_unlock(bag.mutex));
}

/* Some gifts are accounted for, or the worker has nothing to do. If this was the last thing, the parent learns of it.
 */
static void account(int num_closed, int is_idle)
{
    CHECK(ABT_mutex_lock(bag.mutex));
    bag.num_open -= num_closed;
    bag.is_busy &= !is_idle;
    int parent = bag.is_busy || bag.num_open > 0 ? NO_PARENT : bag.parent;
    if (parent != NO_PARENT)
        bag.parent = NO_PARENT;
    CHECK(ABT_mutex_unlock(bag.mutex));
    if (parent == rank) {
        note_end();
        for (int i = 0; i < num_ranks; i++) {
            if (i != rank)
                call(i, END);
        }
    } else if (parent != NO_PARENT) {
        call(parent, ACCOUNT);
    }
}

static void serve(void *arg)
{
    struct uts_node gift[MAX_GIFT];
    MPI_Status status;
    int what;

    (void)arg;
    do {
        MPI_Recv(&what, 1, MPI_INT, MPI_ANY_SOURCE, TAG_SERVER, MPI_COMM_WORLD, &status);
        if (what == ASK) {
            int size = take_half(gift) * (int)sizeof(*gift);
            MPI_Send(gift, size, MPI_BYTE, status.MPI_SOURCE, TAG_GIFT, MPI_COMM_WORLD);
        } else if (what == ACCOUNT) {
            account(1, 0);
        } else if (what == END) {
            note_end();
        }
    } while (what != STOP);
}

/* ---- The worker -------------------------------------------------------------------------------------------------- */

/* Searches below the children of a node, from a number on: the first child that has children is searched by the caller,
 * the rest by whoever takes it. */
ABTX_TASK(struct uts_tally, search, (const struct uts_node *, node), (int, number))
{
    struct uts_tally sum = {0, 0, 0}, below, rest_sum;
    struct uts_node child = {.num_children = 0};

    while (number < node->num_children && child.num_children == 0)
        uts_make_child(&child, node, number++, &sum);
    if (child.num_children == 0)
        return sum;
    ABTX_FORK(search, rest, node, number);
    below = ABTX_CALL(search, &child, 0);
    rest_sum = ABTX_JOIN(search, rest);
    uts_add(&sum, &below);
    uts_add(&sum, &rest_sum);
    return sum;
}

static void expand(const struct uts_node *node)
{
    struct uts_node child;

    for (int i = 0; i < node->num_children; i++) {
        uts_make_child(&child, node, i, &tally);
        if (child.num_children == 0)
            continue;
        CHECK(ABT_mutex_lock(bag.mutex));
        put(&child, 1);
        CHECK(ABT_mutex_unlock(bag.mutex));
    }
}

static void empty_the_bag(void)
{
    struct uts_node node;
    int num;

    while ((num = take(&node)) > 0) {
        if (num < FEW) {
            expand(&node);
        } else {
            struct uts_tally below = ABTX_RUN(search, &node, 0);
            uts_add(&tally, &below);
        }
        CHECK(ABT_thread_yield()); /* the server may have been called */
    }
}

/* Asks a process for nodes. Returns whether it gave any. */
static int steal_from(int victim)
{
    struct uts_node gift[MAX_GIFT];
    MPI_Status status;
    int size;

    call(victim, ASK);
    MPI_Recv(gift, sizeof(gift), MPI_BYTE, victim, TAG_GIFT, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &size);
    if (size == 0)
        return 0;
    CHECK(ABT_mutex_lock(bag.mutex));
    int had_parent = bag.parent != NO_PARENT;
    if (!had_parent)
        bag.parent = victim;
    bag.is_busy = 1;
    put(gift, size / (int)sizeof(*gift));
    CHECK(ABT_mutex_unlock(bag.mutex));
    if (had_parent)
        call(victim, ACCOUNT);
    return 1;
}

static int has_ended(void)
{
    CHECK(ABT_mutex_lock(bag.mutex));
    int ended = bag.has_ended;
    CHECK(ABT_mutex_unlock(bag.mutex));
    return ended;
}

static void work(void)
{
    int victim = rank, found = rank == 0;

    if (rank == 0) {
        struct uts_node root;
        uts_make_root(&root, &tally);
        put(&root, 1);
        bag.parent = rank;
        bag.is_busy = 1;
    }
    do {
        if (found) {
            empty_the_bag();
            account(0, 1);
        }
        victim = (victim + 1) % num_ranks;
        found = victim != rank && steal_from(victim);
        if (!found)
            CHECK(ABTX_self_sleep(NAP_NS));
    } while (found || !has_ended());
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static int report(const char *tree, const char *published, double seconds)
{
    long mine[2] = {tally.nodes, tally.leaves}, all[2] = {0, 0}, depth = 0, gifts = 0;
    char job[64], answer[64];

    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&tally.depth, &depth, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&num_gifts, &gifts, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return 0;
    snprintf(job, sizeof(job), "UTS %s, %d processes", tree, num_ranks);
    snprintf(answer, sizeof(answer), "%ld/%ld/%ld", all[0], depth, all[1]);
    return team_report(&(struct report){job, answer, published, gifts, seconds});
}

int main(int argc, char **argv)
{
    struct team team;
    ABT_thread server;
    ABT_xstream apart = ABT_XSTREAM_NULL;
    ABT_pool pool;
    const char *tree = "T1", *published;
    int num_streams = 1, is_apart = 0;

    begin_mpi(&argc, &argv, &rank, &num_ranks);
    for (int option; (option = getopt(argc, argv, "e:t:s")) != -1;) {
        switch (option) {
        case 'e': num_streams = atoi(optarg); break;
        case 't': tree = optarg; break;
        case 's': is_apart = 1; break;
        default: give_up("usage: uts [-e streams] [-t T1|T1L|T2|T3|T5] [-s (a stream for the server)]");
        }
    }
    published = uts_choose(tree);
    if (!published)
        give_up("there is no such tree");
    start_team(&team, num_streams);
    CHECK(ABTX_fork_start(team.num_streams, team.streams));
    CHECK(ABT_mutex_create(&bag.mutex));
    bag.parent = NO_PARENT;
    pool = team_pool(&team);
    if (is_apart) {
        CHECK(ABT_xstream_create(ABT_SCHED_NULL, &apart));
        CHECK(ABT_xstream_get_main_pools(apart, 1, &pool));
    }
    if (num_ranks > 1)
        CHECK(ABT_thread_create(pool, serve, NULL, ABT_THREAD_ATTR_NULL, &server));
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = team_seconds();
    work();
    /* Behind the barrier nobody asks any more. */
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = team_seconds() - seconds;
    if (num_ranks > 1) {
        call(rank, STOP);
        CHECK(ABT_thread_free(&server));
    }
    if (is_apart)
        CHECK(ABT_xstream_free(&apart));
    int status = report(tree, published, seconds);
    CHECK(ABT_mutex_free(&bag.mutex));
    free(bag.nodes);
    MPI_Finalize();
    team_stop(&team);
    return status;
}
