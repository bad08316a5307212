/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a region call libabtio, as native threads, and then, when they have tasks, as streams, where its driver is
 * from then on. While their threads sleep, between regions, at a barrier or in a critical region, they answer what
 * others ask of their streams.
 */
#include <abt.h>
#include <abtio.h>
#include <omp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "must.h"
#include "tap.h"
#include "watchdog.h"

enum { MEMBERS = 4, ROUNDS = 3, MS = 1000000 };

static const abtio_config *config;
static bool has_tasks;

/* Of a member: it is a stream when it has a task. */
static void become_stream(void)
{
    if (has_tasks) {
#pragma omp task
        (void)omp_get_thread_num();
    }
}

static void begin(void)
{
    must(ABT_init(0, NULL));
    is_int(abtio_init(config), 0, "abtio_init");
}

static int slept(int num)
{
    int wrong = 0;
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    {
        become_stream();
        wrong += abtio_sleep(MS, ABTIO_FOREVER) != 0;
    }
    return wrong;
}

/* Members that the last region does not have sleep elsewhere than the others. */
static void after_regions(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        begin();
        is_int(slept(MEMBERS) + slept(2), 0, "members sleep by libabtio");
        is_int(abtio_finalize(), 0, "abtio_finalize, while members are between regions");
        must(ABT_finalize());
    }
}

static void inside(void)
{
    int wrong = 0, code = -1;
    begin();
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    {
        become_stream();
        wrong += abtio_sleep(MS, ABTIO_FOREVER) != 0;
#pragma omp barrier
#pragma omp single
        code = abtio_finalize();
    }
    is_int(wrong, 0, "members sleep");
    is_int(code, 0, "abtio_finalize, while members are at a barrier");
    must(ABT_finalize());
}

/* Each has a read of its own under way when it is at the barrier, which another member waits for. */
static void reads(void)
{
    int wrong = 0, fds[MEMBERS][2];
    char bytes[MEMBERS];
    abtio_op *ops[MEMBERS];
    begin();
    for (int i = 0; i < MEMBERS; i++)
        wrong += socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]) < 0;
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    {
        int me = omp_get_thread_num();
        become_stream();
        wrong += abtio_recv_nb(fds[me][0], &bytes[me], 1, 0, ABTIO_FOREVER, &ops[me]) != 0;
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < MEMBERS; i++) {
            wrong += write(fds[i][1], "x", 1) != 1;
            wrong += abtio_op_wait(ops[i]) != 1;
            abtio_op_free(&ops[i]);
        }
    }
    is_int(wrong, 0, "a member waits for what others, at a barrier, have begun");
    for (int i = 0; i < MEMBERS; i++) {
        close(fds[i][0]);
        close(fds[i][1]);
    }
    is_int(abtio_finalize(), 0, "abtio_finalize");
    must(ABT_finalize());
}

/* One member has the critical region, and waits for what another one, which waits for that region, has begun. */
static void critical(void)
{
    int wrong = 0, fds[2] = {-1, -1};
    char byte;
    abtio_op *op;
    begin();
    wrong += socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
        become_stream();
        if (omp_get_thread_num() == 1)
            wrong += abtio_recv_nb(fds[0], &byte, 1, 0, ABTIO_FOREVER, &op) != 0;
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            abtio_sleep(2 * MS, ABTIO_FOREVER);
#pragma omp critical
        if (omp_get_thread_num() == 0) {
            abtio_sleep(20 * MS, ABTIO_FOREVER);
            wrong += write(fds[1], "x", 1) != 1;
            wrong += abtio_op_wait(op) != 1;
        }
    }
    abtio_op_free(&op);
    is_int(wrong, 0, "a member waits for what another has begun, which waits for a critical region");
    close(fds[0]);
    close(fds[1]);
    is_int(abtio_finalize(), 0, "abtio_finalize");
    must(ABT_finalize());
}

int main(void)
{
    static const abtio_config configs[] = {{.backend = ABTIO_BACKEND_AUTO}, {.backend = ABTIO_BACKEND_THREADS}};
    watchdog_begin(0);
    for (int i = 0; i < 4; i++) {
        config = &configs[i % 2];
        has_tasks = i >= 2;
        after_regions();
        inside();
        reads();
        critical();
    }
    return done_testing();
}
