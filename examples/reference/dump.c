/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * My program hangs: what does everybody do? A signal handler asks for the stacks of all units. The streams stop at
 * their next look at events, one of them prints, and all go on. (ABT_DUMP_SIGNAL=USR1 does so without any code.)
 *
 *   cc dump.c $(pkg-config --cflags --libs argobots) -o dump
 */
#include <abt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int answers;

/* Called by the stream that has printed. */
static void is_done(ABT_bool timed_out, void *arg)
{
    printf("%s: %s\n", (const char *)arg, timed_out ? "some streams did not stop" : "all streams had stopped");
    answers = 1;
}

static void on_signal(int number)
{
    (void)number;
    /* 0.1 s at most: a stream that runs one unit without end does not stop, and is named. */
    ABT_info_trigger_print_all_thread_stacks(stdout, 0.1, is_done, (void *)"the stacks are printed");
}

static void waits(void *arg)
{
    ABT_eventual_wait(*(ABT_eventual *)arg, NULL);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_thread unit;
    ABT_eventual eventual;

    if (ABT_init(argc, argv) != ABT_SUCCESS || signal(SIGUSR1, on_signal) == SIG_ERR)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_eventual_create(0, &eventual);
    ABT_thread_create_on_xstream(stream, waits, &eventual, ABT_THREAD_ATTR_NULL, &unit);
    raise(SIGUSR1); /* as kill -USR1 from a shell */
    while (!answers)
        ABT_self_yield();
    ABT_eventual_set(eventual, NULL, 0);
    ABT_thread_free(&unit);
    ABT_eventual_free(&eventual);
    ABT_xstream_free(&stream);
    ABT_finalize();
    return 0;
}
