/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_sched_*. */
#include <stdlib.h>
#include "api/handles.h"
#include "pool/blocked.h"
#include "pool/pool_impl.h"
#include "rt/handle.h"
#include "stream/events.h"
#include "stream/sched_impl.h"

/* --- Making --- */

/*
 * Makes the list of pools of a new scheduler: those given, and new automatic ones for null entries. Schedulers hold
 * references, so that dropping the list's own makes the new ones live as long as their scheduler.
 */
struct pool_list {
    int num;
    abti_pool **pools;
    bool *made;
};

static void pool_list_fini(struct pool_list *list, bool keep)
{
    for (int i = 0; i < list->num && !keep; i++) {
        if (list->made[i])
            abti_pool_destroy(list->pools[i]);
    }
    free(list->pools);
    free(list->made);
}

static int pool_list_init(struct pool_list *list, int num, ABT_pool *given, ABT_pool_kind kind, ABT_pool_access access)
{
    size_t n = num > 0 ? (size_t)num : 1;
    *list = (struct pool_list){.pools = calloc(n, sizeof(*list->pools)), .made = calloc(n, sizeof(*list->made))};
    int code = list->pools && list->made ? ABT_SUCCESS : ABT_ERR_MEM;
    for (; list->num < num && code == ABT_SUCCESS; list->num += code == ABT_SUCCESS) {
        int i = list->num;
        if (given && !ABTI_POOL_IS_NULL(given[i])) {
            list->pools[i] = given[i];
        } else {
            code = abti_pool_create_basic(kind, access, true, &list->pools[i]);
            list->made[i] = code == ABT_SUCCESS;
        }
    }
    if (code != ABT_SUCCESS)
        pool_list_fini(list, false);
    return code;
}

int abti_sched_make_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                          ABT_sched *newsched)
{
    ABT_pool_kind kind = ABT_POOL_FIFO;
    if (!pools) {
        num_pools = predef == ABT_SCHED_PRIO ? 3 : 1;
        kind = predef == ABT_SCHED_BASIC_WAIT ? ABT_POOL_FIFO_WAIT : ABT_POOL_FIFO;
    }
    struct pool_list list;
    int code = pool_list_init(&list, num_pools, pools, kind, ABT_POOL_ACCESS_MPMC);
    if (code != ABT_SUCCESS)
        return code;
    const struct abti_kvconf *conf = ABTI_IS_NULL(config, ABT_SCHED_CONFIG_NULL) ? NULL : &config->conf;
    code = abti_sched_create_basic(predef, list.num, list.pools, conf, newsched);
    pool_list_fini(&list, code == ABT_SUCCESS);
    return code;
}

void abti_sched_unmake_basic(ABT_sched sched, int num_pools, ABT_pool *pools)
{
    /* The user's pools outlive the drop. */
    for (int i = 0; pools && i < num_pools; i++) {
        if (!ABTI_POOL_IS_NULL(pools[i]))
            abti_pool_retain(pools[i]);
    }
    abti_sched_destroy(sched);
    for (int i = 0; pools && i < num_pools; i++) {
        if (!ABTI_POOL_IS_NULL(pools[i]))
            /* release: as in abti_pool_drop. This is not the last one, since the user has the pool */
            abti_fetch_sub_acq_rel(&pools[i]->num_scheds, 1);
    }
}

int abti_sched_check_parts(int num_pools, ABT_pool *pools, ABT_sched_config config, const char *function)
{
    if (ABTI_REFUSE(ABTI_IS_STALE(config, ABT_SCHED_CONFIG_NULL, ABTI_HANDLE_SCHED_CONFIG, function)))
        return ABT_ERR_INV_SCHED_CONFIG;
    for (int i = 0; pools && i < num_pools; i++) {
        if (ABTI_REFUSE(ABTI_IS_STALE(pools[i], ABT_POOL_NULL, ABTI_HANDLE_POOL, function)))
            return ABT_ERR_INV_POOL;
    }
    return ABT_SUCCESS;
}

int ABT_sched_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                           ABT_sched *newsched)
{
    ABTI_PRESET_OUT(newsched, ABT_SCHED_NULL);
    ABTI_REFUSE_IF(num_pools < 0, ABT_ERR_INV_ARG);
    int code = abti_sched_check_parts(num_pools, pools, config, __func__);
    if (code == ABT_SUCCESS)
        code = abti_sched_make_basic(predef, num_pools, pools, config, newsched);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_sched_create(ABT_sched_def *def, int num_pools, ABT_pool *pools, ABT_sched_config config, ABT_sched *newsched)
{
    ABTI_REFUSE_IF(!newsched, ABT_ERR_INV_ARG);
    ABTI_PRESET_OUT(newsched, ABT_SCHED_NULL);
    ABTI_REFUSE_IF(!def || num_pools < 0, ABT_ERR_INV_ARG);
    int code = abti_sched_check_parts(num_pools, pools, config, __func__);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    struct pool_list list;
    code = pool_list_init(&list, num_pools, pools, ABT_POOL_FIFO, ABT_POOL_ACCESS_MPSC);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    code = abti_sched_create_user(def, list.num, list.pools, config, newsched);
    pool_list_fini(&list, code == ABT_SUCCESS);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_sched_free(ABT_sched *sched)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(*sched), ABT_ERR_INV_SCHED);
    /* acquire: pairs with the release in abti_sched_release */
    ABTI_REFUSE_IF(abti_load_acquire(&(*sched)->use) != ABTI_SCHED_UNUSED, ABT_ERR_SCHED);
    abti_sched_destroy(*sched);
    *sched = ABT_SCHED_NULL;
    return ABT_SUCCESS;
}

/* --- Queries --- */

int ABT_sched_get_num_pools(ABT_sched sched, int *num_pools)
{
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    *num_pools = sched->num_pools;
    return ABT_SUCCESS;
}

int ABT_sched_get_pools(ABT_sched sched, int max_pools, int idx, ABT_pool *pools)
{
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    ABTI_REFUSE_IF(max_pools < 0 || idx < 0, ABT_ERR_INV_ARG);
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && max_pools > sched->num_pools - idx, ABT_ERR_SCHED);
    for (int i = 0; i < max_pools && idx + i < sched->num_pools; i++)
        pools[i] = sched->pools[idx + i];
    return ABT_SUCCESS;
}

/* Returns the sum over the pools of one of their sizes. */
static int sum_sizes(abti_sched *sched, size_t *size, bool with_blocked)
{
    size_t sum = 0;
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        ABTI_REFUSE_IF(!abti_pool_tells_size(pool), ABT_ERR_POOL);
        sum += with_blocked ? abti_pool_total_size(pool) : abti_pool_size(pool);
    }
    *size = sum;
    return ABT_SUCCESS;
}

int ABT_sched_get_size(ABT_sched sched, size_t *size)
{
    ABTI_PRESET_OUT(size, 0);
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    return sum_sizes(sched, size, false);
}

int ABT_sched_get_total_size(ABT_sched sched, size_t *size)
{
    ABTI_PRESET_OUT(size, 0);
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    return sum_sizes(sched, size, true);
}

int ABT_sched_set_data(ABT_sched sched, void *data)
{
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    sched->data = data;
    return ABT_SUCCESS;
}

static ABTI_NOINLINE int sched_data_checked(ABT_sched sched, void **data)
{
    if (ABTI_REFUSE(ABTI_SCHED_IS_BAD_IN(sched, "ABT_sched_get_data")))
        return abti_error_in(ABT_ERR_INV_SCHED, "ABT_sched_get_data");
    *data = sched->data;
    return ABT_SUCCESS;
}

/* Schedulers call this for each unit, so that it has no frame. */
int ABT_sched_get_data(ABT_sched sched, void **data)
{
    if (abti_handle_is_to_check(sched))
        return sched_data_checked(sched, data);
    *data = sched->data;
    return ABT_SUCCESS;
}

/* --- Requests --- */

int ABT_sched_finish(ABT_sched sched)
{
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    abti_sched_request_from_outside(sched, ABTI_SCHED_REQ_FINISH);
    return ABT_SUCCESS;
}

int ABT_sched_exit(ABT_sched sched)
{
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    abti_sched_request_from_outside(sched, ABTI_SCHED_REQ_EXIT);
    return ABT_SUCCESS;
}

int ABT_sched_has_to_stop(ABT_sched sched, ABT_bool *stop)
{
    ABTI_PRESET_OUT(stop, ABT_FALSE);
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_es_self, ABT_ERR_INV_XSTREAM);
    *stop = abti_sched_has_to_stop(sched) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}
