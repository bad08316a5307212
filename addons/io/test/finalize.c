/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many operations under way in native threads: how they are counted, how abtio_finalize ends them, who waits with them,
 * and what happens when all threads are blocked.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "emulated.h"
#include "io.h"
#include "sanitizers.h"

static uint64_t num_in_flight(void)
{
    abtio_info info;
    must(abtio_get_info(&info));
    return info.num_in_flight;
}

static void begin(abtio_backend backend, unsigned max_threads)
{
    abtio_config config = {.backend = backend, .max_threads = max_threads};

    must(ABT_init(0, NULL));
    if (abtio_init(&config) < 0)
        bail_out("abtio_init");
}

/* ---- Many ------------------------------------------------------------------------------------------------------ */

/* Receives from a socket to which nobody sends. */
static abtio_op **start_many(int num, int fd)
{
    static char byte;
    abtio_op **ops = malloc((size_t)num * sizeof(*ops));
    int refused = 0;

    for (int i = 0; i < num; i++)
        refused += abtio_recv_nb(fd, &byte, 1, 0, ABTIO_FOREVER, &ops[i]) < 0;
    is_int(refused, 0, "%d operations are started", num);
    return ops;
}

static void free_many(int num, abtio_op **ops, ssize_t result)
{
    int others = 0;

    for (int i = 0; i < num; i++) {
        others += abtio_op_wait(ops[i]) != result;
        abtio_op_free(&ops[i]);
    }
    is_int(others, 0, "all have ended with %zd", result);
    free(ops);
}

static void end_many(int num, unsigned max_threads)
{
    int fds[2];

    begin(ABTIO_BACKEND_THREADS, max_threads);
    make_pair(fds);
    abtio_op **ops = start_many(num, fds[0]);
    is_int(num_in_flight(), num, "all are under way");
    is_int(abtio_finalize(), 0, "abtio_finalize");
    free_many(num, ops, -ECANCELED);
    close(fds[0]);
    close(fds[1]);
    must(ABT_finalize());
}

/* The same deadline for all. */
static void end_many_by_deadline(int num)
{
    int fds[2], others = 0;
    abtio_op **ops = malloc((size_t)num * sizeof(*ops));
    char byte;

    begin(ABTIO_BACKEND_THREADS, (unsigned)num);
    make_pair(fds);
    abtio_deadline until = abtio_after(100 * MS);
    for (int i = 0; i < num; i++)
        must(abtio_recv_nb(fds[0], &byte, 1, 0, until, &ops[i]));
    for (int i = 0; i < num; i++) {
        others += abtio_op_wait(ops[i]) != -ETIMEDOUT;
        abtio_op_free(&ops[i]);
    }
    is_int(others, 0, "%d operations have ended by one deadline", num);
    must(abtio_finalize());
    must(ABT_finalize());
    close(fds[0]);
    close(fds[1]);
    free(ops);
}

/* ---- One in a thread of the program ------------------------------------------------------------------------------ */

struct outsider {
    int fd;
    bool blocks_signals;
    ssize_t result;
    int changed, pending;
};

static void *receive_outside(void *arg)
{
    struct outsider *self = arg;
    sigset_t mask, after;
    char byte;

    sigemptyset(&mask);
    if (self->blocks_signals)
        sigfillset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &mask); /* without those that cannot be blocked */
    self->result = abtio_recv(self->fd, &byte, 1, 0, ABTIO_FOREVER);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int i = 1; i <= SIGRTMAX; i++)
        self->changed += sigismember(&mask, i) != sigismember(&after, i);
    sigpending(&after);
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
        self->pending += sigismember(&after, i);
    return NULL;
}

static void end_outsiders(abtio_backend backend, const char *name)
{
    enum { NUM = 3 };
    int fds[2];
    struct outsider all[NUM];
    pthread_t threads[NUM];
    abtio_config config = {.backend = backend};

    must(ABT_init(0, NULL));
    if (abtio_init(&config) < 0) {
        skip(1, "there is no %s", name);
        must(ABT_finalize());
        return;
    }
    make_pair(fds);
    for (int i = 0; i < NUM; i++) {
        all[i] = (struct outsider){.fd = fds[0], .blocks_signals = i > 0};
        pthread_create(&threads[i], NULL, receive_outside, &all[i]);
    }
    while (num_in_flight() < NUM)
        ABTX_self_sleep(1000000);
    ok(true, "%s: calls of native threads are counted", name);
    is_int(abtio_finalize(), 0, "abtio_finalize");
    for (int i = 0; i < NUM; i++) {
        pthread_join(threads[i], NULL);
        is_int(all[i].result, -ECANCELED, "the call of a native thread has ended");
        is_int(all[i].changed, 0, "it blocks the same signals");
        is_int(all[i].pending, 0, "no signal is left behind");
    }
    close(fds[0]);
    close(fds[1]);
    must(ABT_finalize());
}

/* ---- When all threads are blocked ------------------------------------------------------------------------------ */

/* What releases them comes last. */
static void release_by_last(void)
{
    enum { NUM = 1024 + 40 };
    int fds[2];
    abtio_op *last;
    char *bytes = calloc(1, NUM);

    if (UNDER_TSAN || is_emulated()) {
        skip(1, "that number of native threads is too much here");
        free(bytes);
        return;
    }
    begin(ABTIO_BACKEND_THREADS, 0);
    make_pair(fds);
    abtio_op **ops = start_many(NUM, fds[0]);
    is_int(abtio_send_nb(fds[1], bytes, NUM, 0, ABTIO_FOREVER, &last), 0, "send_nb");
    is_int(abtio_op_wait(last), NUM, "it is done though as many threads are blocked as there are to be");
    abtio_op_free(&last);
    free_many(NUM, ops, 1);
    is_int(num_in_flight(), 0, "nothing is under way");
    must(abtio_finalize());
    must(ABT_finalize());
    close(fds[0]);
    close(fds[1]);
    free(bytes);
}

/* Where the program has said how many there may be. */
static void tell_of_deadlock(void)
{
    int fds[2], told[2], before = dup(STDERR_FILENO);
    char line[300] = "";

    begin(ABTIO_BACKEND_THREADS, 2);
    make_pair(fds);
    if (pipe(told) < 0)
        bail_out("pipe");
    dup2(told[1], STDERR_FILENO);
    abtio_op **ops = start_many(3, fds[0]);
    ssize_t size = read(told[0], line, sizeof(line) - 1);
    dup2(before, STDERR_FILENO);
    ok(size > 0 && strstr(line, "1 operations wait for a native thread") && strstr(line, "max_threads"),
       "that all threads are blocked is reported");
    diag("%s", line);
    must(abtio_finalize());
    free_many(3, ops, -ECANCELED);
    must(ABT_finalize());
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        close(told[i]);
    }
    close(before);
}

int main(void)
{
    watchdog_begin(0);
    end_many(UNDER_TSAN || is_emulated() ? 100 : 1000, 1000);
    end_many(10000, 16);
    end_many_by_deadline(UNDER_TSAN || is_emulated() ? 100 : 1000);
    end_outsiders(ABTIO_BACKEND_THREADS, "threads");
    end_outsiders(ABTIO_BACKEND_IO_URING, "io_uring");
    release_by_last();
    tell_of_deadlock();
    return done_testing();
}
