/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/handles.h"
#include "rt/rt.h"
#include "unit/key.h"

int ABT_key_create(void (*destructor)(void *value), ABT_key *newkey)
{
    ABT_key key = malloc(sizeof(*key));

    ABTI_FAIL_IF(!key, ABT_ERR_MEM);
    abti_key_init(key, destructor);
    abti_ledger_made(key, ABTI_HANDLE_KEY);
    *newkey = key;
    return ABT_SUCCESS;
}

int ABT_key_free(ABT_key *key)
{
    ABTI_REFUSE_IF(ABTI_KEY_IS_BAD(*key), ABT_ERR_INV_KEY);
    abti_ledger_free(*key);
    *key = ABT_KEY_NULL;
    return ABT_SUCCESS;
}

int ABT_key_set(ABT_key key, void *value)
{
    return ABT_self_set_specific(key, value);
}

int ABT_key_get(ABT_key key, void **value)
{
    ABTI_REFUSE_IF(ABTI_KEY_IS_BAD(key), ABT_ERR_INV_KEY);
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    return ABT_self_get_specific(key, value);
}
