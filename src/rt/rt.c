#include "rt/rt.h"

struct abti_rt abti_rt = {
    .external_lock = ABTI_SPIN_INIT(ABTI_RANK_EXTERNAL),
    .lock = ABTI_SPIN_INIT(ABTI_RANK_RT),
};
