#include "run/switch.h"

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    return abti_leave(es, self, next, after, arg);
}
