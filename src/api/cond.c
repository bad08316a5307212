#include <stdlib.h>
#include "api/waiting.h"
#include "os/clock.h"
#include "sync/cond.h"

#define COND_IS_NULL(h) ABTI_IS_NULL(h, ABT_COND_NULL)
#define MUTEX_IS_NULL(h) ABTI_IS_NULL(h, ABT_MUTEX_NULL)

int ABT_cond_create(ABT_cond *newcond)
{
    ABTI_PRESET_OUT(newcond, ABT_COND_NULL);
    ABT_cond cond = calloc(1, sizeof(*cond));
    if (!cond)
        return abti_error(ABT_ERR_MEM);
    *newcond = cond;
    return ABT_SUCCESS;
}

int ABT_cond_free(ABT_cond *cond)
{
    if (ABTI_REFUSE(COND_IS_NULL(*cond)))
        return abti_error(ABT_ERR_INV_COND);
    if (!ABTI_BUILD_VER20 && ABTI_REFUSE(abti_cond_has_waiters(*cond)))
        return abti_error(ABT_ERR_COND);
    free(*cond);
    *cond = ABT_COND_NULL;
    return ABT_SUCCESS;
}

/* ABT_SUCCESS, or what is wrong with the two. */
ABTI_INLINE int check_pair(ABT_cond cond, ABT_mutex mutex)
{
    if (ABTI_REFUSE(COND_IS_NULL(cond)))
        return ABT_ERR_INV_COND;
    return ABTI_REFUSE(MUTEX_IS_NULL(mutex)) ? ABT_ERR_INV_MUTEX : ABT_SUCCESS;
}

int ABT_cond_wait(ABT_cond cond, ABT_mutex mutex)
{
    if (abti_may_not_wait())
        return abti_error(ABT_ERR_COND);
    int code = check_pair(cond, mutex);
    if (code == ABT_SUCCESS)
        code = abti_cond_wait(cond, mutex);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_cond_timedwait(ABT_cond cond, ABT_mutex mutex, const struct timespec *abstime)
{
    int code = check_pair(cond, mutex);
    if (code == ABT_SUCCESS)
        code = abti_cond_wait_until(cond, mutex, abti_clock_deadline(abstime));
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_cond_signal(ABT_cond cond)
{
    if (ABTI_REFUSE(COND_IS_NULL(cond)))
        return abti_error(ABT_ERR_INV_COND);
    abti_cond_signal(cond);
    return ABT_SUCCESS;
}

int ABT_cond_broadcast(ABT_cond cond)
{
    if (ABTI_REFUSE(COND_IS_NULL(cond)))
        return abti_error(ABT_ERR_INV_COND);
    abti_cond_broadcast(cond);
    return ABT_SUCCESS;
}
