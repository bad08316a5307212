/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "os/annotate.h"
#include "rt/handle.h"
#include "sync/mutex.h"

#define MUTEX_IS_NULL(h) ABTI_IS_NULL(h, ABT_MUTEX_NULL)
#define MUTEX_IS_BAD(h) ABTI_IS_BAD(h, ABT_MUTEX_NULL, ABTI_HANDLE_MUTEX)
#define ATTR_IS_BAD(h) ABTI_IS_BAD(h, ABT_MUTEX_ATTR_NULL, ABTI_HANDLE_MUTEX_ATTR)

static int create_mutex(uint32_t attrs, ABT_mutex *newmutex, const char *function)
{
    ABTI_PRESET_OUT(newmutex, ABT_MUTEX_NULL);
    ABT_mutex mutex = calloc(1, sizeof(*mutex));
    if (!mutex)
        return abti_error_in(ABT_ERR_MEM, function);
    atomic_init(&mutex->word, attrs);
    abti_ledger_made(mutex, ABTI_HANDLE_MUTEX);
    *newmutex = mutex;
    return ABT_SUCCESS;
}

int ABT_mutex_create(ABT_mutex *newmutex)
{
    return create_mutex(0, newmutex, __func__);
}

int ABT_mutex_create_with_attr(ABT_mutex_attr attr, ABT_mutex *newmutex)
{
    if (ABTI_IS_NULL(attr, ABT_MUTEX_ATTR_NULL))
        return create_mutex(0, newmutex, __func__);
    ABTI_REFUSE_IF(ATTR_IS_BAD(attr), ABT_ERR_INV_MUTEX_ATTR);
    return create_mutex(attr->attrs, newmutex, __func__);
}

int ABT_mutex_free(ABT_mutex *mutex)
{
    ABTI_REFUSE_IF(MUTEX_IS_BAD(*mutex), ABT_ERR_INV_MUTEX);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*mutex, ABTI_HANDLE_MUTEX, __func__)), ABT_ERR_INV_MUTEX);
    abti_ledger_free(*mutex);
    *mutex = ABT_MUTEX_NULL;
    return ABT_SUCCESS;
}

/* --- Locking: the three kinds of lock and of unlock are the same --- */

static ABTI_COLD int mutex_lock_checked(ABT_mutex mutex, const char *function)
{
    if (ABTI_REFUSE(MUTEX_IS_NULL(mutex)))
        return abti_error_in(ABT_ERR_INV_MUTEX, function);
    if (ABTI_MISUSED(abti_misuse_of_lock(mutex, function)))
        return abti_error_in(ABT_ERR_INV_MUTEX, function);
    abti_mutex_lock_slow(mutex);
    abti_annotate_acquire(mutex);
    return ABT_SUCCESS;
}

static ABTI_COLD int mutex_unlock_checked(ABT_mutex mutex, const char *function)
{
    if (ABTI_REFUSE(MUTEX_IS_NULL(mutex)))
        return abti_error_in(ABT_ERR_INV_MUTEX, function);
    if (ABTI_MISUSED(abti_misuse_of_unlock(mutex, function)))
        return abti_error_in(ABT_ERR_INV_MUTEX, function);
    abti_annotate_release(mutex);
    return abti_mutex_unlock_slow(mutex);
}

ABTI_INLINE int lock_mutex(ABT_mutex mutex, const char *function)
{
    if (abti_handle_is_to_check(mutex))
        return mutex_lock_checked(mutex, function);
    return abti_mutex_lock(mutex);
}

ABTI_INLINE int unlock_mutex(ABT_mutex mutex, const char *function)
{
    if (abti_handle_is_to_check(mutex))
        return mutex_unlock_checked(mutex, function);
    return abti_mutex_unlock(mutex);
}

ABTI_HOT int ABT_mutex_lock(ABT_mutex mutex)
{
    return lock_mutex(mutex, __func__);
}

int ABT_mutex_lock_low(ABT_mutex mutex)
{
    return lock_mutex(mutex, __func__);
}

int ABT_mutex_lock_high(ABT_mutex mutex)
{
    return lock_mutex(mutex, __func__);
}

int ABT_mutex_trylock(ABT_mutex mutex)
{
    ABTI_REFUSE_IF(MUTEX_IS_BAD(mutex), ABT_ERR_INV_MUTEX);
    ABTI_FAIL_IF(!abti_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED);
    abti_annotate_acquire(mutex);
    return ABT_SUCCESS;
}

int ABT_mutex_spinlock(ABT_mutex mutex)
{
    ABTI_REFUSE_IF(MUTEX_IS_NULL(mutex), ABT_ERR_INV_MUTEX);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_lock(mutex, __func__)), ABT_ERR_INV_MUTEX);
    abti_spin_until(abti_mutex_trylock(mutex));
    abti_annotate_acquire(mutex);
    return ABT_SUCCESS;
}

ABTI_HOT int ABT_mutex_unlock(ABT_mutex mutex)
{
    return unlock_mutex(mutex, __func__);
}

int ABT_mutex_unlock_se(ABT_mutex mutex)
{
    return unlock_mutex(mutex, __func__);
}

int ABT_mutex_unlock_de(ABT_mutex mutex)
{
    return unlock_mutex(mutex, __func__);
}

int ABT_mutex_equal(ABT_mutex mutex1, ABT_mutex mutex2, ABT_bool *result)
{
    bool null1 = MUTEX_IS_NULL(mutex1), null2 = MUTEX_IS_NULL(mutex2);
    *result = null1 || null2 ? null1 == null2 : mutex1 == mutex2;
    return ABT_SUCCESS;
}

/* --- Attributes --- */

static int create_attr(uint32_t attrs, ABT_mutex_attr *newattr, const char *function)
{
    ABT_mutex_attr attr = malloc(sizeof(*attr));
    if (!attr)
        return abti_error_in(ABT_ERR_MEM, function);
    attr->attrs = attrs;
    abti_ledger_made(attr, ABTI_HANDLE_MUTEX_ATTR);
    *newattr = attr;
    return ABT_SUCCESS;
}

int ABT_mutex_get_attr(ABT_mutex mutex, ABT_mutex_attr *attr)
{
    ABTI_REFUSE_IF(MUTEX_IS_BAD(mutex), ABT_ERR_INV_MUTEX);
    return create_attr(abti_mutex_is_recursive(mutex) ? ABTI_MUTEX_RECURSIVE : 0, attr, __func__);
}

int ABT_mutex_attr_create(ABT_mutex_attr *newattr)
{
    return create_attr(0, newattr, __func__);
}

int ABT_mutex_attr_free(ABT_mutex_attr *attr)
{
    ABTI_REFUSE_IF(ATTR_IS_BAD(*attr), ABT_ERR_INV_MUTEX_ATTR);
    abti_ledger_free(*attr);
    *attr = ABT_MUTEX_ATTR_NULL;
    return ABT_SUCCESS;
}

int ABT_mutex_attr_set_recursive(ABT_mutex_attr attr, ABT_bool recursive)
{
    ABTI_REFUSE_IF(ATTR_IS_BAD(attr), ABT_ERR_INV_MUTEX_ATTR);
    attr->attrs = recursive ? ABTI_MUTEX_RECURSIVE : 0;
    return ABT_SUCCESS;
}

int ABT_mutex_attr_get_recursive(ABT_mutex_attr attr, ABT_bool *recursive)
{
    ABTI_REFUSE_IF(ATTR_IS_BAD(attr), ABT_ERR_INV_MUTEX_ATTR);
    *recursive = attr->attrs & ABTI_MUTEX_RECURSIVE ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}
