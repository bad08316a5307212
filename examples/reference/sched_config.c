/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I configure a scheduler? By a set of values: some for the library, others for the scheduler's own init.
 *
 *   cc sched_config.c $(pkg-config --cflags --libs argobots) -o sched_config
 */
#include <abt.h>
#include <stdio.h>

/* The variables of this scheduler: 0 and up are free for it. */
static const ABT_sched_config_var var_limit = {0, ABT_SCHED_CONFIG_INT};
static const ABT_sched_config_var var_weight = {1, ABT_SCHED_CONFIG_DOUBLE};

static int limit;
static double weight;

static int init(ABT_sched sched, ABT_sched_config config)
{
    (void)sched;
    limit = 10; /* what is not in the set stays as it is */
    weight = 1;
    return ABT_sched_config_read(config, 2, &limit, &weight); /* variables 0 and 1 */
}

static void run(ABT_sched sched)
{
    (void)sched; /* this one only shows its configuration */
}

int main(int argc, char **argv)
{
    ABT_sched_def def = {.init = init, .run = run};
    ABT_sched_config config;
    ABT_sched_config_type type;
    ABT_sched sched, basic;
    ABT_xstream stream;
    int code, missing, frequency = 100, seen = 0, all_read, first_limit;
    double first_weight;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    /* Pairs of a variable and a value, and the end. That it is not automatic means: we free it. */
    code = ABT_sched_config_create(&config, var_limit, 7, var_weight, 0.5, ABT_sched_config_automatic, 0,
                                   ABT_sched_config_var_end);
    if (code != ABT_SUCCESS)
        return 1;
    ABT_sched_create(&def, 0, NULL, config, &sched);
    ABT_sched_free(&sched);
    printf("limit %d, weight %g\n", limit, weight);
    first_limit = limit, first_weight = weight;

    /* A value may be set, read and taken out one by one. */
    ABT_sched_config_set(config, var_weight.idx, ABT_SCHED_CONFIG_DOUBLE, NULL);
    missing = ABT_sched_config_get(config, var_weight.idx, &type, NULL);
    ABT_sched_config_set(config, ABT_sched_basic_freq.idx, ABT_SCHED_CONFIG_INT, &frequency);
    ABT_sched_config_get(config, ABT_sched_basic_freq.idx, &type, &seen);
    ABT_sched_create(&def, 0, NULL, config, &sched);
    ABT_sched_free(&sched);
    all_read = limit == 7 && weight == 1;
    printf("limit %d, weight %g as it is without\n", limit, weight);

    /* Predefined schedulers look at events after this number of units. */
    ABT_sched_create_basic(ABT_SCHED_BASIC, 0, NULL, config, &basic);
    ABT_sched_config_free(&config);
    ABT_xstream_create(basic, &stream);
    ABT_xstream_free(&stream);
    ABT_sched_free(&basic);
    ABT_finalize();
    return first_limit != 7 || first_weight != 0.5 || missing != ABT_ERR_INV_ARG || seen != frequency ||
           type != ABT_SCHED_CONFIG_INT || !all_read;
}
