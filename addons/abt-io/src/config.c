/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may be asked for. */
struct config {
    int num_threads; /* -1: not said */
    const char *kind, *access;
    int num_urings;
    json_t *flags; /* part of the caller's, or NULL */
};

static const char *const kinds[] = {"fifo", "fifo_wait", "prio", "prio_wait", "randws", NULL};
static const char *const accesses[] = {"private", "priv", "spsc", "mpsc", "spmc", "mpmc", NULL};
static const char *const flag_names[] = {"IOSQE_ASYNC",
                                         "IORING_SETUP_SQPOLL",
                                         "IORING_SETUP_COOP_TASKRUN",
                                         "IORING_SETUP_SINGLE_ISSUER",
                                         "IORING_SETUP_DEFER_TASKRUN",
                                         NULL};

static bool config_complain(const char *what)
{
    fprintf(stderr, "abt-io: the configuration is wrong: %s\n", what);
    return false;
}

/* ---- Reading: each function returns whether all is well ---------------------------------------------------------- */

static bool read_number(const json_t *object, const char *name, int *number)
{
    const json_t *member = json_object_get(object, name);
    if (!member)
        return true;
    json_int_t value = json_is_integer(member) ? json_integer_value(member) : -1;
    if (value < 0 || value > INT_MAX)
        return config_complain(name);
    *number = (int)value;
    return true;
}

static bool is_in(const json_t *member, const char *const *words)
{
    const char *word = json_string_value(member);
    while (word && *words && strcmp(*words, word) != 0)
        words++;
    return word && *words;
}

static bool read_word(const json_t *object, const char *name, const char *const *words, const char **word)
{
    const json_t *member = json_object_get(object, name);
    if (!member)
        return true;
    if (!is_in(member, words))
        return config_complain(name);
    *word = json_string_value(member);
    return true;
}

static bool read_flags(const json_t *object, struct config *config)
{
    config->flags = json_object_get(object, "liburing_flags");
    if (!config->flags)
        return true;
    if (!json_is_array(config->flags))
        return config_complain("liburing_flags");
    for (size_t i = 0; i < json_array_size(config->flags); i++)
        if (!is_in(json_array_get(config->flags, i), flag_names))
            return config_complain("liburing_flags");
    return true;
}

static bool read_internal_pool(const json_t *object, struct config *config)
{
    const json_t *flag = json_object_get(object, "internal_pool_flag"),
                 *pool = json_object_get(object, "internal_pool");
    if (flag) {
        if (!json_is_integer(flag) && !json_is_boolean(flag))
            return config_complain("internal_pool_flag");
        config->num_threads = json_is_true(flag) || json_integer_value(flag) != 0;
    }
    if (!pool)
        return true;
    if (!json_is_object(pool))
        return config_complain("internal_pool");
    return read_word(pool, "kind", kinds, &config->kind) && read_word(pool, "access", accesses, &config->access) &&
           (config->num_threads == 0 || read_number(pool, "num_xstreams", &config->num_threads));
}

static bool read_all(const json_t *object, struct config *config)
{
    if (!json_is_object(object))
        return config_complain("it is no object");
    return read_internal_pool(object, config) && read_number(object, "backing_thread_count", &config->num_threads) &&
           read_number(object, "num_urings", &config->num_urings) && read_flags(object, config);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The member about the pool. NULL, when out of memory, makes json_pack fail, which frees what it was given. */
static json_t *pool_of(const struct config *config)
{
    return json_pack("{s:s, s:s, s:i}", "kind", config->kind, "access", config->access, "num_xstreams",
                     config->num_threads);
}

static char *text_of(const struct config *config)
{
    json_t *flags = config->flags ? json_incref(config->flags) : json_array();
    json_t *object = config->num_threads > 0
                         ? json_pack("{s:b, s:o, s:i, s:o}", "internal_pool_flag", 1, "internal_pool", pool_of(config),
                                     "num_urings", config->num_urings, "liburing_flags", flags)
                         : json_pack("{s:b, s:i, s:o}", "internal_pool_flag", 0, "num_urings", config->num_urings,
                                     "liburing_flags", flags);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

char *abt_ioi_config_read(const struct abt_io_init_info *info)
{
    struct config config = {.num_threads = -1, .kind = "fifo_wait", .access = "mpmc"};
    json_t *object = NULL;
    if (info && info->json_config && info->json_config[0]) {
        json_error_t error;
        object = json_loads(info->json_config, 0, &error);
        if (!object) {
            config_complain(error.text);
            return NULL;
        }
    }
    char *text = NULL;
    if (!object || read_all(object, &config)) {
        bool has_pool = info && info->progress_pool != ABT_POOL_NULL;
        if (has_pool || config.num_threads < 0)
            config.num_threads = 0;
        text = text_of(&config);
    }
    json_decref(object);
    return text;
}
