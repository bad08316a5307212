#include "api/misuse.h"
#include "api/waiting.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "sync/eventual.h"

#define EVENTUAL_IS_NULL(h) ABTI_IS_NULL(h, ABT_EVENTUAL_NULL)
#define EVENTUAL_IS_BAD(h) ABTI_IS_BAD(h, ABT_EVENTUAL_NULL, ABTI_HANDLE_EVENTUAL)

int ABT_eventual_create(int nbytes, ABT_eventual *neweventual)
{
    if (ABTI_REFUSE(nbytes < 0))
        return abti_error(ABT_ERR_INV_ARG);
    ABT_eventual eventual = abti_eventual_create(nbytes);
    if (!eventual)
        return abti_error(ABT_ERR_MEM);
    abti_ledger_made(eventual, ABTI_HANDLE_EVENTUAL);
    *neweventual = eventual;
    return ABT_SUCCESS;
}

int ABT_eventual_free(ABT_eventual *eventual)
{
    if (ABTI_REFUSE(EVENTUAL_IS_BAD(*eventual)))
        return abti_error(ABT_ERR_INV_EVENTUAL);
    abti_eventual_destroy(*eventual);
    *eventual = ABT_EVENTUAL_NULL;
    return ABT_SUCCESS;
}

/* Out of line: it has something to do when it has waited. */
static ABTI_COLD int eventual_wait_ordered(ABT_eventual eventual)
{
    int code = abti_gate_wait(&eventual->gate, ABT_SYNC_EVENT_TYPE_EVENTUAL);
    abti_annotate_tell_acquire(eventual); /* its address */
    return code;
}

int ABT_eventual_wait(ABT_eventual eventual, void **value)
{
    if (ABTI_REFUSE(EVENTUAL_IS_BAD(eventual)))
        return abti_error(ABT_ERR_INV_EVENTUAL);
    if (abti_may_not_wait())
        return abti_error(ABT_ERR_EVENTUAL);
    /* The place of the value is known now. After the wait another thread may have freed the eventual. */
    if (value)
        *value = eventual->value;
    if (ABTI_UNLIKELY(abti_annotate_order))
        return eventual_wait_ordered(eventual);
    return abti_gate_wait(&eventual->gate, ABT_SYNC_EVENT_TYPE_EVENTUAL);
}

int ABT_eventual_timedwait(ABT_eventual eventual, void **value, const struct timespec *abstime)
{
    if (ABTI_REFUSE(EVENTUAL_IS_BAD(eventual)))
        return abti_error(ABT_ERR_INV_EVENTUAL);
    if (abti_may_not_wait())
        return abti_error(ABT_ERR_EVENTUAL);
    void *where = eventual->value;
    uint64_t deadline = abti_clock_deadline(abstime);
    if (!abti_gate_wait_until(&eventual->gate, ABT_SYNC_EVENT_TYPE_EVENTUAL, deadline))
        return abti_error(ABT_ERR_COND_TIMEDOUT);
    abti_annotate_acquire(eventual);
    if (value)
        *value = where;
    return ABT_SUCCESS;
}

/* Whether one of the handles is not null. */
static bool has_any(int num, ABT_eventual *eventuals)
{
    int i = 0;
    while (i < num && EVENTUAL_IS_NULL(eventuals[i]))
        i++;
    return i < num;
}

int ABTX_eventual_wait_any(int num, ABT_eventual *eventuals, int *index, const struct timespec *abstime)
{
    if (ABTI_REFUSE(!has_any(num, eventuals)))
        return abti_error(ABT_ERR_INV_ARG);
    if (abti_may_not_wait())
        return abti_error(ABT_ERR_EVENTUAL);
    int code = ABT_SUCCESS, found = abti_eventual_find_ready(num, eventuals);
    if (found == num)
        code =
            abti_eventual_wait_any(num, eventuals, abstime ? abti_clock_deadline(abstime) : ABTI_CLOCK_NEVER, &found);
    if (code != ABT_SUCCESS)
        return abti_error(code);
    if (found == num)
        return abti_error(ABT_ERR_COND_TIMEDOUT);
    abti_annotate_acquire(eventuals[found]);
    *index = found;
    return ABT_SUCCESS;
}

int ABT_eventual_test(ABT_eventual eventual, void **value, ABT_bool *is_ready)
{
    if (ABTI_REFUSE(EVENTUAL_IS_BAD(eventual)))
        return abti_error(ABT_ERR_INV_EVENTUAL);
    bool ready = abti_gate_is_open(&eventual->gate);
    if (ready)
        abti_annotate_acquire(eventual);
    if (ready && value)
        *value = eventual->value;
    *is_ready = ready ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_eventual_set(ABT_eventual eventual, void *value, int nbytes)
{
    if (ABTI_REFUSE(EVENTUAL_IS_BAD(eventual)))
        return abti_error(ABT_ERR_INV_EVENTUAL);
    if (ABTI_REFUSE(nbytes < 0))
        return abti_error(ABT_ERR_INV_ARG);
    if (ABTI_REFUSE(nbytes > eventual->size))
        return abti_error(ABTI_BUILD_VER20 ? ABT_ERR_INV_ARG : ABT_ERR_INV_EVENTUAL);
    abti_annotate_release(eventual);
    int code = abti_eventual_set(eventual, value, nbytes);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_eventual_reset(ABT_eventual eventual)
{
    if (ABTI_REFUSE(EVENTUAL_IS_BAD(eventual)))
        return abti_error(ABT_ERR_INV_EVENTUAL);
    abti_gate_reset(&eventual->gate, false);
    return ABT_SUCCESS;
}
