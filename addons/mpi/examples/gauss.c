/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat in a plate by the method of Gauss and Seidel, on blocks: a cell becomes the mean of its neighbours, of which the
 * upper and the left one are new already. The rows of blocks are shared out to the processes. A process needs the last
 * row of the one above as it is in the same iteration, and the first row of the one below as it was in the one before.
 *
 *   mpirun -n 2 abt-run ./gauss [-b rows_of_a_block] [-s rows_of_the_plate] [-n iterations] [-f] [-o]
 *
 * Each block of an iteration is a task of OpenMP, and so is each message, which calls MPI_Send or MPI_Recv. Dependences
 * alone say what waits for what, over all iterations: a process begins the next one while others are at the last. Each
 * task that waits for a message gives its thread away, by libabtomp and libabtmpi. With libgomp it keeps the thread,
 * and as soon as no thread is left the program hangs.
 *
 * -f is fork and join, as with any OpenMP and MPI: one thread sends and receives between the iterations, and the tasks
 * of each are waited for. -o runs both, one after the other, and says how much faster tasks are. The checksum depends
 * on neither, nor on the numbers of processes and threads. The program knows nothing of libabt.
 */
#include <mpi.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TO_LOWER, TO_UPPER, DIRECTIONS }; /* of a message: in its tag, with the column of blocks */

static int rank, num_ranks, edge = 128, side = 2048, num_iterations = 50;
static int rows, columns; /* of blocks, in this process */
static ptrdiff_t width;   /* of a row of cells with its rim */
static double *cells;     /* with a rim: rows of other processes, and the walls */
static char *marks;       /* one for each block, and for each message that comes: what tasks depend on */

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The first cell of a line of the plate in a column of blocks. Line 0 is the last one of the process above. */
static double *line_of(int line, int column)
{
    return cells + line * width + (ptrdiff_t)column * edge + 1;
}

static char *mark_of(int row, int column)
{
    return marks + (row + 1) * (columns + 2) + column + 1;
}

static void compute(int row, int column)
{
    for (int i = 1; i <= edge; i++) {
        double *line = line_of(row * edge + i, column);
        for (int k = 0; k < edge; k++)
            line[k] = 0.25 * (line[k - width] + line[k - 1] + line[k + 1] + line[k + width]);
    }
}

static int first_row_of(int number)
{
    return side / edge * number / num_ranks;
}

static void *allocate(size_t size)
{
    void *memory = calloc(size, 1);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static void make_plate(void)
{
    columns = side / edge;
    rows = first_row_of(rank + 1) - first_row_of(rank);
    width = (ptrdiff_t)columns * edge + 2;
    cells = allocate(((size_t)rows * (size_t)edge + 2) * (size_t)width * sizeof(double));
    marks = allocate((size_t)(rows + 2) * (size_t)(columns + 2));
    for (int i = 0; i < rows * edge + 2; i++) {
        int line = first_row_of(rank) * edge + i; /* of the whole plate and its walls */
        for (ptrdiff_t k = 0; k < width; k++)
            cells[i * width + k] = line == 0 ? 100.0 : (double)(line * 31 % 17) + (double)(k * 13 % 29);
    }
}

/* The sum of the cells' bits, which is the same in any order. */
static uint64_t checksum(void)
{
    uint64_t sum = 0, all = 0, bits;
    for (int i = 1; i <= rows * edge; i++) {
        for (ptrdiff_t k = 1; k + 1 < width; k++) {
            memcpy(&bits, &cells[i * width + k], sizeof(bits));
            bits = (bits ^ bits >> 29) * 0x9e3779b97f4a7c15U;
            sum += bits ^ bits >> 32;
        }
    }
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Lines of one column of blocks, or of several. */
static void send_line(int line, int column, int num, int direction)
{
    int to = direction == TO_LOWER ? rank + 1 : rank - 1;
    MPI_Send(line_of(line, column), num * edge, MPI_DOUBLE, to, column * DIRECTIONS + direction, MPI_COMM_WORLD);
}

static void receive_line(int line, int column, int num, int direction)
{
    int from = direction == TO_LOWER ? rank - 1 : rank + 1;
    MPI_Recv(line_of(line, column), num * edge, MPI_DOUBLE, from, column * DIRECTIONS + direction, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* ---- Iterations -------------------------------------------------------------------------------------------------- */

/* The tasks of an iteration: in the order in which one thread would do it all. */
static void make_blocks(void)
{
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < columns; k++) {
            char *own = mark_of(i, k), *up = mark_of(i - 1, k), *down = mark_of(i + 1, k);
            (void)own, (void)up, (void)down; /* only their addresses are used */
#pragma omp task depend(in : up[0], down[0], own[-1], own[1]) depend(inout : own[0]) firstprivate(i, k)
            compute(i, k);
        }
    }
}

/* Tasks that receive a line before the blocks next to it are computed, or send one after that. */
static void make_receivers(int row, int line, int direction)
{
    for (int k = 0; k < columns; k++) {
#pragma omp task depend(out : mark_of(row, k)[0]) firstprivate(k, line, direction)
        receive_line(line, k, 1, direction);
    }
}

static void make_senders(int row, int line, int direction)
{
    for (int k = 0; k < columns; k++) {
#pragma omp task depend(in : mark_of(row, k)[0]) firstprivate(k, line, direction)
        send_line(line, k, 1, direction);
    }
}

static void run_tasks(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < num_iterations; i++) {
        if (rank > 0)
            make_receivers(-1, 0, TO_LOWER);
        if (rank + 1 < num_ranks && i > 0)
            make_receivers(rows, rows * edge + 1, TO_UPPER);
        make_blocks();
        if (rank > 0 && i + 1 < num_iterations)
            make_senders(0, 1, TO_UPPER);
        if (rank + 1 < num_ranks)
            make_senders(rows - 1, rows * edge, TO_LOWER);
    }
}

static void fork_and_join(void)
{
    for (int i = 0; i < num_iterations; i++) {
        if (rank > 0)
            receive_line(0, 0, columns, TO_LOWER);
        if (rank + 1 < num_ranks && i > 0)
            receive_line(rows * edge + 1, 0, columns, TO_UPPER);
#pragma omp parallel
#pragma omp single
        make_blocks();
        if (rank > 0 && i + 1 < num_iterations)
            send_line(1, 0, columns, TO_UPPER);
        if (rank + 1 < num_ranks)
            send_line(rows * edge, 0, columns, TO_LOWER);
    }
}

/* Returns the seconds of the iterations. */
static double run(int is_fork)
{
    make_plate();
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    if (is_fork)
        fork_and_join();
    else
        run_tasks();
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - begun;
    uint64_t sum = checksum();
    if (rank == 0)
        printf("%s: %.3f s, checksum %016llx\n", is_fork ? "fork and join" : "tasks", seconds, (unsigned long long)sum);
    free(cells);
    free(marks);
    return seconds;
}

int main(int argc, char **argv)
{
    int level, option, is_fork = 0, is_both = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    while ((option = getopt(argc, argv, "b:s:n:fo")) != -1) {
        switch (option) {
        case 'b': edge = atoi(optarg); break;
        case 's': side = atoi(optarg); break;
        case 'n': num_iterations = atoi(optarg); break;
        case 'f': is_fork = 1; break;
        case 'o': is_both = 1; break;
        default: MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    if (level != MPI_THREAD_MULTIPLE || edge < 1 || side / edge < num_ranks || num_iterations < 1) {
        fprintf(stderr, "gauss: it needs MPI_THREAD_MULTIPLE, a row of blocks for each process, and an iteration\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double by_fork = is_both ? run(1) : 0, seconds = run(is_fork);
    if (rank == 0 && is_both)
        printf("%d threads: tasks are %.2f times as fast\n", omp_get_max_threads(), by_fork / seconds);
    return MPI_Finalize();
}
