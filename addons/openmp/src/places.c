/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "icv.h"

abtomp_places abtomp_place_list;

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static cpu_set_t allowed_processors(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        for (int i = 0; i < abtomp_env.num_procs && i < CPU_SETSIZE; i++)
            CPU_SET(i, &allowed);
    return allowed;
}

/* Adds what may be used of a place; false: there is no memory. */
static bool add_place(abtomp_places *list, const cpu_set_t *set)
{
    cpu_set_t allowed = allowed_processors(), usable;
    CPU_AND(&usable, set, &allowed);
    if (CPU_COUNT(&usable) == 0)
        return true;
    cpu_set_t *sets = realloc(list->sets, ((size_t)list->num + 1) * sizeof(*sets));
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
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &abtomp_place_list.sets[place]) && index-- == 0)
            return cpu;
    return -1;
}

/* ---- Places by number -------------------------------------------------------------------------------------------- */

static void skip(const char **text)
{
    while (isspace((unsigned char)**text))
        ++*text;
}

/* Whether the character is next, behind which it goes on. */
static bool accept(const char **text, char character)
{
    skip(text);
    if (**text != character)
        return false;
    ++*text;
    skip(text);
    return true;
}

static bool read_long(const char **text, long *value)
{
    char *end;
    skip(text);
    *value = strtol(*text, &end, 10);
    if (end == *text)
        return false;
    *text = end;
    skip(text);
    return true;
}

/* [:length[:stride]], which are 1 if they are not there. */
static bool read_repeat(const char **text, long *length, long *stride)
{
    *length = *stride = 1;
    if (!accept(text, ':'))
        return true;
    if (!read_long(text, length) || *length < 1 || *length > CPU_SETSIZE)
        return false;
    return !accept(text, ':') || read_long(text, stride);
}

static bool set_processor(cpu_set_t *set, long cpu, bool is_in)
{
    if (cpu < 0)
        return false;
    if (cpu < CPU_SETSIZE && is_in)
        CPU_SET((size_t)cpu, set);
    else if (cpu < CPU_SETSIZE)
        CPU_CLR((size_t)cpu, set);
    return true;
}

/* number[:length[:stride]] or !number, separated by commas, up to the closing brace. */
static bool read_place(const char **text, cpu_set_t *set)
{
    CPU_ZERO(set);
    if (!accept(text, '{')) {
        long cpu;
        return read_long(text, &cpu) && set_processor(set, cpu, true);
    }
    do {
        bool is_in = !accept(text, '!');
        long cpu, length, stride;
        if (!read_long(text, &cpu) || !read_repeat(text, &length, &stride))
            return false;
        for (long i = 0; i < length; i++)
            if (!set_processor(set, cpu + i * stride, is_in))
                return false;
    } while (accept(text, ','));
    return accept(text, '}');
}

/* The place `shift` processors further; false: it begins before the first one. */
static bool shift_place(const cpu_set_t *from, long shift, cpu_set_t *to)
{
    CPU_ZERO(to);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, from) && !set_processor(to, cpu + shift, true))
            return false;
    return true;
}

static void remove_place(abtomp_places *list, const cpu_set_t *set)
{
    int kept = 0;
    for (int i = 0; i < list->num; i++)
        if (!CPU_EQUAL(&list->sets[i], set))
            list->sets[kept++] = list->sets[i];
    list->num = kept;
}

static bool read_places(const char *text, abtomp_places *list)
{
    do {
        bool is_in = !accept(&text, '!');
        cpu_set_t place, shifted;
        long length, stride;
        if (!read_place(&text, &place) || !read_repeat(&text, &length, &stride))
            return false;
        if (!is_in)
            remove_place(list, &place);
        for (long i = 0; i < length && is_in; i++)
            if (!shift_place(&place, i * stride, &shifted) || !add_place(list, &shifted))
                return false;
    } while (accept(&text, ','));
    return *text == '\0';
}

/* ---- Places by name ---------------------------------------------------------------------------------------------- */

/* The processors in a file of the system, such as 0-3,8. */
static bool read_file(const char *path, cpu_set_t *set)
{
    FILE *file = fopen(path, "re");
    int first, last;
    CPU_ZERO(set);
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
    return CPU_COUNT(set) > 0;
}

/* The processors that share their last cache with one. */
static bool read_last_cache(int cpu, cpu_set_t *set)
{
    char path[100];
    bool found = false;
    cpu_set_t shared;
    for (int i = 0;; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
        if (!read_file(path, &shared))
            return found;
        *set = shared;
        found = true;
    }
}

/* The processors of the same NUMA node. */
static bool read_node(int cpu, cpu_set_t *set)
{
    char path[100];
    for (int node = 0; node < CPU_SETSIZE; node++) {
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
        if (read_file(path, set) && CPU_ISSET(cpu, set))
            return true;
    }
    return false;
}

/* The place of that kind that has the processor. Where the system does not say, it is alone. */
static void find_place(int kind, int cpu, cpu_set_t *set)
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
        CPU_ZERO(set);
        set_processor(set, cpu, true);
    }
}

static bool read_named(int kind, long most, abtomp_places *list)
{
    cpu_set_t left = allowed_processors(), place;
    for (int cpu = 0; cpu < CPU_SETSIZE && list->num < most; cpu++) {
        if (!CPU_ISSET(cpu, &left))
            continue;
        find_place(kind, cpu, &place);
        if (!add_place(list, &place))
            return false;
        for (int other = 0; other < CPU_SETSIZE; other++)
            if (CPU_ISSET(other, &place))
                CPU_CLR((size_t)other, &left);
    }
    return true;
}

/* The kind of place that the text names, behind which it goes on, or -1. */
static int read_kind(const char **text)
{
    static const char *const kinds[] = {"threads", "cores", "sockets", "ll_caches", "numa_domains"};
    skip(text);
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

/* Named ones may have (number) behind them, so many of them at most. */
bool abtomp_places_parse(const char *text)
{
    abtomp_places list = {0};
    long most = CPU_SETSIZE;
    int kind = read_kind(&text);
    if (kind < 0)
        return use_list(&list, read_places(text, &list));
    if (accept(&text, '(') && !(read_long(&text, &most) && most > 0 && accept(&text, ')')))
        return false;
    skip(&text);
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
        if (accept(&text, '-'))
            is_right = read_long(&text, &last) && last >= first && last < CPU_SETSIZE;
        if (is_right && accept(&text, ':'))
            is_right = read_long(&text, &stride) && stride > 0;
        for (long cpu = first; is_right && cpu <= last; cpu += stride) {
            cpu_set_t place;
            CPU_ZERO(&place);
            is_right = set_processor(&place, cpu, true) && add_place(&list, &place);
        }
        accept(&text, ',');
    }
    return use_list(&list, is_right && *text == '\0');
}

void abtomp_places_default(void)
{
    (void)abtomp_places_parse("threads");
}

/* ---- Who is bound to which --------------------------------------------------------------------------------------- */

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
