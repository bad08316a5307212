/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/parse.h"

#include <ctype.h>
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

enum abti_parsed abti_parse_bool(const char *text, bool *value)
{
    static const char *const false_words[] = {"0", "n", "no", "false", "off", NULL};
    static const char *const true_words[] = {"1", "y", "yes", "true", "on", NULL};
    bool is_true = is_one_of_words(text, true_words);

    if (!is_true && !is_one_of_words(text, false_words))
        return ABTI_PARSED_NONE;
    *value = is_true;
    return ABTI_PARSED_ALL;
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

/* The value of a digit of any base; a very large one for any other character. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return UINT_MAX;
}

/* Reads digits and moves *text behind them; false, and *text stays, when there is none. */
static bool scan_digits(const char **text, unsigned base, uint64_t *value)
{
    const char *p = *text;
    unsigned digit;

    *value = 0;
    for (; (digit = digit_value(*p)) < base; p++)
        *value = *value > (UINT64_MAX - digit) / base ? UINT64_MAX : *value * base + digit;
    bool some = p > *text;
    *text = p;
    return some;
}

/* Moves *text behind blanks and signs. True when the signs make a number negative. */
static bool skip_signs(const char **text)
{
    bool negative = false;

    for (*text = skip_blanks(*text); **text == '+' || **text == '-'; (*text)++)
        negative ^= **text == '-';
    return negative;
}

/* Reads a signed number and moves *text behind it; false, and *text stays, when there is no digit. */
static bool scan_number(const char **text, bool *negative, uint64_t *magnitude)
{
    const char *p = *text;

    *negative = skip_signs(&p);
    if (!scan_digits(&p, 10, magnitude))
        return false;
    *text = p;
    return true;
}

static enum abti_parsed parsed_up_to(const char *rest)
{
    return *skip_blanks(rest) == '\0' ? ABTI_PARSED_ALL : ABTI_PARSED_PART;
}

enum abti_parsed abti_parse_int(const char *text, uint64_t *value)
{
    uint64_t magnitude;
    bool negative;

    if (!scan_number(&text, &negative, &magnitude))
        return ABTI_PARSED_NONE;
    *value = negative ? 0 : magnitude;
    return parsed_up_to(text);
}

/* Reads a unit of sizes and moves *text behind it: the power of two. Where none is there, 0, and *text stays. */
static unsigned scan_unit(const char **text)
{
    static const char letters[] = "kmgt";
    const char *p = skip_blanks(*text);
    const char *letter = *p ? strchr(letters, tolower((unsigned char)*p)) : NULL;

    if (letter)
        p++;
    if (letter && tolower((unsigned char)p[0]) == 'i' && tolower((unsigned char)p[1]) == 'b')
        p++;
    if (tolower((unsigned char)*p) == 'b')
        p++;
    if (*skip_blanks(p) != '\0')
        return 0; /* it is something else */
    *text = p;
    return letter ? 10 * (unsigned)(letter - letters + 1) : 0;
}

enum abti_parsed abti_parse_size(const char *text, uint64_t *value)
{
    uint64_t magnitude;
    bool negative = skip_signs(&text);
    bool is_hex = text[0] == '0' && tolower((unsigned char)text[1]) == 'x' && digit_value(text[2]) < 16;

    if (is_hex)
        text += 2;
    if (!scan_digits(&text, is_hex ? 16 : 10, &magnitude))
        return ABTI_PARSED_NONE;
    unsigned shift = scan_unit(&text);
    if (magnitude > UINT64_MAX >> shift)
        magnitude = UINT64_MAX;
    else
        magnitude <<= shift;
    *value = negative ? 0 : magnitude;
    return parsed_up_to(text);
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
