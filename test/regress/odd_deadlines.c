/* SPDX-License-Identifier: BSD-3-Clause */
/* Nanoseconds far below zero overflowed: a deadline that is centuries over never came. */
#include <limits.h>

#include "regress.h"

static const long nanoseconds[] = {LONG_MIN, LONG_MIN + 1, LONG_MIN / 2};

/* The next seconds: with so many nanoseconds less it is over. */
static struct timespec long_ago(long ns)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return (struct timespec){.tv_sec = at.tv_sec + 100, .tv_nsec = ns};
}

static void wait_for_each(void *arg)
{
    const char *who = arg;
    ABT_cond cond;
    ABT_mutex mutex;
    ABT_eventual eventual;

    must(ABT_cond_create(&cond));
    must(ABT_mutex_create(&mutex));
    must(ABT_eventual_create(0, &eventual));
    for (size_t i = 0; i < sizeof(nanoseconds) / sizeof(nanoseconds[0]); i++) {
        struct timespec at = long_ago(nanoseconds[i]);
        must(ABT_mutex_lock(mutex));
        is_int(ABT_cond_timedwait(cond, mutex, &at), ABT_ERR_COND_TIMEDOUT, "%s: condition, %ld ns", who, at.tv_nsec);
        must(ABT_mutex_unlock(mutex));
        is_int(ABT_eventual_timedwait(eventual, NULL, &at), ABT_ERR_COND_TIMEDOUT, "%s: eventual, %ld ns", who,
               at.tv_nsec);
    }
    must(ABT_eventual_free(&eventual));
    must(ABT_mutex_free(&mutex));
    must(ABT_cond_free(&cond));
}

static void *native_main(void *arg)
{
    wait_for_each(arg);
    return NULL;
}

int main(void)
{
    ABT_thread ult;
    pthread_t native;

    regress_begin();
    must(ABT_init(0, NULL));
    ABT_xstream es = new_xstream();
    wait_for_each("primary ULT");
    must(ABT_thread_create_on_xstream(es, wait_for_each, "ULT", ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    must(pthread_create(&native, NULL, native_main, "native thread"));
    pthread_join(native, NULL);
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
    return done_testing();
}
