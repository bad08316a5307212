/* SPDX-License-Identifier: BSD-3-Clause */
/* ULTs that only yield to one another, in a pool that is not private, must not keep their ES from looking at requests.
 */
#include "regress.h"

static void yield_for_ever(void *arg)
{
    for (;;)
        ABT_thread_yield();
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    for (int num = 1; num <= 2; num++) {
        ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
        ABT_xstream es = make_es(1, &pool);
        for (int i = 0; i < num; i++)
            must(ABT_thread_create(pool, yield_for_ever, NULL, ABT_THREAD_ATTR_NULL, NULL));
        nap_ms(20);
        must(ABT_xstream_cancel(es));
        must(ABT_xstream_free(&es));
        pass("an ES with %d yielding ULTs is cancelled", num);
    }
    must(ABT_finalize());
    return done_testing();
}
