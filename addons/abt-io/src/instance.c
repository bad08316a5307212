/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An instance is a count, a list and a text: libabtio does the work, and is initialised once for each instance.
 *
 * libabtio does not tell when an operation is done. So the result goes to the caller's variable when somebody asks: in
 * abt_io_op_wait, abt_io_get_pending_op_count and abt_io_finalize. The caller that takes an operation out of its
 * instance's list stores the result, under the lock, and nobody else touches it then.
 */
#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

/* abtio_init and abtio_finalize are not called by two at a time. */
static ABT_mutex_memory abtio_lock = ABT_MUTEX_INITIALIZER;

static void instance_lock(ABT_mutex_memory *memory)
{
    ABT_mutex_lock(ABT_MUTEX_MEMORY_GET_HANDLE(memory));
}

static void instance_unlock(ABT_mutex_memory *memory)
{
    ABT_mutex_unlock(ABT_MUTEX_MEMORY_GET_HANDLE(memory));
}

static int begin_abtio(void)
{
    instance_lock(&abtio_lock);
    int status = abtio_init(NULL);
    instance_unlock(&abtio_lock);
    return status;
}

abt_io_instance_id abt_io_init_ext(const struct abt_io_init_info *info)
{
    struct abt_io_instance *instance = calloc(1, sizeof(*instance));
    if (!instance)
        return ABT_IO_INSTANCE_NULL;
    instance->config = abt_ioi_config_read(info);
    if (!instance->config || begin_abtio() != 0) {
        free(instance->config);
        free(instance);
        return ABT_IO_INSTANCE_NULL;
    }
    instance->lock = (ABT_mutex_memory)ABT_MUTEX_INITIALIZER;
    return instance;
}

abt_io_instance_id abt_io_init(int backing_thread_count)
{
    char config[64];
    snprintf(config, sizeof(config), "{\"backing_thread_count\": %d}", backing_thread_count);
    return abt_io_init_ext(&(struct abt_io_init_info){.json_config = config, .progress_pool = ABT_POOL_NULL});
}

abt_io_instance_id abt_io_init_pool(ABT_pool progress_pool)
{
    return abt_io_init_ext(&(struct abt_io_init_info){.progress_pool = progress_pool});
}

char *abt_io_get_config(abt_io_instance_id instance)
{
    return strdup(instance->config);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

struct abt_io_op *abt_ioi_op_create(void *result, size_t size)
{
    struct abt_io_op *op = calloc(1, sizeof(*op));
    if (op) {
        op->result = result;
        op->is_wide = size > sizeof(int);
    }
    return op;
}

struct abt_io_op *abt_ioi_op_enter(struct abt_io_instance *instance, struct abt_io_op *op, int status)
{
    if (status != 0) {
        free(op);
        return NULL;
    }
    instance_lock(&instance->lock);
    atomic_store_explicit(&op->instance, instance, memory_order_relaxed); /* relaxed: nobody has the handle yet */
    op->next = instance->first;
    op->link = &instance->first;
    if (op->next)
        op->next->link = &op->next;
    instance->first = op;
    instance_unlock(&instance->lock);
    return op;
}

/* The operation is done; the caller holds the lock. */
static void leave_locked(struct abt_io_op *op)
{
    ssize_t result = abtio_op_wait(op->handle);
    if (op->is_wide)
        *(ssize_t *)op->result = result;
    else
        *(int *)op->result = (int)result;
    *op->link = op->next;
    if (op->next)
        op->next->link = op->link;
    /* release: pairs with the acquire in abt_io_op_wait */
    atomic_store_explicit(&op->instance, NULL, memory_order_release);
}

int abt_io_op_wait(abt_io_op_t *op)
{
    abtio_op_wait(op->handle);
    /* acquire: pairs with the release in leave_locked */
    struct abt_io_instance *instance = atomic_load_explicit(&op->instance, memory_order_acquire);
    if (!instance)
        return 0;
    instance_lock(&instance->lock);
    if (atomic_load_explicit(&op->instance, memory_order_relaxed)) /* relaxed: it changes under the lock */
        leave_locked(op);
    instance_unlock(&instance->lock);
    return 0;
}

void abt_io_op_free(abt_io_op_t *op)
{
    abt_io_op_wait(op);
    abtio_op_free(&op->handle);
    free(op);
}

size_t abt_io_get_pending_op_count(abt_io_instance_id instance)
{
    /* relaxed: the number of some moment */
    size_t count = atomic_load_explicit(&instance->blocking, memory_order_relaxed);
    instance_lock(&instance->lock);
    for (struct abt_io_op *op = instance->first, *next; op; op = next) {
        next = op->next;
        if (abtio_op_test(op->handle, NULL))
            leave_locked(op);
        else
            count++;
    }
    instance_unlock(&instance->lock);
    return count;
}

/* Nobody else uses the instance, so that the list only gets shorter, here. */
void abt_io_finalize(abt_io_instance_id instance)
{
    while (instance->first)
        abt_io_op_wait(instance->first);
    instance_lock(&abtio_lock);
    abtio_finalize();
    instance_unlock(&abtio_lock);
    free(instance->config);
    free(instance);
}
