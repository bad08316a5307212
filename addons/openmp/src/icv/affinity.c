/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the standard that ask for places, and those that print where a thread is. */
#include "omp.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "icv/places.h"
#include "api/routines.h"

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static bool is_place(int place)
{
    abtomp_start();
    return place >= 0 && place < abtomp_place_list.num;
}

int omp_get_proc_bind(void)
{
    return abtomp_self()->icvs.bind;
}

int omp_get_num_places(void)
{
    abtomp_start();
    return abtomp_place_list.num;
}

int omp_get_place_num_procs(int place)
{
    return is_place(place) ? abtomp_cpus_count(&abtomp_place_list.sets[place]) : 0;
}

void omp_get_place_proc_ids(int place, int *ids)
{
    for (int i = 0, num = omp_get_place_num_procs(place); i < num; i++)
        ids[i] = abtomp_place_processor(place, i);
}

int omp_get_place_num(void)
{
    const struct abtomp_member *me = abtomp_self();
    return me->place - 1;
}

int omp_get_partition_num_places(void)
{
    const struct abtomp_member *me = abtomp_self();
    return me->partition.num > 0 ? me->partition.num : abtomp_place_list.num;
}

void omp_get_partition_place_nums(int *places)
{
    const struct abtomp_member *me = abtomp_self();
    for (int i = 0, num = omp_get_partition_num_places(); i < num; i++)
        places[i] = (me->partition.first + i) % abtomp_place_list.num;
}

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

static void put_field(struct text *text, char letter, const struct form *form)
{
    switch (letter) {
    case 't': put_number(text, omp_get_team_num(), form); break;
    case 'T': put_number(text, omp_get_num_teams(), form); break;
    case 'L': put_number(text, omp_get_level(), form); break;
    case 'n': put_number(text, omp_get_thread_num(), form); break;
    case 'N': put_number(text, omp_get_num_threads(), form); break;
    case 'a': put_number(text, omp_get_ancestor_thread_num(omp_get_level() - 1), form); break;
    case 'P': put_number(text, getpid(), form); break;
    case 'i': put_number(text, gettid(), form); break;
    case 'H': put_host(text, form); break;
    default: put_processors(text, form); break;
    }
}

/* %[[0].][width]letter, or with a {name}; %% is a percent sign. A field that is not known prints "undefined". */
static const char *put_percent(struct text *text, const char *format)
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
        put_field(text, letter, &form);
        return format;
    }
    put_padded(text, "undefined", &form, false);
    if (*format == '{')
        return strchr(format, '}') ? strchr(format, '}') + 1 : format + strlen(format);
    return *format != '\0' ? format + 1 : format;
}

size_t omp_capture_affinity(char *buffer, size_t size, const char *format)
{
    struct text text = {buffer, size, 0};
    abtomp_start();
    if (!format || *format == '\0')
        format = abtomp_env.affinity_format;
    while (*format != '\0') {
        if (*format == '%')
            format = put_percent(&text, format + 1);
        else
            text_put(&text, *format++);
    }
    if (size > 0)
        buffer[text.length < size ? text.length : size - 1] = '\0';
    return text.length;
}

void omp_display_affinity(const char *format)
{
    char line[1024];
    omp_capture_affinity(line, sizeof(line), format);
    fprintf(stderr, "%s\n", line);
}

void omp_set_affinity_format(const char *format)
{
    abtomp_start();
    snprintf(abtomp_env.affinity_format, sizeof(abtomp_env.affinity_format), "%s", format);
}

size_t omp_get_affinity_format(char *buffer, size_t size)
{
    abtomp_start();
    if (size > 0)
        snprintf(buffer, size, "%s", abtomp_env.affinity_format);
    return strlen(abtomp_env.affinity_format);
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
    if (abtomp_env.displays_affinity && me->displayed != team->num) {
        /* Member 0 begins while its thread still runs the task around. */
        struct abtomp_member *outer = abtomp_current;
        me->displayed = team->num;
        abtomp_current = me;
        omp_display_affinity(NULL);
        abtomp_current = outer;
    }
}

/* ---- Fortran ----------------------------------------------------------------------------------------------------- */

ABTOMP_FORTRAN(int, omp_get_proc_bind, (void));
ABTOMP_FORTRAN(int, omp_get_num_places, (void));
ABTOMP_FORTRAN(int, omp_get_place_num, (void));
ABTOMP_FORTRAN(int, omp_get_partition_num_places, (void));
ABTOMP_FORTRAN(void, omp_get_partition_place_nums, (int *places));
ABTOMP_FORTRAN_INT(int, omp_get_place_num_procs)

ABTOMP_API void omp_get_partition_place_nums_8_(int64_t *places);
ABTOMP_API void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids);
ABTOMP_API void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids);
ABTOMP_API void omp_set_affinity_format_(const char *format, size_t length);
ABTOMP_API int omp_get_affinity_format_(char *buffer, size_t length);
ABTOMP_API void omp_display_affinity_(const char *format, size_t length);
ABTOMP_API int omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t length);

void omp_get_partition_place_nums_8_(int64_t *places)
{
    const struct abtomp_member *me = abtomp_self();
    for (int i = 0, num = omp_get_partition_num_places(); i < num; i++)
        places[i] = (me->partition.first + i) % abtomp_place_list.num;
}

void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids)
{
    omp_get_place_proc_ids(*place, ids);
}

void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
{
    int num = abtomp_to_int(*place);
    for (int i = 0, procs = omp_get_place_num_procs(num); i < procs; i++)
        ids[i] = abtomp_place_processor(num, i);
}

/* A text of Fortran, which has a length and is filled up with spaces, as one of C. */
static const char *from_fortran(char *room, size_t size, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length >= size)
        length = size - 1;
    memcpy(room, text, length);
    room[length] = '\0';
    return room;
}

/* The other way round: `used` characters are there already, the last one perhaps lost to the zero byte. */
static void text_fill(char *buffer, size_t size, size_t used)
{
    if (used < size)
        memset(buffer + used, ' ', size - used);
}

void omp_set_affinity_format_(const char *format, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH];
    omp_set_affinity_format(from_fortran(text, sizeof(text), format, length));
}

int omp_get_affinity_format_(char *buffer, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH];
    size_t used = omp_get_affinity_format(text, sizeof(text));
    memcpy(buffer, text, used < length ? used : length);
    text_fill(buffer, length, used);
    return (int)used;
}

void omp_display_affinity_(const char *format, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH];
    omp_display_affinity(from_fortran(text, sizeof(text), format, length));
}

int omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH], line[1024];
    size_t used = omp_capture_affinity(line, sizeof(line), from_fortran(text, sizeof(text), format, length));
    size_t there = used < sizeof(line) ? used : sizeof(line) - 1;
    memcpy(buffer, line, there < size ? there : size);
    text_fill(buffer, size, there);
    return (int)used;
}
