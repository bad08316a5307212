/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_driver_*: the work of a library on streams beside their units. */
#include "idle/driver.h"
#include "api/handles.h"
#include "idle/idle.h"
#include "os/clock.h"
#include "run/cancel.h"

#define DRIVER_IS_BAD(h) ABTI_IS_BAD_IN(h, NULL, ABTI_HANDLE_DRIVER, __func__)

/* ABT_SUCCESS if both are there. */
static int check_both(ABTX_driver driver, ABT_xstream xstream, const char *function)
{
    if (ABTI_REFUSE(ABTI_IS_BAD_IN(driver, NULL, ABTI_HANDLE_DRIVER, function)))
        return ABT_ERR_INV_ARG;
    return ABTI_REFUSE(ABTI_IS_BAD_IN(xstream, ABT_XSTREAM_NULL, ABTI_HANDLE_XSTREAM, function)) ? ABT_ERR_INV_XSTREAM
                                                                                                 : ABT_SUCCESS;
}

int ABTX_driver_create(const ABTX_driver_ops *ops, void *arg, ABTX_driver *newdriver)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(!ops || !newdriver || (ops->wait && !ops->poll), ABT_ERR_INV_ARG);
    int code = abti_driver_create(ops, arg, newdriver);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    abti_ledger_made(*newdriver, ABTI_HANDLE_DRIVER);
    return ABT_SUCCESS;
}

int ABTX_driver_set_period(ABTX_driver driver, int64_t period)
{
    ABTI_REFUSE_IF(DRIVER_IS_BAD(driver) || period < 0, ABT_ERR_INV_ARG);
    abti_store_relaxed(&driver->period_ns, abti_clock_deadline_of(period)); /* relaxed: it is a setting */
    return ABT_SUCCESS;
}

int ABTX_driver_set_max_sleep(ABTX_driver driver, int64_t nanoseconds)
{
    ABTI_REFUSE_IF(DRIVER_IS_BAD(driver) || nanoseconds < 0, ABT_ERR_INV_ARG);
    abti_driver_set_max_sleep(driver, abti_clock_deadline_of(nanoseconds));
    return ABT_SUCCESS;
}

int ABTX_driver_look(ABTX_driver driver, ABT_bool *found)
{
    abti_es *es = abti_es_self;
    ABTI_FAIL_IF(ABTI_UNLIKELY(!es), ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(DRIVER_IS_BAD(driver) || !found, ABT_ERR_INV_ARG);
    return abti_error(abti_driver_poll_now(es, driver, found));
}

int ABTX_driver_lead(ABTX_driver driver)
{
    abti_es *es = abti_es_self;
    ABTI_FAIL_IF(ABTI_UNLIKELY(!es), ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(DRIVER_IS_BAD(driver), ABT_ERR_INV_ARG);
    return abti_error(abti_driver_lead(es, driver));
}

int ABTX_driver_free(ABTX_driver *driver)
{
    ABTI_REFUSE_IF(!driver || DRIVER_IS_BAD(*driver), ABT_ERR_INV_ARG);
    ABTI_REFUSE_IF(abti_is_in_callee(abti_es_self), ABT_ERR_INV_THREAD);
    bool before = abti_cancel_put_off();
    abti_driver_free(*driver);
    *driver = NULL;
    abti_cancel_allow(before);
    return ABT_SUCCESS;
}

int ABTX_driver_attach(ABTX_driver driver, ABT_xstream xstream)
{
    int code = check_both(driver, xstream, __func__);
    if (code == ABT_SUCCESS)
        code = abti_driver_attach(driver, xstream);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_driver_attach_all(ABTX_driver driver)
{
    ABTI_REFUSE_IF(DRIVER_IS_BAD(driver), ABT_ERR_INV_ARG);
    ABTI_REFUSE_IF(abti_is_in_callee(abti_es_self), ABT_ERR_INV_THREAD);
    return abti_error(abti_driver_attach_all(driver));
}

int ABTX_driver_detach(ABTX_driver driver, ABT_xstream xstream)
{
    int code = check_both(driver, xstream, __func__);
    if (code == ABT_SUCCESS && ABTI_REFUSE(xstream != abti_es_self && abti_is_in_callee(abti_es_self)))
        code = ABT_ERR_INV_THREAD;
    if (code == ABT_SUCCESS)
        code = abti_driver_detach(driver, xstream);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_driver_get_data(ABTX_driver driver, void **data)
{
    abti_es *es = abti_es_self;
    ABTI_FAIL_IF(ABTI_UNLIKELY(!es), ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(DRIVER_IS_BAD(driver) || !data, ABT_ERR_INV_ARG);
    *data = es->idle->data[driver->index];
    return ABT_SUCCESS;
}
