/* SPDX-License-Identifier: BSD-3-Clause */
#include "icv/icv.h"
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "icv/places.h"
#include "kmp/environment.h"

/* A list of values, one for each level of nesting. */
struct levels {
    int num;
    int values[ABTOMP_LISTED_LEVELS + 1];
};

struct abtomp_env abtomp_env = {
    .icvs = {.thread_limit = INT_MAX, .max_active_levels = 1},
    .num_procs = 1,
    .spin_count = -1,
    .shares = true,
    .tool = 1,
};

/* What is only used by what follows from it. */
static struct levels threads_said, bind_said;
static bool is_nested;
static int display, ignored, allocator = 1;

/* A variable: how it is read and printed, and where its value is. */
struct variable {
    const char *name, *what; /* what it has to be, for the message */
    bool (*parse)(const struct variable *variable, const char *text);
    void (*print)(const struct variable *variable);
    void *to;
    const char *const *words; /* or NULL; their index is the value */
    int least;
    const char *text, *llvm_text; /* of its default: by gcc's library and by LLVM's. NULL: it begins as it is */
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *skip_spaces(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Whether nothing but spaces is left. */
static bool is_end(const char *text)
{
    return *skip_spaces(text) == '\0';
}

/* Reads a number of at least `least` and goes on behind it. */
static bool read_number(const char **text, long long least, long long most, long long *value)
{
    char *end;
    long long number = strtoll(*text, &end, 10);
    if (end == *text || number < least || number > most)
        return false;
    *text = skip_spaces(end);
    *value = number;
    return true;
}

/* The index of the word at *text, behind which it goes on, or -1. */
static int read_word(const char **text, const char *const *words)
{
    const char *begin = skip_spaces(*text);
    size_t length = strspn(begin, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_01");
    for (int i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], begin, length) == 0) {
            *text = skip_spaces(begin + length);
            return i;
        }
    return -1;
}

static const char *const flags[] = {"false", "true", "0", "1", "no", "yes", NULL};

static bool parse_flag(const struct variable *variable, const char *text)
{
    int word = read_word(&text, flags);
    if (word < 0 || !is_end(text))
        return false;
    *(bool *)variable->to = word & 1;
    return true;
}

static bool parse_word(const struct variable *variable, const char *text)
{
    int word = read_word(&text, variable->words);
    if (word < 0 || !is_end(text))
        return false;
    *(int *)variable->to = word;
    return true;
}

static bool parse_count(const struct variable *variable, const char *text)
{
    long long value;
    if (!read_number(&text, variable->least, INT_MAX, &value) || !is_end(text))
        return false;
    *(int *)variable->to = (int)value;
    return true;
}

static bool parse_levels(const struct variable *variable, const char *text)
{
    struct levels *levels = variable->to, found = {0};
    do {
        long long value = 0;
        if (found.num == ABTOMP_LISTED_LEVELS + 1)
            return false;
        if (variable->words != NULL)
            value = read_word(&text, variable->words);
        else if (!read_number(&text, 1, INT_MAX, &value))
            return false;
        if (value < 0)
            return false;
        found.values[found.num++] = (int)value;
    } while (*text++ == ',');
    if (!is_end(text - 1))
        return false;
    *levels = found;
    return true;
}

static bool parse_bind(const struct variable *variable, const char *text)
{
    struct levels *levels = variable->to;
    if (!parse_levels(variable, text))
        return false;
    for (int i = 0; i < levels->num; i++) {
        levels->values[i] = levels->values[i] == 5 ? ABTOMP_BIND_PRIMARY : levels->values[i];
        if (levels->num > 1 && levels->values[i] < ABTOMP_BIND_PRIMARY) {
            levels->num = 0;
            return false; /* true and false are alone */
        }
    }
    return true;
}

/* Kibibytes, unless a letter says the unit. */
static bool parse_size(const struct variable *variable, const char *text)
{
    static const char units[] = "bkmg";
    long long value;
    int shift = 10;
    if (!read_number(&text, 1, LLONG_MAX >> 30, &value))
        return false;
    const char *unit = *text != '\0' ? strchr(units, tolower((unsigned char)*text)) : NULL;
    if (unit != NULL) {
        shift = 10 * (int)(unit - units);
        text++;
    }
    if (!is_end(text))
        return false;
    *(size_t *)variable->to = (size_t)value << shift;
    return true;
}

static bool parse_spincount(const struct variable *variable, const char *text)
{
    static const char *const endless[] = {"infinite", "infinity", NULL};
    static const char units[] = "kmgt";
    long long value = LLONG_MAX, unit = 1;
    const char *letter;
    if (read_word(&text, endless) < 0) {
        if (!read_number(&text, 0, 1000000000, &value))
            return false;
        if (*text != '\0' && (letter = strchr(units, tolower((unsigned char)*text))) != NULL) {
            text++;
            for (const char *each = units; each <= letter; each++)
                unit *= 1000;
        }
        value = value > LLONG_MAX / unit ? LLONG_MAX : value * unit;
    }
    *(long long *)variable->to = value;
    return is_end(text);
}

/* By their numbers, then those of LLVM. */
static const char *const schedules[] = {"?",    "static",      "dynamic",      "guided",
                                        "auto", "trapezoidal", "static_steal", NULL};
static const int more_kinds[] = {ABTOMP_TRAPEZOIDAL, ABTOMP_DYNAMIC};

static bool parse_schedule(const struct variable *variable, const char *text)
{
    static const char *const modifiers[] = {"nonmonotonic", "monotonic", NULL};
    struct abtomp_icvs *icvs = variable->to;
    int modifier = -1; /* none: a static loop is monotonic, but by LLVM's library */
    if (strchr(text, ':') != NULL && ((modifier = read_word(&text, modifiers)) < 0 || *text++ != ':'))
        return false;
    int kind = read_word(&text, schedules);
    if (kind <= 0)
        return false;
    kind = kind > ABTOMP_AUTO ? more_kinds[kind - ABTOMP_AUTO - 1] : kind;
    long long chunk = kind != ABTOMP_STATIC;
    if (*text == ',') {
        text++;
        if (!read_number(&text, 0, INT_MAX, &chunk))
            return false;
        if (chunk == 0 && kind != ABTOMP_STATIC)
            chunk = 1;
    }
    if (!is_end(text))
        return false;
    bool is_monotonic = modifier == 1 || (modifier < 0 && kind == ABTOMP_STATIC && !abtomp_env.is_llvm);
    icvs->run_sched = (unsigned)kind | (is_monotonic ? ABTOMP_MONOTONIC : 0);
    icvs->run_chunk = (long)chunk;
    return true;
}

static bool parse_places(const struct variable *variable, const char *text)
{
    (void)variable;
    return abtomp_places_parse(text);
}

static bool parse_cpus(const struct variable *variable, const char *text)
{
    (void)variable;
    return abtomp_places_parse_cpus(text);
}

static bool parse_text(const struct variable *variable, const char *text)
{
    if (strlen(text) >= (size_t)variable->least)
        return false;
    strcpy(variable->to, text);
    return true;
}

/* For what is named here, but has no effect. */
static bool parse_nothing(const struct variable *variable, const char *text)
{
    (void)variable;
    (void)text;
    return true;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_flag(const struct variable *variable)
{
    fprintf(stderr, "%s", *(bool *)variable->to ? "TRUE" : "FALSE");
}

static void print_upper(const char *word)
{
    for (; *word != '\0'; word++)
        fputc(toupper((unsigned char)*word), stderr);
}

static void print_word(const struct variable *variable)
{
    print_upper(variable->words[*(int *)variable->to]);
}

static void print_count(const struct variable *variable)
{
    fprintf(stderr, "%d", *(int *)variable->to);
}

static void print_levels(const struct variable *variable)
{
    const struct levels *levels = variable->to;
    if (levels->num == 0)
        fprintf(stderr, variable->words == NULL ? "%d" : "FALSE", abtomp_env.num_procs);
    for (int i = 0; i < levels->num; i++) {
        if (i > 0)
            fputc(',', stderr);
        if (variable->words == NULL)
            fprintf(stderr, "%d", levels->values[i]);
        else
            print_upper(variable->words[levels->values[i]]);
    }
}

static void print_size(const struct variable *variable)
{
    fprintf(stderr, "%zuB", *(size_t *)variable->to);
}

static void print_spincount(const struct variable *variable)
{
    long long count = *(long long *)variable->to;
    if (count == LLONG_MAX)
        fputs("INFINITY", stderr);
    else
        fprintf(stderr, "%lld", count);
}

static void print_schedule(const struct variable *variable)
{
    const struct abtomp_icvs *icvs = variable->to;
    unsigned kind = icvs->run_sched & ~ABTOMP_MONOTONIC;
    if ((icvs->run_sched & ABTOMP_MONOTONIC) != 0 && kind != ABTOMP_STATIC)
        fputs("MONOTONIC:", stderr);
    print_upper(schedules[kind == ABTOMP_TRAPEZOIDAL ? ABTOMP_AUTO + 1 : kind]);
    if (icvs->run_chunk > (kind == ABTOMP_STATIC ? 0 : 1))
        fprintf(stderr, ",%ld", icvs->run_chunk);
}

static void print_places(const struct variable *variable)
{
    (void)variable;
    for (int i = 0; i < abtomp_place_list.num; i++) {
        fputs(i > 0 ? ",{" : "{", stderr);
        for (int j = 0, cpu; (cpu = abtomp_place_processor(i, j)) >= 0; j++)
            fprintf(stderr, "%s%d", j > 0 ? "," : "", cpu);
        fputc('}', stderr);
    }
}

static void print_text(const struct variable *variable)
{
    fputs(variable->to, stderr);
}

/* ---- The variables ----------------------------------------------------------------------------------------------- */

static const char *const policies[] = {"false", "true", "primary", "close", "spread", "master", NULL};
static const char *const waits[] = {"", "passive", "active", NULL};
static const char *const nestings[] = {"auto", "t", "u", NULL};
static const char *const offloads[] = {"default", "mandatory", "disabled", NULL};
static const char *const displays[] = {"false", "true", "verbose", "0", "1", "no", "yes", NULL};
static const char *const tools[] = {"disabled", "enabled", NULL};
static const char *const allocators[] = {"omp_null_allocator",      "omp_default_mem_alloc",
                                         "omp_large_cap_mem_alloc", "omp_const_mem_alloc",
                                         "omp_high_bw_mem_alloc",   "omp_low_lat_mem_alloc",
                                         "omp_cgroup_mem_alloc",    "omp_pteam_mem_alloc",
                                         "omp_thread_mem_alloc",    NULL};

static bool parse_display(const struct variable *variable, const char *text)
{
    if (!parse_word(variable, text))
        return false;
    int word = *(int *)variable->to;
    *(int *)variable->to = word > 2 ? (word & 1) == 0 : word;
    return true;
}

/* A variable that is named later has precedence over an older name of the same. */
static const struct variable variables[] = {
    {"OMP_DYNAMIC", "true or false", parse_flag, print_flag, .to = &abtomp_env.icvs.dynamic},
    {"OMP_NESTED", "true or false", parse_flag, print_flag, .to = &is_nested},
    {"OMP_NUM_THREADS", "a list of positive numbers", parse_levels, print_levels, .to = &threads_said},
    {"OMP_SCHEDULE", "[[non]monotonic:]static, dynamic, guided, auto, trapezoidal or static_steal[,chunk]",
     parse_schedule, print_schedule, .to = &abtomp_env.icvs, .text = "dynamic", .llvm_text = "static"},
    {"OMP_PROC_BIND", "true, false, or a list of primary, close and spread", parse_bind, print_levels, .to = &bind_said,
     .words = policies},
    {"GOMP_CPU_AFFINITY", "a list of processors that there are", parse_cpus, NULL, .to = NULL},
    {"OMP_PLACES", "a list of places with processors that there are", parse_places, print_places, .to = NULL},
    {"GOMP_STACKSIZE", "a size", parse_size, NULL, .to = &abtomp_env.stack_size},
    {"OMP_STACKSIZE", "a size", parse_size, print_size, .to = &abtomp_env.stack_size},
    {"OMP_WAIT_POLICY", "active or passive", parse_word, print_word, .to = &abtomp_env.wait_policy, .words = waits},
    {"OMP_THREAD_LIMIT", "a positive number", parse_count, print_count, .to = &abtomp_env.icvs.thread_limit,
     .least = 1},
    {"OMP_MAX_ACTIVE_LEVELS", "a number", parse_count, print_count, .to = &abtomp_env.icvs.max_active_levels},
    {"OMP_NUM_TEAMS", "a positive number", parse_count, print_count, .to = &abtomp_env.num_teams, .least = 1},
    {"OMP_TEAMS_THREAD_LIMIT", "a positive number", parse_count, print_count, .to = &abtomp_env.teams_thread_limit,
     .least = 1},
    {"OMP_CANCELLATION", "true or false", parse_flag, print_flag, .to = &abtomp_env.cancels},
    {"OMP_DEFAULT_DEVICE", "a number", parse_count, print_count, .to = &abtomp_env.icvs.default_device},
    {"OMP_MAX_TASK_PRIORITY", "a number", parse_count, print_count, .to = &abtomp_env.max_task_priority},
    {"OMP_DISPLAY_AFFINITY", "true or false", parse_flag, print_flag, .to = &abtomp_env.displays_affinity},
    {"OMP_AFFINITY_FORMAT", "a text of at most 511 characters", parse_text, print_text,
     .to = abtomp_env.affinity_format, .least = sizeof(abtomp_env.affinity_format),
     .text = "level %L thread %i affinity %A", .llvm_text = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"},
    {"OMP_ALLOCATOR", "the name of a predefined allocator", parse_word, print_word, .to = &allocator,
     .words = allocators},
    {"OMP_TARGET_OFFLOAD", "default, mandatory or disabled", parse_word, print_word, .to = &abtomp_env.target_offload,
     .words = offloads},
    {"OMP_DISPLAY_ENV", "true, false or verbose", parse_display, NULL, .to = &display, .words = displays},
    {"OMP_TOOL", "enabled or disabled", parse_word, NULL, .to = &abtomp_env.tool, .words = tools},
    {"OMP_TOOL_LIBRARIES", "", parse_nothing, NULL, .to = NULL},
    {"OMP_TOOL_VERBOSE_INIT", "", parse_nothing, NULL, .to = NULL},
    {"OMP_DEBUG", "enabled or disabled", parse_word, NULL, .to = &ignored, .words = tools},
    {"GOMP_SPINCOUNT", "a number, or infinity", parse_spincount, print_spincount, .to = &abtomp_env.spin_count},
    {"ABT_OMP_NESTED", "t, u or auto", parse_word, print_word, .to = &abtomp_env.nested, .words = nestings},
    {"ABT_OMP_SHARE", "0 or 1", parse_flag, print_flag, .to = &abtomp_env.shares},
};
#define NUM_VARIABLES ((int)(sizeof(variables) / sizeof(variables[0])))

static const char *value_of(const char *name)
{
    const char *text = getenv(name);
    if (text == NULL)
        text = abtomp_kmp_value_of(name);
    return text != NULL && !is_end(text) ? skip_spaces(text) : NULL;
}

static void read_variable(const struct variable *variable)
{
    const char *text = value_of(variable->name);
    if (variable->text)
        (void)variable->parse(variable, abtomp_env.is_llvm ? variable->llvm_text : variable->text);
    if (text != NULL && !variable->parse(variable, text))
        fprintf(stderr, "libabtomp: %s=%.60s is not %s; it is ignored\n", variable->name, text, variable->what);
}

/* The system has the last word on sizes of stacks. */
static void check_stack_size(void)
{
    pthread_attr_t attr;
    if (abtomp_env.stack_size == 0 || pthread_attr_init(&attr) != 0)
        return;
    if (pthread_attr_setstacksize(&attr, abtomp_env.stack_size) != 0) {
        fprintf(stderr, "libabtomp: stacks have at least %ld bytes; OMP_STACKSIZE is ignored\n",
                sysconf(_SC_THREAD_STACK_MIN));
        abtomp_env.stack_size = 0;
    }
    pthread_attr_destroy(&attr);
}

/* What follows from several variables. */
static void derive_all(void)
{
    check_stack_size();
    struct abtomp_icvs *icvs = &abtomp_env.icvs;
    if (value_of("OMP_MAX_ACTIVE_LEVELS") == NULL && (is_nested || threads_said.num > 1 || bind_said.num > 1))
        icvs->max_active_levels = ABTOMP_MOST_LEVELS;
    if (icvs->max_active_levels > ABTOMP_MOST_LEVELS)
        icvs->max_active_levels = ABTOMP_MOST_LEVELS;
    icvs->is_said = threads_said.num > 0;
    icvs->num_threads = icvs->is_said ? threads_said.values[0] : abtomp_env.num_procs;
    for (int i = 0; i < ABTOMP_LISTED_LEVELS; i++) {
        abtomp_env.nested_threads[i] = threads_said.values[i + 1];
        abtomp_env.nested_bind[i] = (signed char)(i + 1 < bind_said.num ? bind_said.values[i + 1] : -1);
    }
    if (bind_said.num > 0)
        icvs->bind = (unsigned char)bind_said.values[0];
    else if (abtomp_place_list.num > 0)
        icvs->bind = ABTOMP_BIND_TRUE;
    if (icvs->bind != ABTOMP_BIND_FALSE && abtomp_place_list.num == 0)
        abtomp_places_default();
    icvs->allocator = (uintptr_t)allocator;
    abtomp_env.places_members = icvs->bind != ABTOMP_BIND_FALSE || abtomp_env.displays_affinity;
    abtomp_env.is_active = abtomp_env.wait_policy == ABTOMP_WAIT_ACTIVE;
    /* What is displayed are threads. */
    if (abtomp_env.nested == ABTOMP_NESTED_THREADS || abtomp_env.displays_affinity)
        abtomp_env.serial_width = UINT64_MAX;
    else
        abtomp_env.serial_width = abtomp_env.nested == ABTOMP_NESTED_AUTO ? (uint64_t)abtomp_env.num_procs : 1;
}

/* Which there are is noted before the program can bind the thread that uses OpenMP first. */
static __attribute__((constructor)) void note_procs(void)
{
    abtomp_cpus_note();
}

void abtomp_icv_start(void)
{
    abtomp_cpus allowed = abtomp_cpus_noted();
    abtomp_env.num_procs = abtomp_cpus_count(&allowed) > 0 ? abtomp_cpus_count(&allowed) : 1;
    abtomp_env.is_llvm = abtomp_kmp_is_asked_for();
    for (int i = 0; i < NUM_VARIABLES; i++)
        read_variable(&variables[i]);
    derive_all();
    if (display > 0)
        abtomp_icv_display(display > 1);
}

void abtomp_icv_display(bool is_verbose)
{
    fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n  LIBRARY = 'libabtomp'\n", stderr);
    for (int i = 0; i < NUM_VARIABLES; i++) {
        bool standard = strncmp(variables[i].name, "OMP_", 4) == 0;
        if (variables[i].print == NULL || !(standard || is_verbose))
            continue;
        fprintf(stderr, "  %s = '", variables[i].name);
        variables[i].print(&variables[i]);
        fputs("'\n", stderr);
    }
    abtomp_kmp_name_unused();
    fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
}
