/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a job dies while ULTs of another one wait for its messages: the job ends with an error, as it does
 * without libabtmpi, and does not wait for ever. Or a ULT's call fails, and errors are fatal: what is printed names it.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "job.h"

enum { ULTS = 4, TAG = 7 };

static void receive(void *arg)
{
    MPI_Recv(arg, 1, MPI_INT, 1, *(int *)arg, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_dead(void)
{
    int values[ULTS] = {1, 2, 3, 4};

    if (job_rank == 1) {
        MPI_Send(&values[0], 1, MPI_INT, 0, values[0], MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    job_run(ULTS, receive, values, sizeof(values[0]));
}

static void receive_too_long(void)
{
    int values[2] = {0};
    MPI_Errhandler handler;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    if (job_rank == 0 && handler == MPI_ERRORS_ARE_FATAL)
        MPI_Recv(values, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(values, 2, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange_with_nobody(void)
{
    int values[2] = {0};

    MPI_Sendrecv(values, 1, MPI_INT, job_rank, TAG, values + 1, 1, MPI_INT, 55, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A handler of libabtmpi gets the error in the midst of the call, which most often does not wait. */
static void flush_no_window(void)
{
    MPI_Win_flush(0, MPI_WIN_NULL);
}

static void copy_world(void *is_begun)
{
    MPI_Comm copy;

    atomic_store((atomic_bool *)is_begun, true);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* the other process does not */
}

static void finalize_in_region(void)
{
    atomic_bool is_begun = false;
    ABT_xstream xstream;
    ABT_thread ult;

    ABT_xstream_self(&xstream);
    if (job_rank == 0) {
        ABT_thread_create_on_xstream(xstream, copy_world, &is_begun, ABT_THREAD_ATTR_NULL, &ult);
        while (!atomic_load(&is_begun))
            ABT_thread_yield();
    }
    MPI_Finalize();
    exit(1); /* some libraries come here, and others die */
}

static const struct {
    const char *name;
    void (*play)(void);
    const char *said;
} cases[] = {
    {"a process dies", wait_for_dead, ""},
    {"an argument is wrong", exchange_with_nobody, "MPI_Sendrecv with rank 55, tag 7, on MPI_COMM_WORLD fails"},
    {"MPI_Finalize while a ULT makes a communicator", finalize_in_region, "is still in MPI_Comm_dup"},
    {"there is no window", flush_no_window, "MPI_Win_flush fails"},
    {"an error is fatal", receive_too_long, "MPI_Recv with rank 1, tag 7, on MPI_COMM_WORLD fails"}};

static int play(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    cases[atoi(getenv("DIES_CASE"))].play();
    return 0;
}

/* What the launcher says is not seen. */
static void run_job(const char *which, int to)
{
    setenv("DIES_CASE", which, 1);
    if (!freopen("/dev/null", "w", stdout) || dup2(to, STDERR_FILENO) < 0)
        abort();
    job_begin("2");
}

static void check(int i)
{
    static char text[1 << 16];
    const char which[2] = {(char)('0' + i)};
    size_t length = 0;
    ssize_t got;
    int ends[2], status = 0;

    if (pipe(ends) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0)
        run_job(which, ends[1]);
    close(ends[1]);
    while (length < sizeof(text) - 1 && (got = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        skip_all(JOB_RUN " is not installed");
    ok(WIFEXITED(status) || WIFSIGNALED(status), "%s: the job ends with an error", cases[i].name);
    ok(strstr(text, cases[i].said) != NULL, "it says: %s", cases[i].said);
}

int main(int argc, char **argv)
{
    if (getenv("JOB_IS_RUNNING")) {
        watchdog_begin(0);
        return play(argc, argv);
    }
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++)
        check(i);
    return done_testing();
}
