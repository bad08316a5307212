/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

void abti_text_add(struct abti_text *text, const char *chars)
{
    while (*chars && text->len + 1 < text->size)
        text->chars[text->len++] = *chars++;
    text->chars[text->len] = '\0';
}

void abti_text_add_number(struct abti_text *text, uint64_t number, unsigned base)
{
    char digits[24], *at = digits + sizeof(digits) - 1;
    *at = '\0';
    do {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    abti_text_add(text, base == 16 ? "0x" : "");
    abti_text_add(text, at);
}

void abti_text_copy(char *to, size_t size, const char *chars)
{
    struct abti_text text = {.chars = to, .size = size};
    abti_text_add(&text, chars);
}
