#include "run/switch.h"

int abti_switch_keeping(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    struct abti_cxx_globals kept;
    abti_exceptions_take(es, &kept);
    int code = abti_switch(es, self, to, after, arg);
    abti_exceptions_pick_up(&kept);
    return code;
}

int abti_start_keeping(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    struct abti_cxx_globals kept;
    abti_exceptions_take(es, &kept);
    int code = abti_start(es, self, to, after, arg);
    abti_exceptions_pick_up(&kept);
    return code;
}

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    return abti_leave(es, self, next, after, arg);
}
