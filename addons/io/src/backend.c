/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "multishot/buffers.h"
#include "caller.h"
#include "ring/fixed.h"
#include "caller.h"
#include "helpers.h"
#include "channel.h"
#include "multishot/multishot.h"

static struct {
    abtio_backend backend;
    char reason[sizeof(((abtio_info *)NULL)->reason)];
} state;

/* ---- The choice ------------------------------------------------------------------------------------------------ */

/* The variable's value, ABTIO_BACKEND_AUTO without one, or -EINVAL. */
static int backend_of_variable(void)
{
    static const char *const names[] = {"auto", "io_uring", "threads"};
    const char *value = getenv("ABTIO_BACKEND");

    if (!value || !*value)
        return ABTIO_BACKEND_AUTO;
    for (int i = 0; i < 3; i++) {
        if (!strcmp(value, names[i]))
            return i;
    }
    fprintf(stderr, "libabtio: ABTIO_BACKEND is %s, not auto, io_uring or threads\n", value);
    return -EINVAL;
}

/* The number in ABTIO_SIGNAL, 0 without one, or -EINVAL. */
static int signal_of_variable(void)
{
    const char *value = getenv("ABTIO_SIGNAL");
    char *end;

    if (!value || !*value)
        return 0;
    long number = strtol(value, &end, 10);
    if (!*end && number >= SIGRTMIN && number <= SIGRTMAX)
        return (int)number;
    fprintf(stderr, "libabtio: ABTIO_SIGNAL is %s, not a number from %d to %d\n", value, SIGRTMIN, SIGRTMAX);
    return -EINVAL;
}

static int begin_helpers(const abtio_config *config)
{
    int signal = config->signal ? config->signal : signal_of_variable();
    return signal < 0 ? -EINVAL : abtioi_helpers_begin(config->max_threads, signal);
}

static bool is_valid(const abtio_config *config)
{
    unsigned entries = config->ring_entries;

    for (size_t i = 0; i < sizeof(config->reserved) / sizeof(config->reserved[0]); i++) {
        if (config->reserved[i])
            return false;
    }
    return (unsigned)config->backend <= ABTIO_BACKEND_THREADS &&
           (entries == 0 || (entries >= 8 && entries <= 4096 && (entries & (entries - 1)) == 0));
}

static int backend_choose(const abtio_config *config)
{
    int backend = (int)config->backend;
    const char *whose = "abtio_config";

    if (backend == ABTIO_BACKEND_AUTO) {
        backend = backend_of_variable();
        whose = "ABTIO_BACKEND";
    }
    if (backend < 0)
        return backend;
    int code = -ENOSYS;
    if (backend != ABTIO_BACKEND_THREADS)
        code = abtioi_channels_begin(config->ring_entries ? config->ring_entries : 256, state.reason,
                                     sizeof(state.reason));
    else
        snprintf(state.reason, sizeof(state.reason), "asked for by %s", whose);
    state.backend = code == 0 ? ABTIO_BACKEND_IO_URING : ABTIO_BACKEND_THREADS;
    return backend == ABTIO_BACKEND_IO_URING ? code : 0;
}

/* ---- fork ------------------------------------------------------------------------------------------------------ */

static void backend_before(void)
{
    abtioi_channels_before_fork(); /* first, since their poller hands operations to helpers */
    abtioi_helpers_before_fork();
    abtioi_fixed_before_fork();
    abtioi_buffers_before_fork();
}

static void in_parent(void)
{
    abtioi_buffers_after_fork();
    abtioi_fixed_after_fork();
    abtioi_helpers_after_fork();
    abtioi_channels_after_fork();
}

static void in_child(void)
{
    abtioi_helpers_forget();
    abtioi_channels_forget();
    abtioi_fixed_forget();
    abtioi_buffers_forget();
    abtioi_begins = 0;
}

static void watch_forks(void)
{
    static bool watched;

    if (!watched)
        pthread_atfork(backend_before, in_parent, in_child);
    watched = true;
}

/* ---- Public ---------------------------------------------------------------------------------------------------- */

int abtio_init(const abtio_config *config)
{
    static const abtio_config defaults;

    if (!config)
        config = &defaults;
    if (!is_valid(config))
        return -EINVAL;
    if (ABT_initialized() != ABT_SUCCESS)
        return -ENOTCONN;
    if (abtioi_begins == 0) {
        int code = begin_helpers(config);
        if (code < 0)
            return code;
        code = backend_choose(config);
        if (code < 0) {
            abtioi_helpers_end();
            return code;
        }
        watch_forks();
    }
    abtioi_begins++;
    return 0;
}

int abtio_finalize(void)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    if (--abtioi_begins > 0)
        return 0;
    ABT_bool before = put_off_cancel();
    if (state.backend == ABTIO_BACKEND_IO_URING)
        abtioi_channels_end();
    abtioi_fixed_end();
    abtioi_helpers_end();
    abtioi_buffers_end();
    allow_cancel(before);
    return 0;
}

int abtio_get_info(abtio_info *info)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    memset(info, 0, sizeof(*info));
    info->backend = state.backend;
    memcpy(info->reason, state.reason, sizeof(info->reason));
    info->num_threads = abtioi_helpers_count();
    struct channel_counts counts = abtioi_channels_count();
    info->num_rings = counts.channels;
    info->num_in_flight = counts.in_flight + abtioi_helpers_in_flight();
    info->num_ring_enters = counts.enters;
    info->single_issuer = counts.single_issuer;
    abtioi_fixed_tell(info);
    return 0;
}

/* ---- Sides ----------------------------------------------------------------------------------------------------- */

/* The channel for it, with regard to its deadline. NULL: the helpers do it. */
static struct channel *channel_of(const abtio_op *op)
{
    return op->deadline == ABTIO_FOREVER || !op_is_deaf(op) ? abtioi_channel_for(op->code) : NULL;
}

static int start_elsewhere(abtio_op *op)
{
    abtioi_assert(op->report == REPORT_BY_EVENTUAL && !op->helper);
    atomic_store_explicit(&op->phase, CHANNEL_HELPERS, memory_order_relaxed); /* relaxed: nobody else knows it yet */
    return abtioi_helpers_start(op);
}

int abtioi_start(abtio_op *op, bool by_ult)
{
    struct channel *channel = by_ult ? channel_of(op) : NULL;

    abtioi_op_use_eventual(op);
    if (!channel)
        return start_elsewhere(op);
    op->channel = channel;
    abtioi_channel_start(op);
    return 0;
}

bool abtioi_start_call(abtio_op *op)
{
    struct channel *channel = channel_of(op);

    abtioi_assert(!op->shared && is_ult());
    if (channel)
        abtioi_channel_start_call(channel, op);
    return channel != NULL;
}

/*
 * A waiter that leaves polls first: its own stream may have what it waits for, and a caller that starts and leaves
 * again and again gives it no other chance to poll.
 */
static void leave_multishot(abtio_op *waiter, int why)
{
    abtioi_channel_poll();
    abtioi_multishot_leave(waiter, why);
}

void abtioi_cancel(abtio_op *op)
{
    int phase = abtioi_channel_ask_end(op);

    if (phase == CHANNEL_HELPERS)
        abtioi_helpers_cancel(op);
    else if (phase == CHANNEL_MULTISHOT)
        leave_multishot(op, -ECANCELED);
}

void abtioi_leave(abtio_op *op, int why)
{
    abtioi_assert(why < 0);
    if (op->code == CODE_waiter)
        leave_multishot(op, why);
    else
        abtioi_helpers_leave(op, why);
}

void abtioi_drop_result(const abtio_op *op)
{
    bool opens =
        op->code == CODE_accept || op->code == CODE_openat || op->code == CODE_socket || op->code == CODE_mkostemp;

    if (op->code == CODE_waiter)
        abtioi_multishot_put_back(op);
    else if (opens && op->result >= 0)
        close((int)op->result);
}

void abtioi_poll(abtio_op *op)
{
    abtioi_channel_poll(); /* the result may come there, or a buffer that a waiter waits for */
    if (op->code == CODE_waiter && abtioi_op_is_late(op))
        abtioi_multishot_leave(op, -ETIMEDOUT);
}
