/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_*_slot*: words of a runtime's own per work unit. */
#include "api/handles.h"
#include "pool/slot.h"

ABTI_INLINE bool is_no_slot(int slot)
{
    return (unsigned)slot >= ABTX_NUM_SLOTS;
}

int ABTX_self_set_slot(int slot, void *value)
{
    abti_es *es = abti_es_self;
    if (ABTI_REFUSE(!es))
        return abti_error(ABT_ERR_INV_XSTREAM);
    if (ABTI_REFUSE(is_no_slot(slot)))
        return abti_error(ABT_ERR_INV_ARG);
    abti_slot_set(es->cur, slot, value);
    return ABT_SUCCESS;
}

int ABTX_self_get_slot(int slot, void **value)
{
    abti_es *es = abti_es_self;
    if (ABTI_REFUSE(!es))
        return abti_error(ABT_ERR_INV_XSTREAM);
    if (ABTI_REFUSE(is_no_slot(slot)))
        return abti_error(ABT_ERR_INV_ARG);
    *value = abti_slot_get(es->cur, slot);
    return ABT_SUCCESS;
}

int ABTX_self_get_slot_place(int slot, void *volatile **place)
{
    abti_es *es = abti_es_self;
    if (ABTI_REFUSE(!es))
        return abti_error(ABT_ERR_INV_XSTREAM);
    if (ABTI_REFUSE(is_no_slot(slot)))
        return abti_error(ABT_ERR_INV_ARG);
    *place = (void *volatile *)&abti_unit_cold_get(es->cur)->slots[slot];
    return ABT_SUCCESS;
}

int ABTX_thread_set_slot(ABT_thread thread, int slot, void *value)
{
    if (ABTI_REFUSE(ABTI_THREAD_IS_BAD(thread)))
        return abti_error(ABT_ERR_INV_THREAD);
    if (ABTI_REFUSE(is_no_slot(slot)))
        return abti_error(ABT_ERR_INV_ARG);
    abti_slot_set(thread, slot, value);
    return ABT_SUCCESS;
}

int ABTX_thread_get_slot(ABT_thread thread, int slot, void **value)
{
    if (ABTI_REFUSE(ABTI_THREAD_IS_BAD(thread)))
        return abti_error(ABT_ERR_INV_THREAD);
    if (ABTI_REFUSE(is_no_slot(slot)))
        return abti_error(ABT_ERR_INV_ARG);
    *value = abti_slot_get(thread, slot);
    return ABT_SUCCESS;
}

int ABTX_slot_set_inherited(int slot, ABT_bool inherited)
{
    if (ABTI_REFUSE(!abti_rt_is_up()))
        return abti_error(ABT_ERR_UNINITIALIZED);
    if (ABTI_REFUSE(is_no_slot(slot)))
        return abti_error(ABT_ERR_INV_ARG);
    abti_slot_set_inherited(slot, inherited != ABT_FALSE);
    return ABT_SUCCESS;
}
