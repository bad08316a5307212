/* SPDX-License-Identifier: BSD-3-Clause */
#include "icv/places.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "icv/icv.h"

abtomp_places abtomp_place_list;

/* ---- The list ---------------------------------------------------------------------------------------------------- */

/* Adds a processor, or takes it out. Those that no kernel has are left out. */
static bool set_processor(abtomp_cpus *set, long cpu, bool is_in)
{
    if (cpu < 0)
        return false;
    if (cpu < ABTOMP_NUM_CPUS && is_in)
        CPU_SET_S((size_t)cpu, sizeof(*set), set->words);
    else if (cpu < ABTOMP_NUM_CPUS)
        CPU_CLR_S((size_t)cpu, sizeof(*set), set->words);
    return true;
}

static abtomp_cpus noted;

void abtomp_cpus_note(void)
{
    abtomp_cpus initial = {0}, own;
    (void)abtomp_cpus_allowed(&own);
    if (getpid() != gettid())
        (void)sched_getaffinity(getpid(), sizeof(initial), initial.words);
    CPU_OR_S(sizeof(noted), noted.words, own.words, initial.words);
}

abtomp_cpus abtomp_cpus_noted(void)
{
    return noted;
}

static abtomp_cpus allowed_processors(void)
{
    abtomp_cpus allowed = noted;
    if (abtomp_cpus_count(&allowed) == 0)
        for (int i = 0; i < abtomp_env.num_procs; i++)
            set_processor(&allowed, i, true);
    return allowed;
}

/* Adds what may be used of a place; false: there is no memory. */
static bool add_place(abtomp_places *list, const abtomp_cpus *set)
{
    abtomp_cpus allowed = allowed_processors(), usable;
    CPU_AND_S(sizeof(usable), usable.words, set->words, allowed.words);
    if (abtomp_cpus_count(&usable) == 0)
        return true;
    abtomp_cpus *sets = realloc(list->sets, ((size_t)list->num + 1) * sizeof(*sets));
    if (sets == NULL)
        return false;
    sets[list->num++] = usable;
    list->sets = sets;
    return true;
}

/* Puts the list in use, if there is anything in it. */
static bool use_list(abtomp_places *list, bool is_right)
{
    if (!is_right || list->num == 0) {
        free(list->sets);
        return false;
    }
    free(abtomp_place_list.sets);
    abtomp_place_list = *list;
    return true;
}

int abtomp_place_processor(int place, int index)
{
    for (int cpu = 0; cpu < ABTOMP_NUM_CPUS; cpu++)
        if (abtomp_cpus_have(&abtomp_place_list.sets[place], cpu) && index-- == 0)
            return cpu;
    return -1;
}

/* ---- Places by number -------------------------------------------------------------------------------------------- */

static void skip_blanks(const char **text)
{
    while (isspace((unsigned char)**text))
        ++*text;
}

/* Whether the character is next, behind which it goes on. */
static bool accept_char(const char **text, char character)
{
    skip_blanks(text);
    if (**text != character)
        return false;
    ++*text;
    skip_blanks(text);
    return true;
}

static bool read_long(const char **text, long *value)
{
    char *end;
    skip_blanks(text);
    *value = strtol(*text, &end, 10);
    if (end == *text)
        return false;
    *text = end;
    skip_blanks(text);
    return true;
}

/* [:length[:stride]], which are 1 if they are not there. */
static bool read_repeat(const char **text, long *length, long *stride)
{
    *length = *stride = 1;
    if (!accept_char(text, ':'))
        return true;
    if (!read_long(text, length) || *length < 1 || *length > ABTOMP_NUM_CPUS)
        return false;
    return !accept_char(text, ':') || read_long(text, stride);
}

/* number[:length[:stride]] or !number, separated by commas, up to the closing brace. */
static bool read_place(const char **text, abtomp_cpus *set)
{
    *set = (abtomp_cpus){0};
    if (!accept_char(text, '{')) {
        long cpu;
        return read_long(text, &cpu) && set_processor(set, cpu, true);
    }
    do {
        bool is_in = !accept_char(text, '!');
        long cpu, length, stride;
        if (!read_long(text, &cpu) || !read_repeat(text, &length, &stride))
            return false;
        for (long i = 0; i < length; i++)
            if (!set_processor(set, cpu + i * stride, is_in))
                return false;
    } while (accept_char(text, ','));
    return accept_char(text, '}');
}

/* The place `shift` processors further; false: it begins before the first one. */
static bool shift_place(const abtomp_cpus *from, long shift, abtomp_cpus *to)
{
    *to = (abtomp_cpus){0};
    for (int cpu = 0; cpu < ABTOMP_NUM_CPUS; cpu++)
        if (abtomp_cpus_have(from, cpu) && !set_processor(to, cpu + shift, true))
            return false;
    return true;
}

static void remove_place(abtomp_places *list, const abtomp_cpus *set)
{
    int kept = 0;
    for (int i = 0; i < list->num; i++)
        if (!CPU_EQUAL_S(sizeof(*set), list->sets[i].words, set->words))
            list->sets[kept++] = list->sets[i];
    list->num = kept;
}

static bool read_places(const char *text, abtomp_places *list)
{
    do {
        bool is_in = !accept_char(&text, '!');
        abtomp_cpus place, shifted;
        long length, stride;
        if (!read_place(&text, &place) || !read_repeat(&text, &length, &stride))
            return false;
        if (!is_in)
            remove_place(list, &place);
        for (long i = 0; i < length && is_in; i++)
            if (!shift_place(&place, i * stride, &shifted) || !add_place(list, &shifted))
                return false;
    } while (accept_char(&text, ','));
    return *text == '\0';
}

/* ---- Places by name ---------------------------------------------------------------------------------------------- */

/* The processors in a file of the system, such as 0-3,8. */
static bool read_file(const char *path, abtomp_cpus *set)
{
    FILE *file = fopen(path, "re");
    int first, last;
    *set = (abtomp_cpus){0};
    if (file == NULL)
        return false;
    while (fscanf(file, "%d", &first) == 1) {
        if (fscanf(file, "-%d", &last) != 1)
            last = first;
        for (int cpu = first; cpu <= last; cpu++)
            set_processor(set, cpu, true);
        if (fgetc(file) != ',')
            break;
    }
    fclose(file);
    return abtomp_cpus_count(set) > 0;
}

/* The processors that share their last cache with one. */
static bool read_last_cache(int cpu, abtomp_cpus *set)
{
    char path[100];
    bool found = false;
    abtomp_cpus shared;
    for (int i = 0;; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
        if (!read_file(path, &shared))
            return found;
        *set = shared;
        found = true;
    }
}

/* The processors of the same NUMA node. */
static bool read_node(int cpu, abtomp_cpus *set)
{
    enum { NUM_NODES = 1024 }; /* as many as a kernel can have */
    char path[100];
    for (int node = 0; node < NUM_NODES; node++) {
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
        if (read_file(path, set) && abtomp_cpus_have(set, cpu))
            return true;
    }
    return false;
}

/* The place of that kind that has the processor. Where the system does not say, it is alone. */
static void find_place(int kind, int cpu, abtomp_cpus *set)
{
    static const char *const files[] = {"", "thread_siblings_list", "core_siblings_list"};
    char path[100];
    bool found = false;
    if (kind == 3)
        found = read_last_cache(cpu, set);
    else if (kind == 4)
        found = read_node(cpu, set);
    else if (kind > 0) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, files[kind]);
        found = read_file(path, set);
    }
    if (!found) {
        *set = (abtomp_cpus){0};
        set_processor(set, cpu, true);
    }
}

static bool read_named(int kind, long most, abtomp_places *list)
{
    abtomp_cpus left = allowed_processors(), place;
    for (int cpu = 0; cpu < ABTOMP_NUM_CPUS && list->num < most; cpu++) {
        if (!abtomp_cpus_have(&left, cpu))
            continue;
        find_place(kind, cpu, &place);
        if (!add_place(list, &place))
            return false;
        for (int other = 0; other < ABTOMP_NUM_CPUS; other++)
            if (abtomp_cpus_have(&place, other))
                set_processor(&left, other, false);
    }
    return true;
}

/* The kind of place that the text names, behind which it goes on, or -1. */
static int read_kind(const char **text)
{
    static const char *const kinds[] = {"threads", "cores", "sockets", "ll_caches", "numa_domains"};
    skip_blanks(text);
    for (int i = 0; i < 5; i++) {
        size_t length = strlen(kinds[i]);
        if (strncasecmp(*text, kinds[i], length) == 0 && (*text)[length] != '_' &&
            !isalnum((unsigned char)(*text)[length])) {
            *text += length;
            return i;
        }
    }
    return -1;
}

/* Named ones may have (number) behind them: there are at most that many. */
bool abtomp_places_parse(const char *text)
{
    abtomp_places list = {0};
    long most = ABTOMP_NUM_CPUS;
    int kind = read_kind(&text);
    if (kind < 0)
        return use_list(&list, read_places(text, &list));
    if (accept_char(&text, '(') && !(read_long(&text, &most) && most > 0 && accept_char(&text, ')')))
        return false;
    skip_blanks(&text);
    return *text == '\0' && use_list(&list, read_named(kind, most, &list));
}

bool abtomp_places_parse_cpus(const char *text)
{
    abtomp_places list = {0};
    bool is_right = true;
    while (is_right && *text != '\0') {
        long first, last, stride = 1;
        if (!read_long(&text, &first))
            break;
        last = first;
        if (accept_char(&text, '-'))
            is_right = read_long(&text, &last) && last >= first && last < ABTOMP_NUM_CPUS;
        if (is_right && accept_char(&text, ':'))
            is_right = read_long(&text, &stride) && stride > 0;
        for (long cpu = first; is_right && cpu <= last; cpu += stride) {
            abtomp_cpus place = {0};
            is_right = set_processor(&place, cpu, true) && add_place(&list, &place);
        }
        accept_char(&text, ',');
    }
    return use_list(&list, is_right && *text == '\0');
}

void abtomp_places_default(void)
{
    (void)abtomp_places_parse("threads");
}

/* ---- Threads on their places ---------------------------------------------------------------------------------------
 */

/* The first of the places for member `member`, if `num` members are spread over `of` places. */
static int spread_from(int member, int num, int of)
{
    return num <= of ? member * (of / num) + (member < of % num ? member : of % num) : member / (num / of);
}

/*
 * Members follow each other beginning at `at`. If there are more members than places, each place gets num / of of
 * them and the first ones one more.
 */
static int close_at(int member, int num, int of)
{
    if (num <= of)
        return member;
    int each = num / of, more = num % of, in_larger = more * (each + 1);
    return member < in_larger ? member / (each + 1) : more + (member - in_larger) / each;
}

int abtomp_places_assign(int policy, int member, int num, int at, abtomp_partition *part)
{
    int all = abtomp_place_list.num, of = part->num > 0 ? part->num : all, first = part->num > 0 ? part->first : 0;
    int offset = at - first < 0 ? at - first + all : at - first;
    if (of == 0 || policy == ABTOMP_BIND_FALSE)
        return -1;
    if (policy == ABTOMP_BIND_PRIMARY)
        return at;
    if (policy != ABTOMP_BIND_SPREAD)
        return (first + (offset + close_at(member, num, of)) % of) % all;
    if (num > of) {
        int place = (first + (offset + close_at(member, num, of)) % of) % all;
        *part = (abtomp_partition){place, 1};
        return place;
    }
    /* The partition is divided; the primary member stays in its part, and the others take the following ones. */
    int own = 0, begin, end;
    while (own + 1 < num && spread_from(own + 1, num, of) <= offset)
        own++;
    int mine = (own + member) % num;
    begin = spread_from(mine, num, of);
    end = mine + 1 < num ? spread_from(mine + 1, num, of) : of;
    int place = member == 0 ? at : (first + begin) % all;
    *part = (abtomp_partition){(first + begin) % all, end - begin};
    return place;
}
