/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/rt.h"

#include <string.h>

struct abti_rt abti_rt = {
    .external_lock = ABTI_SPIN_INIT(ABTI_RANK_EXTERNAL),
    .lock = ABTI_SPIN_INIT(ABTI_RANK_RT),
};

void abti_rt_forget(void)
{
    struct abti_config config = abti_rt.config;
    memset(&abti_rt, 0, sizeof(abti_rt));
    abti_spin_init(&abti_rt.external_lock, ABTI_RANK_EXTERNAL);
    abti_spin_init(&abti_rt.lock, ABTI_RANK_RT);
    abti_rt.config = config;
}
