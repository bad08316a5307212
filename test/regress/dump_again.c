/* SPDX-License-Identifier: BSD-3-Clause */
/* Who hears that a dump has been made asks for another one: it must not count as one request too many. */
#include "regress.h"

enum { DUMPS = 50 };

static FILE *nowhere;
static atomic_int calls;

static void make_another(ABT_bool timed_out, void *arg)
{
    ABT_xstream self;
    ABT_sched sched;

    if (atomic_load(&calls) + 1 < DUMPS)
        must(ABT_info_trigger_print_all_thread_stacks(nowhere, *(double *)arg, make_another, arg));
    /* Not now: the streams are still halted for this one. */
    must(ABT_xstream_self(&self));
    must(ABT_xstream_get_main_sched(self, &sched));
    must(ABT_xstream_check_events(sched));
    atomic_fetch_add(&calls, 1);
}

static void count_call(ABT_bool timed_out, void *arg)
{
    (void)timed_out, (void)arg;
    atomic_fetch_add(&calls, 1);
}

static void *ask_again(void *timeout)
{
    for (int i = 0; i < DUMPS; i++) {
        must(ABT_info_trigger_print_all_thread_stacks(nowhere, *(double *)timeout, count_call, NULL));
        while (atomic_load(&calls) <= i)
            continue;
    }
    return NULL;
}

static void yield_for_ever(void *stop)
{
    while (!atomic_load((atomic_bool *)stop))
        must(ABT_thread_yield());
}

static void test_dumps(double timeout, const char *what)
{
    pthread_t native;

    atomic_store(&calls, 0);
    must(ABT_info_trigger_print_all_thread_stacks(nowhere, timeout, make_another, &timeout));
    while (atomic_load(&calls) < DUMPS)
        must(ABT_thread_yield());
    pass("%s: the callback asks again", what);
    atomic_store(&calls, 0);
    must(pthread_create(&native, NULL, ask_again, &timeout));
    while (atomic_load(&calls) < DUMPS)
        must(ABT_thread_yield());
    pthread_join(native, NULL);
    pass("%s: another thread asks again", what);
}

int main(void)
{
    ABT_xstream es[3];
    ABT_thread thread;
    atomic_bool stop = false;

    regress_begin();
    nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        skip_all("no /dev/null");
    must(ABT_init(0, NULL));
    test_dumps(-1.0, "one ES");
    for (int i = 0; i < 3; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &es[i]));
    must(ABT_thread_create_on_xstream(es[0], yield_for_ever, &stop, ABT_THREAD_ATTR_NULL, &thread));
    test_dumps(-1.0, "four ESs");
    test_dumps(0.0, "without waiting for all");
    atomic_store(&stop, true);
    must(ABT_thread_free(&thread));
    for (int i = 0; i < 3; i++)
        must(ABT_xstream_free(&es[i]));
    ok_abt(ABT_finalize());
    fclose(nowhere);
    return done_testing();
}
