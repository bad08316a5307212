/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do units wait for a library that can only be asked whether something has come? A driver with one leader asks,
 * with pauses that grow while nothing comes, and a unit that waits looks by itself before it leaves its stream.
 *
 *   cc leader.c $(pkg-config --cflags --libs argobots) -o leader
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MESSAGES = 20, SHORT_NS = 1000, LONG_NS = 1000000 };

/* Stands for the library: a message comes each hundredth time that somebody asks. */
static atomic_int asked, received;
static int64_t pause_ns = SHORT_NS; /* the leader's */

static ABTX_driver driver;
static ABT_eventual message;

static ABT_bool ask(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    if (atomic_fetch_add(&asked, 1) % 100 != 99) {
        pause_ns = pause_ns < LONG_NS ? 2 * pause_ns : LONG_NS;
        ABTX_driver_set_max_sleep(driver, pause_ns);
        return ABT_FALSE;
    }
    pause_ns = SHORT_NS;
    ABTX_driver_set_max_sleep(driver, pause_ns);
    received++;
    ABT_eventual_set(message, NULL, 0);
    return ABT_TRUE;
}

static void receives(void *arg)
{
    ABT_bool found = ABT_FALSE, alone = ABT_FALSE;
    (void)arg;
    for (int i = 0; i < MESSAGES; i++) {
        ABTX_driver_lead(driver); /* the stream whose ULT waits is the one that asks */
        ABTX_self_is_alone(&alone);
        for (int looks = 0; looks < (alone ? 50 : 1) && !found; looks++)
            ABTX_driver_look(driver, &found);
        ABT_eventual_wait(message, NULL);
        ABT_eventual_reset(message);
        found = ABT_FALSE;
    }
}

int main(int argc, char **argv)
{
    /* Its callbacks keep nothing of their native thread: blocking regions hand its streams over. */
    static const ABTX_driver_ops ops = {.poll = ask, .one_leader = ABT_TRUE, .any_thread = ABT_TRUE};
    ABT_xstream stream;
    ABT_thread unit;

    if (ABT_init(argc, argv) != ABT_SUCCESS || ABTX_driver_create(&ops, NULL, &driver) != ABT_SUCCESS)
        return 1;
    ABT_eventual_create(0, &message);
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABTX_driver_attach_all(driver);
    ABT_thread_create_on_xstream(stream, receives, NULL, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit);
    ABTX_driver_free(&driver);
    ABT_xstream_free(&stream);
    ABT_eventual_free(&message);
    printf("%d messages received\n", (int)received);
    ABT_finalize();
    return received < MESSAGES;
}
