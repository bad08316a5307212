#include "base/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More entries than this in one interval or range is a typing error, not a machine. */
#define CPU_NUM_MAX 1048575

static bool is_one_of_words(const char *text, const char *const *words)
{
    for (; *words; words++) {
        if (strcasecmp(text, *words) == 0)
            return true;
    }
    return false;
}

bool abti_parse_bool(const char *text, bool dflt)
{
    static const char *const false_words[] = {"0", "n", "no", "false", "off", NULL};
    static const char *const true_words[] = {"1", "y", "yes", "true", "on", NULL};

    if (!text)
        return dflt;
    return dflt ? !is_one_of_words(text, false_words) : is_one_of_words(text, true_words);
}

bool abti_parse_is_word(const char *text, const char *word)
{
    return text && strcasecmp(text, word) == 0;
}

bool abti_parse_is_off(const char *text)
{
    static const char *const off_words[] = {"n", "no", "false", "off", NULL};
    return text && is_one_of_words(text, off_words);
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
        p++;
    return p;
}

/* Reads a signed number and moves *text behind it; false, and *text stays, when there is no digit. */
static bool scan_number(const char **text, bool *negative, uint64_t *magnitude)
{
    const char *p = skip_blanks(*text);
    bool neg = false;
    uint64_t value = 0;

    for (; *p == '+' || *p == '-'; p++)
        neg ^= *p == '-';
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *text = p;
    *negative = neg;
    *magnitude = value;
    return true;
}

uint64_t abti_parse_uint(const char *text, uint64_t dflt, uint64_t min, uint64_t max)
{
    uint64_t value = dflt, magnitude;
    bool negative;

    if (text && scan_number(&text, &negative, &magnitude))
        value = negative ? 0 : magnitude;
    if (value < min)
        value = min;
    return value > max ? max : value;
}

/* --- affinity lists: one function per rule of the grammar, each moves *text behind what it took --- */

static bool accept_token(const char **text, char token)
{
    const char *p = skip_blanks(*text);
    if (*p != token)
        return false;
    *text = p + 1;
    return true;
}

static bool take_int(const char **text, int *value)
{
    bool negative;
    uint64_t magnitude;

    if (!scan_number(text, &negative, &magnitude) || magnitude > INT_MAX)
        return false;
    *value = negative ? -(int)magnitude : (int)magnitude;
    return true;
}

/* [ ":" num [ ":" stride ] ] */
static bool take_repeat(const char **text, int *num, int *stride)
{
    *num = 1;
    *stride = 1;
    if (!accept_token(text, ':'))
        return true;
    if (!take_int(text, num) || *num < 1 || *num > CPU_NUM_MAX)
        return false;
    return !accept_token(text, ':') || take_int(text, stride);
}

static bool take_range(const char **text, struct abti_cpu_range *range)
{
    return take_int(text, &range->first) && take_repeat(text, &range->num, &range->stride);
}

/* Appends the ranges of one id set behind ranges[*end]. */
static bool take_idset(const char **text, struct abti_cpu_range *ranges, size_t *end)
{
    if (!accept_token(text, '{')) {
        struct abti_cpu_range *range = &ranges[(*end)++];
        range->num = 1;
        range->stride = 1;
        return take_int(text, &range->first);
    }
    do {
        if (!take_range(text, &ranges[(*end)++]))
            return false;
    } while (accept_token(text, ','));
    return accept_token(text, '}');
}

static bool take_list(const char *text, struct abti_cpu_list *list)
{
    size_t end = 0;

    list->num_entries = 0;
    list->num_intervals = 0;
    do {
        struct abti_cpu_interval *interval = &list->intervals[list->num_intervals++];
        interval->begin = end;
        if (!take_idset(&text, list->ranges, &end) || !take_repeat(&text, &interval->num, &interval->stride))
            return false;
        interval->end = end;
        list->num_entries += (uint64_t)interval->num;
    } while (accept_token(&text, ','));
    return *skip_blanks(text) == '\0';
}

int abti_parse_cpu_list(const char *text, struct abti_cpu_list **list)
{
    /* Intervals and ranges are both separated by commas, so that the commas bound the number of either. */
    size_t most = 1;
    for (const char *p = text; *p; p++)
        most += *p == ',';

    struct abti_cpu_list *l =
        malloc(sizeof(*l) + most * (sizeof(struct abti_cpu_interval) + sizeof(struct abti_cpu_range)));
    if (!l)
        return -ENOMEM;
    l->intervals = (struct abti_cpu_interval *)(l + 1);
    l->ranges = (struct abti_cpu_range *)(l->intervals + most);
    if (!take_list(text, l)) {
        free(l);
        return -EINVAL;
    }
    *list = l;
    return 0;
}

struct abti_cpu_entry abti_cpu_list_entry(const struct abti_cpu_list *list, uint64_t rank)
{
    const struct abti_cpu_interval *interval = list->intervals;
    uint64_t index = rank % list->num_entries;

    for (; index >= (uint64_t)interval->num; interval++)
        index -= (uint64_t)interval->num;
    return (struct abti_cpu_entry){
        .ranges = &list->ranges[interval->begin],
        .num_ranges = interval->end - interval->begin,
        .shift = (int64_t)index * interval->stride,
    };
}
