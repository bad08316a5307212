#include "sync/eventual.h"

#include <stdlib.h>
#include <string.h>

ABT_eventual abti_eventual_create(int size)
{
    /* The value lies behind the eventual, so many bytes that it is aligned for every type. */
    char *memory = calloc(1, sizeof(ABT_eventual_memory) + (size_t)size);
    if (!memory)
        return NULL;
    ABT_eventual eventual = (ABT_eventual)memory;
    eventual->size = size;
    if (size > 0)
        eventual->value = memory + sizeof(ABT_eventual_memory);
    return eventual;
}

void abti_eventual_destroy(ABT_eventual eventual)
{
    free(eventual);
}

int abti_eventual_set(ABT_eventual eventual, const void *value, int size)
{
    abti_spin_lock(&eventual->gate.lock);
    /* relaxed: under the lock */
    if (abti_load_relaxed(&eventual->gate.open)) {
        abti_spin_unlock(&eventual->gate.lock);
        return ABT_ERR_EVENTUAL;
    }
    if (size > 0)
        memcpy(eventual->value, value, (size_t)size);
    abti_gate_open_locked(&eventual->gate);
    return ABT_SUCCESS;
}
