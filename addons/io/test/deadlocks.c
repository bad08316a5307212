/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With ABT_DEADLOCK_CHECK=abort a program goes on whose units wait for what comes from outside: by a native thread of
 * the library's, or by a ring. Each case is a process of its own, and what it waits for comes from another process.
 */
#include "child.h"
#include "emulated.h"
#include "io.h"

enum { LATE_MS = 1500 };

static int ends[2]; /* of a pipe */

static void read_one(void *deadline)
{
    char byte;

    if (abtio_read(ends[0], &byte, 1, *(int64_t *)deadline) != 1)
        _exit(2);
}

static void read_later(void *deadline)
{
    abtio_op *op;
    char byte;

    if (abtio_read_nb(ends[0], &byte, 1, *(int64_t *)deadline, &op) || abtio_op_wait(op) != 1)
        _exit(2);
    abtio_op_free(&op);
}

static ssize_t read_natively(void *byte)
{
    return read(ends[0], byte, 1);
}

static void read_in_helper(void *deadline)
{
    char byte;

    if (abtio_blocking(read_natively, &byte, *(int64_t *)deadline) != 1)
        _exit(2);
}

static void read_in_region(void *unused)
{
    char byte;

    (void)unused;
    must(ABTX_blocking_begin());
    if (read(ends[0], &byte, 1) != 1)
        _exit(2);
    must(ABTX_blocking_end());
}

static const struct way {
    const char *name;
    void (*body)(void *);
    bool forever;
} ways[] = {
    {"a read", read_one, true},
    {"a read with a deadline", read_one, false},
    {"an operation", read_later, true},
    {"a function", read_in_helper, true},
    {"a blocking region", read_in_region, true},
};

struct attempt {
    const struct way *way;
    abtio_backend backend;
};

enum { NO_BACKEND = 9 };

static int wait_so(void *attempt_)
{
    const struct attempt *attempt = attempt_;
    abtio_config config = {.backend = attempt->backend};
    int64_t deadline = attempt->way->forever ? ABTIO_FOREVER : abtio_after(60000 * MS);

    setenv("ABT_DEADLOCK_CHECK", "abort", 1);
    must(ABT_init(0, NULL));
    if (abtio_init(&config) != 0)
        return NO_BACKEND;
    in_ult(attempt->way->body, &deadline);
    abtio_finalize();
    must(ABT_finalize());
    return 0;
}

static void write_late(void)
{
    pid_t writer = fork();

    if (writer < 0)
        bail_out("fork");
    if (writer > 0)
        return;
    poll(NULL, 0, LATE_MS);
    _exit(write(ends[1], "a", 1) != 1);
}

static void test_way(const struct way *way, abtio_backend backend, const char *name)
{
    struct attempt attempt = {way, backend};

    if (pipe(ends))
        bail_out("pipe");
    write_late();
    int code = child_run(wait_so, &attempt, NULL, 0);
    while (wait(NULL) > 0)
        continue;
    close(ends[0]);
    close(ends[1]);
    if (code == NO_BACKEND)
        skip(1, "there is no such backend");
    else
        is_int(code, 0, "%s: %s is waited for", name, way->name);
}

int main(void)
{
    watchdog_begin(0);
    if (is_emulated())
        skip_all("the emulator's children of a fork cannot make threads");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        test_way(&ways[i], ABTIO_BACKEND_THREADS, "threads");
        test_way(&ways[i], ABTIO_BACKEND_IO_URING, "io_uring");
    }
    return done_testing();
}
