/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "abt.h"
#include "base/build.h"
#include "os/env.h"
#include "os/vm.h"
#include "rt/variables.h"

/* Room for a value as text; a longer one is cut. */
enum { TEXT_ROOM = 48 };

/* --- Fields --- */

static void *field_of(struct abti_config *config, const struct abti_variable *variable)
{
    return (char *)config + variable->offset;
}

static void set_field(struct abti_config *config, const struct abti_variable *variable, uint64_t value)
{
    void *field = field_of(config, variable);
    if (variable->type == ABTI_VARIABLE_BOOL)
        *(bool *)field = value != 0;
    else if (variable->size == sizeof(uint64_t))
        memcpy(field, &value, sizeof(value));
    else
        memcpy(field, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
}

static uint64_t get_field(const struct abti_config *config, const struct abti_variable *variable)
{
    const char *field = (const char *)config + variable->offset;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (variable->type == ABTI_VARIABLE_BOOL)
        return *(const bool *)field;
    if (variable->size == sizeof(wide))
        memcpy(&wide, field, sizeof(wide));
    else
        memcpy(&narrow, field, sizeof(narrow));
    return wide + narrow;
}

/* Whether the field is a pointer to what is the configuration's. */
static bool has_memory(const struct abti_variable *variable)
{
    return variable->type == ABTI_VARIABLE_TEXT || variable->type == ABTI_VARIABLE_CPUS ||
           variable->type == ABTI_VARIABLE_NODES;
}

/* A value as it could be in the environment. */
static void config_spell(const struct abti_variable *variable, uint64_t value, char text[TEXT_ROOM])
{
    if (variable->type == ABTI_VARIABLE_WORD)
        snprintf(text, TEXT_ROOM, "%s", abti_variable_word(variable, (int)value));
    else
        snprintf(text, TEXT_ROOM, "%" PRIu64, value);
}

/* --- Loading --- */

/* `what` is wrong with this text, and `used` is used instead. */
static void tell_value(const struct abti_variable *variable, const char *text, const char *what, const char *used)
{
    const char *name = variable->name;
    if (abti_variable_tell_once(variable))
        fprintf(stderr, "libabt: %s%s=%.40s is %s, %s is used\n", abti_env_prefix(name), name, text, what, used);
}

/* A value other than the default has no effect in this build, and no other message says more. */
static void tell_void(const struct abti_variable *variable)
{
    const char *name = variable->name;
    if (variable->void_by && abti_variable_tell_once(variable))
        fprintf(stderr, "libabt: %s%s has no effect %s\n", abti_env_prefix(name), name, variable->void_by);
}

/* What a text stands for, in the type of the variable. A text that has no meaning leaves the value as it is. */
static enum abti_parsed parse_value(const struct abti_variable *variable, const char *text, uint64_t *value)
{
    bool is_true;
    int word;
    switch (variable->type) {
    case ABTI_VARIABLE_INT: return abti_parse_int(text, value);
    case ABTI_VARIABLE_SIZE: return abti_parse_size(text, value);
    case ABTI_VARIABLE_BOOL:
        if (abti_parse_bool(text, &is_true) != ABTI_PARSED_ALL)
            return ABTI_PARSED_NONE;
        *value = is_true;
        return ABTI_PARSED_ALL;
    default:
        if (!abti_variable_find_word(variable, text, &word))
            return ABTI_PARSED_NONE;
        *value = (uint64_t)word;
        return ABTI_PARSED_ALL;
    }
}

/* The largest value. The memory of the machine is asked for only if the answer matters. */
static uint64_t max_for(const struct abti_variable *variable, const struct abti_limits *limits, uint64_t value)
{
    uint64_t max = limits->max;
    if (variable->memory_part > 0 && value > max && abti_vm_total() / variable->memory_part > max)
        max = abti_vm_total() / variable->memory_part;
    return max;
}

static uint64_t config_clamped(const struct abti_variable *variable, const struct abti_limits *limits, uint64_t value)
{
    if (variable->type == ABTI_VARIABLE_BOOL || variable->type == ABTI_VARIABLE_WORD)
        return value;
    if (value < limits->min)
        value = limits->min;
    uint64_t max = max_for(variable, limits, value);
    return abti_variable_rounded(variable, value > max ? max : value);
}

/*
 * An empty text counts as no text. A number below the least one is not reported: it is a usual
 * way to ask for the least.
 */
static void load_value(struct abti_config *config, const struct abti_variable *variable, bool tells)
{
    const char *text = abti_env_get(variable->name);
    struct abti_limits limits = abti_variable_limits(variable, config);
    uint64_t asked = limits.dflt;
    enum abti_parsed parsed = text && *text ? parse_value(variable, text, &asked) : ABTI_PARSED_ALL;
    uint64_t value = config_clamped(variable, &limits, asked);
    char used[TEXT_ROOM];
    set_field(config, variable, value);
    if (!tells || !text || !*text)
        return;
    config_spell(variable, value, used);
    if (parsed == ABTI_PARSED_NONE)
        tell_value(variable, text, "not understood", used);
    else if (parsed == ABTI_PARSED_PART)
        tell_value(variable, text, "understood in part", used);
    else if (asked > value)
        tell_value(variable, text, "too large", used);
    else if (value != config_clamped(variable, &limits, limits.dflt))
        tell_void(variable);
}

/* The words that say no and yes are no names of files: one that has such a name can be written as ./yes. */
static int load_text(struct abti_config *config, const struct abti_variable *variable, bool tells)
{
    const char *text = abti_env_get(variable->name);
    bool on;
    if (!text || !*text)
        return ABT_SUCCESS;
    if (abti_parse_bool(text, &on) == ABTI_PARSED_ALL) {
        if (on && tells)
            tell_value(variable, text, "not understood", "none");
        return ABT_SUCCESS;
    }
    if (tells)
        tell_void(variable);
    char **field = field_of(config, variable);
    *field = strdup(text);
    return *field ? ABT_SUCCESS : ABT_ERR_MEM;
}

static int load_cpus(struct abti_config *config, const struct abti_variable *variable, bool tells)
{
    const char *text = abti_env_get(variable->name);
    bool on;

    config->affinity = ABTI_BUILD_AFFINITY && !abti_parse_is_off(text);
    if (tells && text && *text && !abti_parse_is_off(text))
        tell_void(variable);
    config->binds = ABTI_BUILD_BINDS;
    if (!text || !*text || !config->affinity)
        return ABT_SUCCESS;
    int error = abti_parse_cpu_list(text, &config->cpu_list);
    if (error == -ENOMEM)
        return ABT_ERR_MEM;
    /* A text that is neither a list nor a word counts as not set. */
    if (!error || abti_parse_bool(text, &on) != ABTI_PARSED_NONE)
        config->binds = true;
    else if (tells)
        tell_value(variable, text, "not understood", ABTI_BUILD_BINDS ? "each CPU in turn" : "none");
    return ABT_SUCCESS;
}

static int load_nodes(struct abti_config *config, const struct abti_variable *variable, bool tells)
{
    const char *text = abti_env_get(variable->name);
    bool on;

    config->numa = !abti_parse_is_off(text);
    if (!text || !*text || !config->numa)
        return ABT_SUCCESS;
    int error = abti_parse_cpu_list(text, &config->node_list);
    if (error == -ENOMEM)
        return ABT_ERR_MEM;
    if (error && tells && abti_parse_bool(text, &on) == ABTI_PARSED_NONE)
        tell_value(variable, text, "not understood", "yes");
    return ABT_SUCCESS;
}

static int load_variable(struct abti_config *config, const struct abti_variable *variable, bool tells)
{
    switch (variable->type) {
    case ABTI_VARIABLE_NONE: return ABT_SUCCESS;
    case ABTI_VARIABLE_TEXT: return load_text(config, variable, tells);
    case ABTI_VARIABLE_CPUS: return load_cpus(config, variable, tells);
    case ABTI_VARIABLE_NODES: return load_nodes(config, variable, tells);
    default: load_value(config, variable, tells); return ABT_SUCCESS;
    }
}

int abti_config_load(struct abti_config *config, bool tells)
{
    *config = (struct abti_config){0};
    for (size_t i = 0; i < abti_num_variables; i++) {
        int code = load_variable(config, &abti_variables[i], tells);
        if (code != ABT_SUCCESS) {
            abti_config_fini(config);
            return code;
        }
    }
    config->tool = ABTI_BUILD_TOOL && config->tool;
    config->watch_waits = config->deadlock_check != ABTI_DEADLOCK_OFF;
    return ABT_SUCCESS;
}

void abti_config_fini(struct abti_config *config)
{
    for (size_t i = 0; i < abti_num_variables; i++) {
        const struct abti_variable *variable = &abti_variables[i];
        void *memory = NULL;
        if (!has_memory(variable))
            continue;
        memcpy(&memory, field_of(config, variable), sizeof(memory));
        free(memory);
        memset(field_of(config, variable), 0, sizeof(memory));
    }
}

/* --- Printing --- */

static void print_kind(FILE *fp, const struct abti_config *config, const struct abti_variable *variable)
{
    struct abti_limits limits = abti_variable_limits(variable, config);
    switch (variable->type) {
    case ABTI_VARIABLE_BOOL: fputs("0 or 1", fp); break;
    case ABTI_VARIABLE_INT: fprintf(fp, "%" PRIu64 " to %" PRIu64, limits.min, limits.max); break;
    case ABTI_VARIABLE_SIZE:
        fprintf(fp, "%" PRIu64 " to %" PRIu64 " bytes", limits.min, max_for(variable, &limits, UINT64_MAX));
        break;
    case ABTI_VARIABLE_WORD:
        for (const struct abti_word *word = variable->words; word->text; word++)
            fprintf(fp, "%s%s", word == variable->words ? "" : " | ", word->text);
        break;
    default: fputs("text", fp); break;
    }
}

/* What is not one number or word is only said to be there: the environment may have changed since it was read. */
static void print_variable(FILE *fp, const struct abti_config *config, const struct abti_variable *variable)
{
    char now[TEXT_ROOM] = "", dflt[TEXT_ROOM] = "not set";
    if (has_memory(variable)) {
        void *memory = NULL;
        memcpy(&memory, (const char *)config + variable->offset, sizeof(memory));
        if (memory)
            snprintf(now, sizeof(now), "%s", variable->type == ABTI_VARIABLE_TEXT ? (char *)memory : "a list");
    } else {
        struct abti_limits limits = abti_variable_limits(variable, config);
        config_spell(variable, get_field(config, variable), now);
        config_spell(variable, config_clamped(variable, &limits, limits.dflt), dflt);
    }
    fprintf(fp, "  ABT_%s=%s (default: %s; ", variable->name, now, dflt);
    print_kind(fp, config, variable);
    fprintf(fp, ")\n      %s\n", variable->help);
    if (variable->void_by)
        fprintf(fp, "      no effect %s\n", variable->void_by);
}

void abti_config_print(FILE *fp, const struct abti_config *config)
{
    fprintf(fp, "environment variables and their values; ABT_ENV_X is read where ABT_X is not set:\n");
    for (size_t i = 0; i < abti_num_variables; i++) {
        if (abti_variables[i].type != ABTI_VARIABLE_NONE)
            print_variable(fp, config, &abti_variables[i]);
    }
}
