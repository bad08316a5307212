#include "backend.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "helpers.h"

static struct {
    unsigned begins; /* calls of abtio_init without their abtio_finalize */
    abtio_backend backend;
    char reason[sizeof(((abtio_info *)NULL)->reason)];
} state;

bool abtioi_is_begun(void)
{
    return state.begins > 0;
}

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
    fprintf(stderr, "abtio: ABTIO_BACKEND is %s, not auto, io_uring or threads\n", value);
    return -EINVAL;
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

static int choose(const abtio_config *config)
{
    int backend = (int)config->backend;
    const char *whose = "abtio_config";

    if (backend == ABTIO_BACKEND_AUTO) {
        backend = backend_of_variable();
        whose = "ABTIO_BACKEND";
    }
    if (backend < 0)
        return backend;
    if (backend == ABTIO_BACKEND_IO_URING)
        return -ENOSYS;
    state.backend = ABTIO_BACKEND_THREADS;
    if (backend == ABTIO_BACKEND_THREADS)
        snprintf(state.reason, sizeof(state.reason), "asked for by %s", whose);
    else
        snprintf(state.reason, sizeof(state.reason), "this build has no rings");
    return 0;
}

/* ---- fork ------------------------------------------------------------------------------------------------------ */

static void in_child(void)
{
    abtioi_helpers_forget();
    state.begins = 0;
}

static void watch_forks(void)
{
    static bool watched;

    if (!watched)
        pthread_atfork(abtioi_helpers_before_fork, abtioi_helpers_after_fork, in_child);
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
    if (state.begins == 0) {
        int code = choose(config);
        if (code == 0)
            code = abtioi_helpers_begin(config->max_threads ? config->max_threads : 1024);
        if (code < 0)
            return code;
        watch_forks();
    }
    state.begins++;
    return 0;
}

int abtio_finalize(void)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    if (--state.begins == 0)
        abtioi_helpers_end();
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
    return 0;
}

/* ---- Sides ----------------------------------------------------------------------------------------------------- */

int abtioi_start(abtio_op *op)
{
    return abtioi_helpers_start(op);
}

void abtioi_cancel(abtio_op *op, int why)
{
    abtioi_helpers_cancel(op, why);
}
