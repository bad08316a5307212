/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammars of the environment variables. Text in, value out: no environment, no threads, no OS. */
#ifndef ABTI_BASE_PARSE_H
#define ABTI_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* How much of a text has a meaning. Of one that has none the parsers store nothing. */
enum abti_parsed {
    ABTI_PARSED_NONE,
    ABTI_PARSED_PART, /* the beginning, and the rest was ignored */
    ABTI_PARSED_ALL,
};

/* "0 n no false off" and "1 y yes true on", letters in any case, the whole text. */
enum abti_parsed abti_parse_bool(const char *text, bool *value) ABTI_MUST_CHECK;

/* Whether `text` is `word`, letters in any case. False for NULL. */
bool abti_parse_is_word(const char *text, const char *word);

/*
 * Whether `text` is a word that switches a feature off although its variable holds a list: "n no false off", not "0".
 */
bool abti_parse_is_off(const char *text);

/*
 * Blanks, then a run of signs, then decimal digits. A negative number counts as 0, and one that does not fit saturates.
 */
enum abti_parsed abti_parse_int(const char *text, uint64_t *value) ABTI_MUST_CHECK;

/*
 * The same, where the digits may also be hexadecimal after 0x, and a unit may follow, in any case: k, m, g or t, alone
 * or with b or ib behind, each of which is 1024 times the one before; or b.
 */
enum abti_parsed abti_parse_size(const char *text, uint64_t *value) ABTI_MUST_CHECK;

/* The CPU ids first, first + stride, ..., num of them. */
struct abti_cpu_range {
    int first;
    int num;
    int stride;
};

/* num entries of the list: the ranges [begin, end), then the same moved by stride, by 2 * stride, ... */
struct abti_cpu_interval {
    size_t begin;
    size_t end;
    int num;
    int stride;
};

/*
 * A parsed affinity list. Its entries are not spelt out, because a short text can stand for more of them than memory
 * holds. Immutable after parsing; one allocation, freed with free().
 */
struct abti_cpu_list {
    uint64_t num_entries; /* at least 1 */
    size_t num_intervals;
    struct abti_cpu_interval *intervals;
    struct abti_cpu_range *ranges;
};

/*
 * list     = interval { "," interval }
 * interval = idset [ ":" num [ ":" stride ] ]
 * idset    = id | "{" idrange { "," idrange } "}"
 * idrange  = id [ ":" num [ ":" stride ] ]
 * with blanks allowed between tokens. Returns 0, -EINVAL (text is not such a list) or -ENOMEM.
 */
int abti_parse_cpu_list(const char *text, struct abti_cpu_list **list) ABTI_MUST_CHECK;

/* One entry of a list: each id of each range, plus shift. */
struct abti_cpu_entry {
    const struct abti_cpu_range *ranges;
    size_t num_ranges;
    int64_t shift;
};

/* Returns the entry for a rank: the rank modulo the number of entries. */
struct abti_cpu_entry abti_cpu_list_entry(const struct abti_cpu_list *list, uint64_t rank);

#endif
