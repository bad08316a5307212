/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT is pushed once more while it is queued in its pool, and again when it has ended.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_pool_push_thread: ULT 0x[0-9a-f]+ of .* \(created by .* ULT\) is queued in pool 0x[0-9a-f]+,
 * and has not been popped
 * says: libabt: ABT_pool_push_thread: ULT 0x[0-9a-f]+ of .* \(created by the primary ULT\) has ended
 */
#include <abt.h>

static void work(void *arg)
{
    (void)arg;
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_pool pool;
    ABT_xstream_self(&xstream);
    ABT_xstream_get_main_pools(xstream, 1, &pool);
    ABT_thread thread;
    ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_pool_push_thread(pool, thread);
    ABT_thread_join(thread);
    ABT_pool_push_thread(pool, thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}
