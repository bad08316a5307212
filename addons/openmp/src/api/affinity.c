/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the standard that ask for places, and those that print where a thread is. */
#include "omp.h"

#include <stdio.h>
#include <string.h>
#include "api/routines.h"
#include "api/affinity.versions.h"

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static bool is_place(int place)
{
    abtomp_start();
    return place >= 0 && place < abtomp_place_list.num;
}

ABTOMP_API int omp_get_proc_bind(void)
{
    return abtomp_self()->icvs.bind;
}

ABTOMP_API int omp_get_num_places(void)
{
    abtomp_start();
    return abtomp_place_list.num;
}

ABTOMP_API int omp_get_place_num_procs(int place)
{
    return is_place(place) ? abtomp_cpus_count(&abtomp_place_list.sets[place]) : 0;
}

ABTOMP_API void omp_get_place_proc_ids(int place, int *ids)
{
    for (int i = 0, num = omp_get_place_num_procs(place); i < num; i++)
        ids[i] = abtomp_place_processor(place, i);
}

ABTOMP_API int omp_get_place_num(void)
{
    const struct abtomp_member *me = abtomp_self();
    return me->place - 1;
}

ABTOMP_API int omp_get_partition_num_places(void)
{
    const struct abtomp_member *me = abtomp_self();
    return me->partition.num > 0 ? me->partition.num : abtomp_place_list.num;
}

ABTOMP_API void omp_get_partition_place_nums(int *places)
{
    const struct abtomp_member *me = abtomp_self();
    for (int i = 0, num = omp_get_partition_num_places(); i < num; i++)
        places[i] = (me->partition.first + i) % abtomp_place_list.num;
}

/* ---- A text with what a thread is and where --- */

ABTOMP_API size_t omp_capture_affinity(char *buffer, size_t size, const char *format)
{
    return abtomp_affinity_text(abtomp_self(), buffer, size, format);
}

ABTOMP_API void omp_display_affinity(const char *format)
{
    abtomp_affinity_display(abtomp_self(), format);
}

ABTOMP_API void omp_set_affinity_format(const char *format)
{
    abtomp_start();
    snprintf(abtomp_env.affinity_format, sizeof(abtomp_env.affinity_format), "%s", format);
}

ABTOMP_API size_t omp_get_affinity_format(char *buffer, size_t size)
{
    abtomp_start();
    if (size > 0)
        snprintf(buffer, size, "%s", abtomp_env.affinity_format);
    return strlen(abtomp_env.affinity_format);
}

/* ---- Fortran ----------------------------------------------------------------------------------------------------- */

ABTOMP_FORTRAN(int, omp_get_proc_bind, (void));
ABTOMP_FORTRAN(int, omp_get_num_places, (void));
ABTOMP_FORTRAN(int, omp_get_place_num, (void));
ABTOMP_FORTRAN(int, omp_get_partition_num_places, (void));
ABTOMP_FORTRAN(void, omp_get_partition_place_nums, (int *places));
ABTOMP_FORTRAN_INT(int, omp_get_place_num_procs)

ABTOMP_API void omp_get_partition_place_nums_8_(int64_t *places)
{
    const struct abtomp_member *me = abtomp_self();
    for (int i = 0, num = omp_get_partition_num_places(); i < num; i++)
        places[i] = (me->partition.first + i) % abtomp_place_list.num;
}

ABTOMP_API void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids)
{
    omp_get_place_proc_ids(*place, ids);
}

ABTOMP_API void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
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

ABTOMP_API void omp_set_affinity_format_(const char *format, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH];
    omp_set_affinity_format(from_fortran(text, sizeof(text), format, length));
}

ABTOMP_API int omp_get_affinity_format_(char *buffer, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH];
    size_t used = omp_get_affinity_format(text, sizeof(text));
    memcpy(buffer, text, used < length ? used : length);
    text_fill(buffer, length, used);
    return (int)used;
}

ABTOMP_API void omp_display_affinity_(const char *format, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH];
    omp_display_affinity(from_fortran(text, sizeof(text), format, length));
}

ABTOMP_API int omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t length)
{
    char text[ABTOMP_FORMAT_LENGTH], line[1024];
    size_t used = omp_capture_affinity(line, sizeof(line), from_fortran(text, sizeof(text), format, length));
    size_t there = used < sizeof(line) ? used : sizeof(line) - 1;
    memcpy(buffer, line, there < size ? there : size);
    text_fill(buffer, size, there);
    return (int)used;
}
