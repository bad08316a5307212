#include "core/rt.h"

struct abti_rt abti_rt;
