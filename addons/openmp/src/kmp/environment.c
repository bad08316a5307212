/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables of LLVM's and Intel's libraries, which are read as the variables of OpenMP that say the same. */
#include "kmp/environment.h"
#include "icv/icv.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST = 512 };

/* Makes the text of OpenMP's variable of that of LLVM's. False: nothing of OpenMP says this. */
typedef bool translation(const char *text, char *to);

/* Whether an element of a list with commas, of any case, is a word; `rest`, if not NULL: or begins with it. */
static bool has_word(const char *list, const char *word, const char **rest)
{
    size_t length = strlen(word);
    while (list) {
        if (strncasecmp(list, word, length) == 0 && (rest || list[length] == '\0' || list[length] == ',')) {
            if (rest)
                *rest = list + length;
            return true;
        }
        list = strchr(list, ',');
        list += list != NULL;
    }
    return false;
}

static bool keep_text(const char *text, char *to)
{
    return snprintf(to, MOST, "%s", text) < MOST;
}

/* A number without a unit is one of bytes. */
static bool make_size(const char *text, char *to)
{
    bool has_unit = text[strspn(text, "0123456789")] != '\0';
    return snprintf(to, MOST, "%s%s", text, has_unit ? "" : "b") < MOST;
}

/* Milliseconds that a waiting thread spins: none and for ever are policies of OpenMP. */
static bool make_policy(const char *text, char *to)
{
    if (has_word(text, "infinite", NULL))
        return keep_text("active", to);
    return strtol(text, NULL, 10) == 0 && text[0] == '0' && keep_text("passive", to);
}

static bool make_policy_of_kind(const char *text, char *to)
{
    if (has_word(text, "turnaround", NULL))
        return keep_text("active", to);
    return has_word(text, "throughput", NULL) && keep_text("passive", to);
}

static bool make_number_of_kind(const char *text, char *to)
{
    return has_word(text, "serial", NULL) && keep_text("1", to);
}

static bool make_bind(const char *text, char *to)
{
    if (has_word(text, "none", NULL) || has_word(text, "disabled", NULL))
        return keep_text("false", to);
    if (has_word(text, "compact", NULL))
        return keep_text("close", to);
    return (has_word(text, "scatter", NULL) || has_word(text, "balanced", NULL)) && keep_text("spread", to);
}

static bool make_places(const char *text, char *to)
{
    bool is_core = has_word(text, "granularity=core", NULL);
    return make_bind(text, to) && strcmp(to, "false") != 0 && keep_text(is_core ? "cores" : "threads", to);
}

/* proclist=[0,3-5] is a list of processors, as gcc's variable is. */
static bool make_processors(const char *text, char *to)
{
    const char *list;
    if (!has_word(text, "explicit", NULL) || !has_word(text, "proclist=[", &list))
        return false;
    size_t length = strcspn(list, "]");
    return list[length] == ']' && snprintf(to, MOST, "%.*s", (int)length, list) < MOST;
}

/* An earlier line goes before a later one for the same variable. */
static const struct {
    const char *of, *name;
    translation *translate;
} variables[] = {
    {"OMP_STACKSIZE", "KMP_STACKSIZE", make_size},
    {"OMP_WAIT_POLICY", "KMP_BLOCKTIME", make_policy},
    {"OMP_WAIT_POLICY", "KMP_LIBRARY", make_policy_of_kind},
    {"OMP_NUM_THREADS", "KMP_LIBRARY", make_number_of_kind},
    {"OMP_THREAD_LIMIT", "KMP_DEVICE_THREAD_LIMIT", keep_text},
    {"OMP_THREAD_LIMIT", "KMP_ALL_THREADS", keep_text},
    {"OMP_TEAMS_THREAD_LIMIT", "KMP_TEAMS_THREAD_LIMIT", keep_text},
    {"OMP_PROC_BIND", "KMP_AFFINITY", make_bind},
    {"OMP_PLACES", "KMP_AFFINITY", make_places},
    {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", make_processors},
};
enum { NUM = sizeof(variables) / sizeof(variables[0]) };

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* of the linker: where the library begins */

static int look_at_file(struct dl_phdr_info *info, size_t size, void *is_asked_for)
{
    (void)size;
    if (info->dlpi_addr != (uintptr_t)__ehdr_start)
        return 0;
    const char *name = strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    *(bool *)is_asked_for = strncmp(name, "libomp", 6) == 0 || strncmp(name, "libiomp", 7) == 0;
    return 1;
}

/*
 * By which name the library was loaded: programs of gcc ask for libgomp.so.1, and do not look at these variables.
 * dladdr would look through all symbols.
 */
bool abtomp_kmp_is_asked_for(void)
{
    bool is_asked_for = false;
    (void)dl_iterate_phdr(look_at_file, &is_asked_for);
    return is_asked_for;
}

const char *abtomp_kmp_value_of(const char *name)
{
    static char text[MOST];
    for (int i = 0; i < NUM; i++) {
        const char *value = strcmp(variables[i].of, name) == 0 ? getenv(variables[i].name) : NULL;
        if (value && abtomp_env.is_llvm && variables[i].translate(value, text))
            return text;
    }
    return NULL;
}

/* Whether some variable of OpenMP has its value from this one, which is NAME=VALUE. */
static bool is_used(const char *setting, size_t length)
{
    char text[MOST];
    for (int i = 0; i < NUM; i++)
        if (strlen(variables[i].name) == length && memcmp(variables[i].name, setting, length) == 0 &&
            variables[i].translate(setting + length + 1, text))
            return true;
    return false;
}

void abtomp_kmp_name_unused(void)
{
    extern char **environ;
    if (!abtomp_env.is_llvm)
        return;
    for (char **each = environ; *each; each++) {
        size_t length = strcspn(*each, "=");
        if (strncmp(*each, "KMP_", 4) == 0 && (*each)[length] == '=' && !is_used(*each, length))
            fprintf(stderr, "  %.*s has no effect\n", (int)length, *each);
    }
}
