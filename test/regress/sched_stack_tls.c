/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A main scheduler runs on its native thread's stack, of which the program's thread-local variables take a part: what
 * ABT_thread_get_stack says of it lies within the thread's stack nevertheless. The library's own threads, whose stacks
 * are small, start nevertheless, too.
 */
#include <dirent.h>
#include <errno.h>

#include "regress.h"

/* More than the library leaves aside for such things. */
static _Thread_local volatile char large[3 << 20];

static bool is_within;

static void run(ABT_sched sched)
{
    ABT_bool stop;
    ABT_thread self;
    pthread_attr_t attr;
    void *addr, *low;
    size_t size, all;

    if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getstack(&attr, &low, &all))
        bail_out("pthread_getattr_np: %s", strerror(errno));
    pthread_attr_destroy(&attr);
    must(ABT_self_get_thread(&self));
    must(ABT_thread_get_stack(self, &addr, &size));
    is_within = (char *)addr >= (char *)low && (char *)addr + size <= (char *)low + all;
    diag("%zu bytes at %p, of %zu at %p", size, addr, all, low);
    large[0] = 1;
    do {
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    } while (!stop);
}

static int num_threads(void)
{
    int num = 0;
    DIR *tasks = opendir("/proc/self/task");

    while (tasks && readdir(tasks))
        num++;
    if (tasks)
        closedir(tasks);
    return num - 2; /* . and .. */
}

int main(void)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = sched_is_ready, .run = run};
    ABT_pool pool;
    ABT_sched sched;
    ABT_xstream es;

    regress_begin();
    must(setenv("ABT_SCHED_STACKSIZE", "4194304", 1));
    must(setenv("ABT_DEADLOCK_CHECK", "cycles", 1));
    int before = num_threads();
    must(ABT_init(0, NULL));
    /* TSan adds a thread of its own to the first one. */
    ok(before <= 0 || num_threads() > before, "the deadlock check has its thread");
    pool = make_pool(ABT_POOL_ACCESS_MPMC);
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
    ok(is_within, "the stack of a main scheduler lies within its thread's");
    must(ABT_finalize());
    return done_testing();
}
