/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler is asked to finish, or its unit resumed, by a thread that is still on its way back when the stream has
 * ended for that, and is freed. (It looked at the stream, to wake it, after that. AddressSanitizer sees it.)
 */
#include "regress.h"

enum { REQUESTING, RESUMING };

static _Atomic(ABT_thread) suspended;
static ABT_sched sched;
static atomic_bool stop;

static void *request(void *arg)
{
    while (!atomic_load(&stop)) {
        must(ABT_sched_exit(sched));
        must(ABT_sched_finish(sched));
    }
    return arg;
}

/* The unit may have said who it is, and be still about to suspend itself. */
static void *resume(void *arg)
{
    while (!atomic_load(&stop)) {
        ABT_thread thread = atomic_exchange(&suspended, NULL);
        while (thread && ABT_thread_resume(thread) != ABT_SUCCESS)
            continue;
    }
    return arg;
}

static void sched_run(ABT_sched self)
{
    ABT_bool stops = ABT_FALSE;
    ABT_thread thread;

    must(ABT_self_get_thread(&thread));
    while (!stops) {
        atomic_store(&suspended, thread);
        must(ABT_self_suspend());
        must(ABT_sched_has_to_stop(self, &stops));
    }
}

static ABT_sched make_sched(int how)
{
    ABT_sched_def def = {ABT_SCHED_TYPE_ULT, sched_is_ready, sched_run, sched_is_left, NULL};
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_sched_config config;
    ABT_sched made;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, ABT_FALSE, ABT_sched_config_var_end));
    if (how == REQUESTING)
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, config, &made));
    else
        must(ABT_sched_create(&def, 1, &pool, config, &made));
    must(ABT_sched_config_free(&config));
    return made;
}

static void test(int how, const char *what)
{
    pthread_t native;
    long rounds = 0;

    sched = make_sched(how);
    atomic_store(&stop, false);
    must(pthread_create(&native, NULL, how == REQUESTING ? request : resume, NULL));
    for (double end = now() + 1; now() < end; rounds++) {
        ABT_xstream es;
        must(ABT_xstream_create(sched, &es));
        must(ABT_xstream_free(&es));
    }
    atomic_store(&stop, true);
    pthread_join(native, NULL);
    must(ABT_sched_free(&sched));
    pass("%ld streams freed, %s", rounds, what);
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    test(REQUESTING, "whose scheduler is asked to end");
    test(RESUMING, "whose scheduler's unit is resumed");
    must(ABT_finalize());
    return done_testing();
}
