/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil whose blocks are ULTs. The grid has the shape of a tire: its rows are shared out to the processes, and each
 * process cuts its rows into blocks. In a step a block sends its four edges to its neighbours, waits for theirs, and
 * computes: each cell becomes the mean of its neighbours. While a block waits, others compute. The checksum does not
 * depend on the number of processes.
 *
 *   mpirun -n 2 abt-run --mpi ./stencil [-b blocks] [-n steps] [-w work_us] [-p]
 *   mpirun -n 3 abt-run --mpi ./stencil -d delay_us [-o] ...
 *
 * -w lets a step compute for that number of microseconds more. -p has no ULT for each block, but one that sends all
 * edges, waits for all and computes: so it is right without libabtmpi, too. -d makes the last process a slow wire:
 * edges go to it, and it forwards each after that time. -o runs both ways, one after the other, and says how much
 * faster ULTs are.
 */
#include "common.h"
#include "wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 240, COLUMNS = 320, MAX_BLOCKS = 64, MAX_EDGE = ROWS > COLUMNS ? ROWS : COLUMNS };
enum side { UP, DOWN, LEFT, RIGHT, SIDES };

struct block {
    int number, rows, columns;
    double *now, *next; /* each has a rim for the neighbours' edges */
    double out[SIDES][MAX_EDGE];
    MPI_Request sending[SIDES];
};

static int rank, num_ranks; /* without the wire */
static int num_blocks = 8, num_steps = 20, with_wire;
static long work; /* turns of a loop that computes, for a block in a step */
static struct block blocks[MAX_BLOCKS];

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static double *cell(const struct block *b, double *grid, int row, int column)
{
    return grid + (size_t)(row + 1) * (size_t)(b->columns + 2) + column + 1;
}

/* Where the i-th of `num` parts of a whole begins. */
static int begin_of(int whole, int i, int num)
{
    return whole * i / num;
}

static void make_block(struct block *b, int number)
{
    int row = begin_of(ROWS, rank, num_ranks), column = begin_of(COLUMNS, number, num_blocks);

    b->number = number;
    b->rows = begin_of(ROWS, rank + 1, num_ranks) - row;
    b->columns = begin_of(COLUMNS, number + 1, num_blocks) - column;
    size_t size = (size_t)(b->rows + 2) * (size_t)(b->columns + 2) * sizeof(double);
    b->now = team_alloc(size);
    b->next = team_alloc(size);
    for (int i = 0; i < b->rows; i++) {
        for (int k = 0; k < b->columns; k++)
            *cell(b, b->now, i, k) = (row + i) * 31 % 17 + (column + k) * 13 % 29;
    }
}

static void free_block(struct block *b)
{
    free(b->now);
    free(b->next);
}

/* The sum of the cells' bits, which is the same in any order. */
static uint64_t checksum(struct block *b)
{
    uint64_t sum = 0, bits;

    for (int i = 0; i < b->rows; i++) {
        for (int k = 0; k < b->columns; k++) {
            memcpy(&bits, cell(b, b->now, i, k), sizeof(bits));
            bits = (bits ^ bits >> 29) * 0x9e3779b97f4a7c15U;
            sum += bits ^ bits >> 32;
        }
    }
    return sum;
}

/* Copies a line of cells into an edge, or out of it. Side and depth say which: 0 is the outermost line of the block,
 * and -1 the rim. */
static void copy_line(struct block *b, enum side side, int depth, double *edge, int is_out)
{
    int is_row = side == UP || side == DOWN, length = is_row ? b->columns : b->rows;
    int where = side == UP || side == LEFT ? depth : (is_row ? b->rows : b->columns) - 1 - depth;

    for (int i = 0; i < length; i++) {
        double *at = is_row ? cell(b, b->now, where, i) : cell(b, b->now, i, where);
        if (is_out)
            edge[i] = *at;
        else
            *at = edge[i];
    }
}

static int edge_length(const struct block *b, enum side side)
{
    return side == UP || side == DOWN ? b->columns : b->rows;
}

/* The process and the number of a neighbour. */
static int neighbour_rank(enum side side)
{
    return (rank + num_ranks + (side == DOWN) - (side == UP)) % num_ranks;
}

static int neighbour_number(const struct block *b, enum side side)
{
    return (b->number + num_blocks + (side == RIGHT) - (side == LEFT)) % num_blocks;
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static void send_edges(struct block *b)
{
    static const enum side opposite[] = {[UP] = DOWN, [DOWN] = UP, [LEFT] = RIGHT, [RIGHT] = LEFT};

    for (int side = 0; side < SIDES; side++) {
        int to = neighbour_rank(side), tag = neighbour_number(b, side) * SIDES + (int)opposite[side];
        copy_line(b, side, 0, b->out[side], 1);
        if (with_wire && to != rank)
            wire_send(b->out[side], edge_length(b, side), to, tag, &b->sending[side]);
        else
            MPI_Isend(b->out[side], edge_length(b, side), MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &b->sending[side]);
    }
}

static void receive_edges(struct block *b)
{
    double edge[MAX_EDGE];

    for (int side = 0; side < SIDES; side++) {
        int from = neighbour_rank(side), tag = b->number * SIDES + side;
        if (with_wire && from != rank)
            wire_receive(edge, edge_length(b, side), rank, tag);
        else
            MPI_Recv(edge, edge_length(b, side), MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        copy_line(b, side, -1, edge, 0);
    }
}

/* Before the block changes the edges again. */
static void finish_sending(struct block *b)
{
    MPI_Status statuses[SIDES];

    MPI_Waitall(SIDES, b->sending, statuses);
}

static void burn(long turns)
{
    volatile double x = 1;

    for (long i = 0; i < turns; i++)
        x = x * 0.9999 + 0.1;
}

static void compute(struct block *b)
{
    for (int i = 0; i < b->rows; i++) {
        for (int k = 0; k < b->columns; k++)
            *cell(b, b->next, i, k) = 0.25 * (*cell(b, b->now, i - 1, k) + *cell(b, b->now, i + 1, k) +
                                              *cell(b, b->now, i, k - 1) + *cell(b, b->now, i, k + 1));
    }
    burn(work);
    double *before = b->now;
    b->now = b->next;
    b->next = before;
}

/* ---- The two ways ------------------------------------------------------------------------------------------------ */

static void run_block(void *arg)
{
    for (int i = 0; i < num_steps; i++) {
        send_edges(arg);
        receive_edges(arg);
        finish_sending(arg);
        compute(arg);
    }
}

static void run_as_ults(const struct team *team)
{
    ABT_thread ults[MAX_BLOCKS];

    for (int i = 0; i < num_blocks; i++)
        CHECK(ABT_thread_create(team_pool(team), run_block, &blocks[i], ABT_THREAD_ATTR_NULL, &ults[i]));
    for (int i = 0; i < num_blocks; i++)
        CHECK(ABT_thread_free(&ults[i]));
}

static void run_plainly(void)
{
    for (int step = 0; step < num_steps; step++) {
        for (int i = 0; i < num_blocks; i++)
            send_edges(&blocks[i]);
        for (int i = 0; i < num_blocks; i++)
            receive_edges(&blocks[i]);
        for (int i = 0; i < num_blocks; i++)
            finish_sending(&blocks[i]);
        for (int i = 0; i < num_blocks; i++)
            compute(&blocks[i]);
    }
}

struct outcome {
    uint64_t sum;
    double seconds;
};

/* By ULTs if there is a team, otherwise plainly. What comes back is the same in all processes. */
static struct outcome run(MPI_Comm workers, const struct team *team)
{
    struct outcome outcome = {0, 0};
    uint64_t mine = 0;

    for (int i = 0; i < num_blocks; i++)
        make_block(&blocks[i], i);
    MPI_Barrier(workers);
    double seconds = team_seconds();
    if (team)
        run_as_ults(team);
    else
        run_plainly();
    MPI_Barrier(workers);
    seconds = team_seconds() - seconds;
    for (int i = 0; i < num_blocks; i++) {
        mine += checksum(&blocks[i]);
        free_block(&blocks[i]);
    }
    MPI_Allreduce(&mine, &outcome.sum, 1, MPI_UINT64_T, MPI_SUM, workers);
    MPI_Allreduce(&seconds, &outcome.seconds, 1, MPI_DOUBLE, MPI_MAX, workers);
    return outcome;
}

/* Sets how long a block computes in a step: its share of that many microseconds. */
static void set_work(double us, MPI_Comm workers)
{
    enum { TURNS = 100000, TRIES = 20 };
    double best = 1e9;

    for (int i = 0; i < TRIES; i++) {
        double seconds = team_seconds();
        burn(TURNS);
        seconds = team_seconds() - seconds;
        best = seconds < best ? seconds : best;
    }
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_MIN, workers);
    work = (long)(us * 1e-6 / num_blocks / best * TURNS);
}

static int report(const struct outcome *outcome, const struct outcome *plain)
{
    if (rank == 0) {
        printf("stencil, %d processes, %d blocks in each: checksum %016llx, %.1f us a step", num_ranks, num_blocks,
               (unsigned long long)outcome->sum, outcome->seconds / num_steps * 1e6);
        if (plain)
            printf("; plainly %.1f us, %.2f times as long", plain->seconds / num_steps * 1e6,
                   plain->seconds / outcome->seconds);
        printf("%s\n", plain && plain->sum != outcome->sum ? ", the checksums DIFFER" : "");
    }
    return plain && plain->sum != outcome->sum;
}

static int run_worker(MPI_Comm workers, double work_us, int plainly, int both)
{
    struct team team;
    struct outcome plain, outcome;

    set_work(work_us, workers);
    if (plainly) {
        outcome = run(workers, NULL);
        return report(&outcome, NULL);
    }
    start_team(&team, 1);
    if (both)
        plain = run(workers, NULL);
    outcome = run(workers, &team);
    int status = report(&outcome, both ? &plain : NULL);
    team_stop(&team);
    return status;
}

int main(int argc, char **argv)
{
    double work_us = 0, delay_us = 0;
    int plainly = 0, both = 0, status = 0;
    MPI_Comm workers;

    begin_mpi(&argc, &argv, &rank, &num_ranks);
    plainly = !can_suspend();
    for (int option; (option = getopt(argc, argv, "b:n:w:d:po")) != -1;) {
        switch (option) {
        case 'b': num_blocks = atoi(optarg); break;
        case 'n': num_steps = atoi(optarg); break;
        case 'w': work_us = atof(optarg); break;
        case 'd': delay_us = atof(optarg), with_wire = 1; break;
        case 'p': plainly = 1; break;
        case 'o': both = 1; break;
        default: give_up("usage: stencil [-b blocks] [-n steps] [-w work_us] [-d delay_us] [-o | -p]");
        }
    }
    num_ranks -= with_wire;
    if (num_blocks < 1 || num_blocks > MAX_BLOCKS || num_steps < 1 || num_ranks < 1 || num_ranks > ROWS)
        give_up("stencil: 1 to 64 blocks, a step, and with -d two processes");
    int is_wire = rank == num_ranks;
    wire_prepare(num_ranks, num_blocks * SIDES);
    MPI_Comm_split(MPI_COMM_WORLD, is_wire, rank, &workers);
    if (is_wire) {
        wire_run(delay_us * 1e-6, MAX_EDGE);
    } else {
        status = run_worker(workers, work_us, plainly, both);
        MPI_Barrier(workers);
        if (with_wire && rank == 0)
            wire_end();
    }
    MPI_Comm_free(&workers);
    MPI_Finalize();
    return status;
}
