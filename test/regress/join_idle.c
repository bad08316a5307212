/* An ES that is being joined while ULTs are blocked out of its pool has nothing to do: it must not burn its CPU. */
#include "regress.h"

#include <sys/resource.h>

static ABT_thread blocked;

static void block(void *arg)
{
    must(ABT_self_get_thread(&blocked));
    atomic_store((atomic_bool *)arg, true);
    must(ABT_self_suspend());
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void *resume_later(void *arg)
{
    double *cpu = arg, start = cpu_seconds();

    nap_ms(500);
    *cpu = cpu_seconds() - start;
    must(ABT_thread_resume(blocked));
    return NULL;
}

int main(void)
{
    ABT_xstream es;
    atomic_bool there = false;
    pthread_t native;
    double cpu;
    int policy;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_WAIT_POLICY, &policy));
    if (policy == 1)
        skip_all("the active wait policy burns its CPU");
    must(ABT_xstream_create(ABT_SCHED_NULL, &es));
    must(ABT_thread_create_on_xstream(es, block, &there, ABT_THREAD_ATTR_NULL, NULL));
    while (!atomic_load(&there))
        nap_ms(1);
    must(pthread_create(&native, NULL, resume_later, &cpu));
    must(ABT_xstream_free(&es));
    pthread_join(native, NULL);
    ok(cpu < 0.25, "%.3f s of CPU in 0.5 s", cpu);
    must(ABT_finalize());
    return done_testing();
}
