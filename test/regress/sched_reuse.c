/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler that was told to finish, or to make room for another, kept that request when it was used again: its next
 * stream ended at once.
 */
#include "regress.h"

static ABT_xstream_state stream_state(ABT_xstream xstream)
{
    ABT_xstream_state state;

    must(ABT_xstream_get_state(xstream, &state));
    return state;
}

int main(void)
{
    ABT_sched_config config;
    ABT_xstream xstream;
    ABT_sched sched;
    ABT_bool stop = ABT_TRUE;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 0, NULL, config, &sched));
    must(ABT_xstream_create(sched, &xstream));
    must(ABT_xstream_free(&xstream));

    ok_abt(ABT_sched_has_to_stop(sched, &stop));
    is_int(stop, ABT_FALSE, "an unused scheduler has nothing to do with its last stream's end");
    must(ABT_xstream_create(sched, &xstream));
    nap_ms(50);
    is_int(stream_state(xstream), ABT_XSTREAM_STATE_RUNNING, "a stream with a scheduler that had another one runs on");
    must(ABT_xstream_join(xstream));
    must(ABT_xstream_set_main_sched(xstream, ABT_SCHED_NULL));
    must(ABT_xstream_free(&xstream));

    must(ABT_xstream_self(&xstream));
    must(ABT_xstream_set_main_sched(xstream, sched));
    must(ABT_xstream_set_main_sched(xstream, ABT_SCHED_NULL));
    ok_abt(ABT_sched_has_to_stop(sched, &stop));
    is_int(stop, ABT_FALSE, "one that was replaced is as good as new");
    must(ABT_sched_free(&sched));
    must(ABT_sched_config_free(&config));
    must(ABT_finalize());
    return done_testing();
}
