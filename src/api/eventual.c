/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/misuse.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/handle.h"
#include "sync/eventual.h"

#define EVENTUAL_IS_NULL(h) ABTI_IS_NULL(h, ABT_EVENTUAL_NULL)
#define EVENTUAL_IS_BAD(h) ABTI_IS_BAD(h, ABT_EVENTUAL_NULL, ABTI_HANDLE_EVENTUAL)

int ABT_eventual_create(int nbytes, ABT_eventual *neweventual)
{
    ABTI_REFUSE_IF(nbytes < 0, ABT_ERR_INV_ARG);
    ABT_eventual eventual = abti_eventual_create(nbytes);
    ABTI_FAIL_IF(!eventual, ABT_ERR_MEM);
    abti_ledger_made(eventual, ABTI_HANDLE_EVENTUAL);
    *neweventual = eventual;
    return ABT_SUCCESS;
}

int ABT_eventual_free(ABT_eventual *eventual)
{
    ABTI_REFUSE_IF(EVENTUAL_IS_BAD(*eventual), ABT_ERR_INV_EVENTUAL);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_free(*eventual, ABTI_HANDLE_EVENTUAL, __func__)), ABT_ERR_INV_EVENTUAL);
    abti_eventual_destroy(*eventual);
    *eventual = ABT_EVENTUAL_NULL;
    return ABT_SUCCESS;
}

/* ABT_SUCCESS: the value's place is stored, before the wait, after which another thread may have freed the eventual. */
ABTI_INLINE int eventual_begin_wait(ABT_eventual eventual, void **value, const char *function)
{
    if (abti_may_not_wait())
        return abti_error_in(ABT_ERR_EVENTUAL, function);
    if (value)
        *value = eventual->value;
    return ABT_SUCCESS;
}

static ABTI_COLD int eventual_wait_checked(ABT_eventual eventual, void **value, const char *function)
{
    if (ABTI_REFUSE(ABTI_IS_BAD_IN(eventual, ABT_EVENTUAL_NULL, ABTI_HANDLE_EVENTUAL, function)))
        return abti_error_in(ABT_ERR_INV_EVENTUAL, function);
    int code = eventual_begin_wait(eventual, value, function);
    if (code == ABT_SUCCESS)
        code = abti_gate_wait(&eventual->gate, ABT_SYNC_EVENT_TYPE_EVENTUAL);
    abti_annotate_acquire(eventual); /* its address */
    return code;
}

int ABT_eventual_wait(ABT_eventual eventual, void **value)
{
    if (abti_handle_is_to_check(eventual))
        return eventual_wait_checked(eventual, value, __func__);
    int code = eventual_begin_wait(eventual, value, __func__);
    return code == ABT_SUCCESS ? abti_gate_wait(&eventual->gate, ABT_SYNC_EVENT_TYPE_EVENTUAL) : code;
}

int ABT_eventual_timedwait(ABT_eventual eventual, void **value, const struct timespec *abstime)
{
    ABTI_REFUSE_IF(EVENTUAL_IS_BAD(eventual), ABT_ERR_INV_EVENTUAL);
    ABTI_FAIL_IF(abti_may_not_wait(), ABT_ERR_EVENTUAL);
    void *where = eventual->value;
    uint64_t deadline = abti_clock_deadline(abstime);
    ABTI_FAIL_IF(!abti_gate_wait_until(&eventual->gate, ABT_SYNC_EVENT_TYPE_EVENTUAL, deadline), ABT_ERR_COND_TIMEDOUT);
    abti_annotate_acquire(eventual);
    if (value)
        *value = where;
    return ABT_SUCCESS;
}

/* Whether one of the handles is not null. */
static bool has_eventual(int num, ABT_eventual *eventuals)
{
    int i = 0;
    while (i < num && EVENTUAL_IS_NULL(eventuals[i]))
        i++;
    return i < num;
}

static bool is_one_stale(int num, ABT_eventual *eventuals, const char *function)
{
    int i = 0;
    while (i < num && !ABTI_IS_STALE(eventuals[i], ABT_EVENTUAL_NULL, ABTI_HANDLE_EVENTUAL, function))
        i++;
    return i < num;
}

static int eventual_wait_any(int num, ABT_eventual *eventuals, int *index, uint64_t deadline_ns, const char *function)
{
    if (ABTI_REFUSE(!has_eventual(num, eventuals)))
        return ABT_ERR_INV_ARG;
    if (ABTI_MISUSED(is_one_stale(num, eventuals, function)))
        return ABT_ERR_INV_EVENTUAL;
    if (abti_may_not_wait())
        return ABT_ERR_EVENTUAL;
    int code = ABT_SUCCESS, found = abti_eventual_find_ready(num, eventuals);
    if (found == num)
        code = abti_eventual_wait_any(num, eventuals, deadline_ns, &found);
    if (code != ABT_SUCCESS)
        return code;
    if (found == num)
        return ABT_ERR_COND_TIMEDOUT;
    abti_annotate_acquire(eventuals[found]);
    *index = found;
    return ABT_SUCCESS;
}

int ABTX_eventual_wait_any_until(int num, ABT_eventual *eventuals, int *index, int64_t deadline)
{
    return abti_error(eventual_wait_any(num, eventuals, index, abti_clock_deadline_of(deadline), __func__));
}

int ABT_eventual_test(ABT_eventual eventual, void **value, ABT_bool *is_ready)
{
    ABTI_REFUSE_IF(EVENTUAL_IS_BAD(eventual), ABT_ERR_INV_EVENTUAL);
    bool ready = abti_gate_is_open(&eventual->gate);
    if (ready)
        abti_annotate_acquire(eventual);
    if (ready && value)
        *value = eventual->value;
    *is_ready = ready ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

/* A pointer that is not the eventual's is refused. */
ABTI_INLINE int eventual_set_plain(ABT_eventual eventual, void *value, int nbytes, const char *function)
{
    if (ABTI_REFUSE(nbytes < 0))
        return abti_error_in(ABT_ERR_INV_ARG, function);
    if (ABTI_REFUSE(nbytes > eventual->size))
        return abti_error_in(ABTI_BUILD_VER20 ? ABT_ERR_INV_ARG : ABT_ERR_INV_EVENTUAL, function);
    int code = abti_eventual_set(eventual, value, nbytes);
    return code == ABT_SUCCESS ? code : abti_error_in(code, function);
}

static ABTI_COLD int eventual_set_checked(ABT_eventual eventual, void *value, int nbytes, const char *function)
{
    if (ABTI_REFUSE(ABTI_IS_BAD_IN(eventual, ABT_EVENTUAL_NULL, ABTI_HANDLE_EVENTUAL, function)))
        return abti_error_in(ABT_ERR_INV_EVENTUAL, function);
    abti_annotate_release(eventual);
    return eventual_set_plain(eventual, value, nbytes, function);
}

int ABT_eventual_set(ABT_eventual eventual, void *value, int nbytes)
{
    if (abti_handle_is_to_check(eventual))
        return eventual_set_checked(eventual, value, nbytes, __func__);
    return eventual_set_plain(eventual, value, nbytes, __func__);
}

int ABT_eventual_reset(ABT_eventual eventual)
{
    if (abti_handle_is_to_check(eventual)) {
        ABTI_REFUSE_IF(EVENTUAL_IS_BAD(eventual), ABT_ERR_INV_EVENTUAL);
        ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_in_use(eventual, ABTI_HANDLE_EVENTUAL, __func__)), ABT_ERR_INV_EVENTUAL);
    }
    abti_gate_reset(&eventual->gate, false);
    return ABT_SUCCESS;
}
