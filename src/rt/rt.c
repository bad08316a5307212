#include "rt/rt.h"

struct abti_rt abti_rt;
