/* SPDX-License-Identifier: BSD-3-Clause */
/* Halting: when all streams are halted, who acts, what is dropped, and what happens when one does not come. */
#include <abt.h>
#include <sched.h>

#include "rt/rt.h"
#include "stream/halt.h"
#include "tap.h"
#include "watchdog.h"

enum { SECONDARY = 2, ROUNDS = 200 };

static ABT_xstream xstreams[SECONDARY];
static atomic_int acts, moving, dones, late, to_post;

static void act(const struct abti_halt_request *request, bool timed_out)
{
    atomic_fetch_add(&acts, 1);
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next)
        atomic_fetch_add(&moving, !abti_halt_is_still(es));
    abti_spin_unlock(&abti_rt.lock);
    if (timed_out != (request->timeout >= 0.0))
        atomic_fetch_add(&late, 1000); /* no other outcome is expected in this test */
}

static void done(ABT_bool timed_out, void *arg);

static struct abti_halt_request request_of(double timeout)
{
    return (struct abti_halt_request){.timeout = timeout, .act = act, .done = done, .arg = &dones};
}

static void done(ABT_bool timed_out, void *arg)
{
    const struct abti_halt_request request = request_of(-1.0);

    atomic_fetch_add(&late, timed_out == ABT_TRUE);
    if (atomic_load(&to_post) > 0) {
        atomic_fetch_sub(&to_post, 1);
        abti_halt_post(&request);
    }
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void await_done(int num)
{
    while (atomic_load(&dones) < num)
        ABT_thread_yield();
}

static void reset(void)
{
    atomic_store(&acts, 0);
    atomic_store(&moving, 0);
    atomic_store(&dones, 0);
    atomic_store(&late, 0);
}

static void test_rounds(void)
{
    const struct abti_halt_request request = request_of(-1.0);

    reset();
    for (int i = 0; i < ROUNDS; i++) {
        abti_halt_post(&request);
        abti_halt_post(&request); /* dropped: the calling stream has not halted for the first one */
        await_done(i + 1);
    }
    is_int(atomic_load(&acts), ROUNDS, "one stream acts in each round, and a post meanwhile is dropped");
    is_int(atomic_load(&moving), 0, "all others are halted");
    is_int(atomic_load(&late), 0, "none was late");
    atomic_store(&to_post, 3);
    abti_halt_post(&request);
    await_done(ROUNDS + 4);
    is_int(atomic_load(&acts), ROUNDS + 4, "the end of a round may post the next one");
}

static atomic_bool go_on;
static atomic_bool started;

static void keep_running(void *arg)
{
    atomic_store(&started, true);
    while (!atomic_load(&go_on))
        sched_yield();
}

static void test_timeout(void)
{
    const struct abti_halt_request request = request_of(0.01);
    ABT_task task;

    reset();
    ABT_task_create_on_xstream(xstreams[0], keep_running, NULL, &task);
    while (!atomic_load(&started))
        ABT_thread_yield();
    abti_halt_post(&request);
    await_done(1);
    is_int(atomic_load(&acts), 1, "a stream that does not come is not waited for, for longer than was said");
    ok(atomic_load(&moving) >= 1, "it still moves");
    is_int(atomic_load(&late), 1, "as the callbacks are told");
    atomic_store(&go_on, true);
    ABT_task_free(&task);
}

int main(void)
{
    const struct abti_halt_request request = request_of(-1.0);

    watchdog_begin(0);
    abti_halt_post(&request);
    is_int(atomic_load(&acts), 0, "nothing happens before ABT_init");
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    for (int i = 0; i < SECONDARY; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &xstreams[i]);
    test_rounds();
    test_timeout();
    for (int i = 0; i < SECONDARY; i++)
        ABT_xstream_free(&xstreams[i]);
    ABT_finalize();
    return done_testing();
}
