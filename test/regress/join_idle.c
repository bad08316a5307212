/* SPDX-License-Identifier: BSD-3-Clause */
/* An ES that is being joined while ULTs are blocked out of its pool has nothing to do: it must not burn its CPU. */
#include "regress.h"

static ABT_thread blocked;

static void block(void *arg)
{
    must(ABT_self_get_thread(&blocked));
    atomic_store((atomic_bool *)arg, true);
    must(ABT_self_suspend());
}

static void *resume_later(void *arg)
{
    *(double *)arg = cpu_share(CLOCK_PROCESS_CPUTIME_ID, 300, 0.3);
    must(ABT_thread_resume(blocked));
    return NULL;
}

int main(void)
{
    atomic_bool there = false;
    pthread_t native;
    double share;

    regress_begin();
    must(ABT_init(0, NULL));
    if (policy_is_active())
        skip_all("the active wait policy burns its CPU");
    ABT_xstream es = new_xstream();
    must(ABT_thread_create_on_xstream(es, block, &there, ABT_THREAD_ATTR_NULL, NULL));
    while (!atomic_load(&there))
        nap_ms(1);
    must(pthread_create(&native, NULL, resume_later, &share));
    must(ABT_xstream_free(&es));
    pthread_join(native, NULL);
    ok(share < 0.3, "%.2f %% of a CPU", share * 100);
    must(ABT_finalize());
    return done_testing();
}
