/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of printing functions share: text that is printed into memory and looked through. */
#ifndef TEST_API_TEXT_H
#define TEST_API_TEXT_H

#include "common.h"

struct text {
    FILE *fp;
    char *chars;
    size_t size;
};

static inline void text_open(struct text *text)
{
    text->chars = NULL;
    text->fp = open_memstream(&text->chars, &text->size);
    if (!text->fp)
        bail_out("open_memstream");
}

static inline void text_close(struct text *text)
{
    fclose(text->fp);
    free(text->chars);
}

/* Everything is flushed. */
static inline int count_in(const struct text *text, const char *word)
{
    int count = 0;

    if (!text->chars)
        return 0;
    for (const char *at = text->chars; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static inline size_t length_of(const struct text *text)
{
    return text->chars ? strlen(text->chars) : 0;
}

/* prints(call): it succeeds and has flushed some text. */
#define prints(text, call)                                                                                             \
    do {                                                                                                               \
        size_t before_it = length_of(&(text));                                                                         \
        ok_abt(call);                                                                                                  \
        ok(length_of(&(text)) > before_it, "something is printed");                                                    \
    } while (0)

#endif
