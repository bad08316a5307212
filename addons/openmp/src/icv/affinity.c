/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads are bound, and texts that say so. */
#include "omp.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "icv/places.h"

/* ---- A text with what a thread is and where ---------------------------------------------------------------------- */

/* A text of a fixed room, and how long it would be without the limit. */
struct text {
    char *buffer;
    size_t size, length;
};

static void text_put(struct text *text, char character)
{
    if (text->length + 1 < text->size)
        text->buffer[text->length] = character;
    text->length++;
}

/* How a field is printed: at least so wide, to the right, with zeroes. */
struct form {
    int width;
    bool is_right, has_zeroes;
};

static void put_padded(struct text *text, const char *value, const struct form *form, bool is_number)
{
    int length = (int)strlen(value), padding = form->width - length;
    char fill = form->has_zeroes && form->is_right && is_number ? '0' : ' ';
    if (fill == '0' && *value == '-') {
        text_put(text, *value++);
    }
    for (int i = 0; form->is_right && i < padding; i++)
        text_put(text, fill);
    while (*value != '\0')
        text_put(text, *value++);
    for (int i = 0; !form->is_right && i < padding; i++)
        text_put(text, ' ');
}

static void put_number(struct text *text, long number, const struct form *form)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%ld", number);
    put_padded(text, digits, form, true);
}

/* The processors that the thread may use, such as 0-3,8. */
static void put_processors(struct text *text, const struct form *form)
{
    char list[256];
    struct text inner = {list, sizeof(list), 0};
    const struct form plain = {0};
    abtomp_cpus set;
    (void)abtomp_cpus_allowed(&set);
    for (int cpu = 0, last; cpu < ABTOMP_NUM_CPUS; cpu = last + 1) {
        for (last = cpu; last < ABTOMP_NUM_CPUS && abtomp_cpus_have(&set, last); last++)
            ;
        if (last == cpu)
            continue;
        if (inner.length > 0)
            text_put(&inner, ',');
        put_number(&inner, cpu, &plain);
        if (last - 1 > cpu) {
            text_put(&inner, '-');
            put_number(&inner, last - 1, &plain);
        }
    }
    list[inner.length < sizeof(list) ? inner.length : sizeof(list) - 1] = '\0';
    put_padded(text, list, form, false);
}

static const struct {
    char letter;
    const char *name;
} fields[] = {
    {'t', "team_num"},         {'T', "num_teams"},       {'L', "nesting_level"}, {'n', "thread_num"},
    {'N', "num_threads"},      {'a', "ancestor_tnum"},   {'H', "host"},          {'P', "process_id"},
    {'i', "native_thread_id"}, {'A', "thread_affinity"},
};

/* The letter of the field that is named there, behind which it goes on; 0: there is none. */
static char read_field(const char **format)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t length = strlen(fields[i].name);
        if (**format == fields[i].letter) {
            ++*format;
            return fields[i].letter;
        }
        if (**format == '{' && strncmp(*format + 1, fields[i].name, length) == 0 && (*format)[length + 1] == '}') {
            *format += length + 2;
            return fields[i].letter;
        }
    }
    return 0;
}

static void put_host(struct text *text, const struct form *form)
{
    char host[256] = "";
    if (gethostname(host, sizeof(host) - 1) != 0)
        strcpy(host, "node");
    put_padded(text, host, form, false);
}

static void put_field(struct text *text, const struct abtomp_member *me, char letter, const struct form *form)
{
    const struct abtomp_team *team = me->team;
    switch (letter) {
    case 't': put_number(text, me->league.own, form); break;
    case 'T': put_number(text, me->league.num > 0 ? me->league.num : 1, form); break;
    case 'L': put_number(text, team->level, form); break;
    case 'n': put_number(text, me->num, form); break;
    case 'N': put_number(text, team->num, form); break;
    case 'a': put_number(text, team->parent ? team->parent->num : -1, form); break;
    case 'P': put_number(text, getpid(), form); break;
    case 'i': put_number(text, gettid(), form); break;
    case 'H': put_host(text, form); break;
    default: put_processors(text, form); break;
    }
}

/* %[[0].][width]letter, or with a {name}; %% is a percent sign. A field that is not known prints "undefined". */
static const char *put_percent(struct text *text, const struct abtomp_member *me, const char *format)
{
    struct form form = {0};
    if (*format == '%') {
        text_put(text, '%');
        return format + 1;
    }
    if (*format == '0') {
        form.has_zeroes = true;
        format++;
    }
    if (*format == '.') {
        form.is_right = true;
        format++;
    }
    for (; *format >= '0' && *format <= '9' && form.width < 10000; format++)
        form.width = form.width * 10 + (*format - '0');
    char letter = read_field(&format);
    if (letter != 0) {
        put_field(text, me, letter, &form);
        return format;
    }
    put_padded(text, "undefined", &form, false);
    if (*format == '{')
        return strchr(format, '}') ? strchr(format, '}') + 1 : format + strlen(format);
    return *format != '\0' ? format + 1 : format;
}

size_t abtomp_affinity_text(const struct abtomp_member *me, char *buffer, size_t size, const char *format)
{
    struct text text = {buffer, size, 0};
    if (!format || *format == '\0')
        format = abtomp_env.affinity_format;
    while (*format != '\0') {
        if (*format == '%')
            format = put_percent(&text, me, format + 1);
        else
            text_put(&text, *format++);
    }
    if (size > 0)
        buffer[text.length < size ? text.length : size - 1] = '\0';
    return text.length;
}

/* Where the library that the program has asked for writes it. */
void abtomp_affinity_display(const struct abtomp_member *me, const char *format)
{
    char line[1024];
    abtomp_affinity_text(me, line, sizeof(line), format);
    fprintf(abtomp_env.is_llvm ? stdout : stderr, "%s\n", line);
}

/* ---- Binding ----------------------------------------------------------------------------------------------------- */

/* Binds the calling thread. Where it may not be, it stays. */
static void bind_to(struct abtomp_member *me, int place)
{
    if (place < 0 || me->place == place + 1)
        return;
    me->place = place + 1;
    (void)sched_setaffinity(0, sizeof(abtomp_cpus), abtomp_place_list.sets[place].words);
}

/* The place of the processor that the caller runs on, or the first one. */
static int place_here(void)
{
    int cpu = sched_getcpu();
    for (int i = 0; i < abtomp_place_list.num && cpu >= 0; i++)
        if (abtomp_cpus_have(&abtomp_place_list.sets[i], cpu))
            return i;
    return 0;
}

/* The initial thread is bound to the first place. Other roots are where the system has put them. */
void abtomp_root_place(struct abtomp_member *me)
{
    if (me->icvs.bind != ABTOMP_BIND_FALSE && abtomp_place_list.num > 0 && getpid() == gettid())
        bind_to(me, 0);
}

void abtomp_member_place(struct abtomp_member *me)
{
    const struct abtomp_team *team = me->team;
    const struct abtomp_member *parent = team->parent;
    int policy = team->bind != 0 ? (int)team->bind : parent->icvs.bind;
    if (parent->icvs.bind != ABTOMP_BIND_FALSE)
        me->icvs.bind = (unsigned char)policy;
    if (team->level <= ABTOMP_LISTED_LEVELS && abtomp_env.nested_bind[team->level - 1] >= 0)
        me->icvs.bind = (unsigned char)abtomp_env.nested_bind[team->level - 1];
    me->partition = parent->partition;
    if (parent->icvs.bind != ABTOMP_BIND_FALSE && abtomp_place_list.num > 0) {
        /* What runs on the thread of the member around it is where that one is: OMP_PROC_BIND=true allows that. */
        int at = parent->place > 0 ? parent->place - 1 : place_here();
        int place = abtomp_places_assign(policy, me->num, team->num, at, &me->partition);
        if (me->num > 0 && abtomp_current == me)
            bind_to(me, place);
        else
            me->place = parent->place;
    }
    if (abtomp_env.displays_affinity && (me->displayed_num != team->num || me->displayed_policy != policy)) {
        me->displayed_num = team->num;
        me->displayed_policy = policy;
        abtomp_affinity_display(me, NULL);
    }
}
