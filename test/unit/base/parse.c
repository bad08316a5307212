/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/parse.h"
#include "tap.h"

static void test_bool(void)
{
    static const char *const falses[] = {"0", "n", "N", "no", "No", "false", "FALSE", "off", "oFf"};
    static const char *const trues[] = {"1", "y", "Y", "yes", "Yes", "true", "TRUE", "on", "oN"};
    static const char *const others[] = {"", " ", "2", "10", "00", "yes ", " no", "offf", "t", "f", "xyz"};

    for (int before = 0; before < 2; before++) {
        bool value;
        for (size_t i = 0; i < ABTI_ARRAY_LEN(falses); i++) {
            value = before;
            ok(abti_parse_bool(falses[i], &value) == ABTI_PARSED_ALL && !value, "'%s' is false", falses[i]);
        }
        for (size_t i = 0; i < ABTI_ARRAY_LEN(trues); i++) {
            value = before;
            ok(abti_parse_bool(trues[i], &value) == ABTI_PARSED_ALL && value, "'%s' is true", trues[i]);
        }
        for (size_t i = 0; i < ABTI_ARRAY_LEN(others); i++) {
            value = before;
            ok(abti_parse_bool(others[i], &value) == ABTI_PARSED_NONE && value == before, "'%s' is neither", others[i]);
        }
    }
}

static void test_words(void)
{
    ok(abti_parse_is_word("MMap_RP", "mmap_rp"), "word in any case");
    ok(!abti_parse_is_word("mmap_rp ", "mmap_rp"), "the whole text counts");
    ok(!abti_parse_is_word(NULL, "mmap_rp"), "unset is no word");
    ok(abti_parse_is_off("n") && abti_parse_is_off("No") && abti_parse_is_off("FALSE") && abti_parse_is_off("off"),
       "words that switch off");
    ok(!abti_parse_is_off("0") && !abti_parse_is_off("") && !abti_parse_is_off(NULL), "the digit 0 does not");
}

enum { UNTOUCHED = 5 };
#define NONE ABTI_PARSED_NONE
#define PART ABTI_PARSED_PART
#define ALL ABTI_PARSED_ALL

struct number {
    const char *text;
    enum abti_parsed parsed;
    uint64_t want;
};

static void check_numbers(enum abti_parsed (*parse)(const char *, uint64_t *), const char *kind,
                          const struct number *numbers, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        uint64_t got = UNTOUCHED; /* what stays when nothing is understood */
        is_int(parse(numbers[i].text, &got), numbers[i].parsed, "%s '%s': how much it is", kind, numbers[i].text);
        is_int(got, numbers[i].want, "%s '%s'", kind, numbers[i].text);
    }
}

static void test_int(void)
{
    static const struct number numbers[] = {
        {"17", ALL, 17},
        {"", NONE, UNTOUCHED},
        {"x", NONE, UNTOUCHED},
        {"-", NONE, UNTOUCHED},
        {" + - ", NONE, UNTOUCHED},
        {" \t\r\n42", ALL, 42},
        {"42 \n", ALL, 42},
        {"\v42", NONE, UNTOUCHED},
        {"42k", PART, 42},
        {"42 43", PART, 42},
        {"0x10", PART, 0},
        {"010", ALL, 10},
        {"-3", ALL, 0},
        {"--3", ALL, 3},
        {"+-+-3", ALL, 3},
        {"- 3", NONE, UNTOUCHED},
        {"18446744073709551615", ALL, UINT64_MAX},
        {"18446744073709551614", ALL, UINT64_MAX - 1},
        {"18446744073709551616", ALL, UINT64_MAX},
        {"18446744073709551620", ALL, UINT64_MAX},
        {"99999999999999999999999999", ALL, UINT64_MAX},
        {"-99999999999999999999999999", ALL, 0},
    };
    check_numbers(abti_parse_int, "number", numbers, ABTI_ARRAY_LEN(numbers));
}

static void test_size(void)
{
    static const struct number sizes[] = {
        {"17", ALL, 17},
        {" +17 ", ALL, 17},
        {"-17k", ALL, 0},
        {"k", NONE, UNTOUCHED},
        {"", NONE, UNTOUCHED},
        {"16k", ALL, 16384},
        {"16K", ALL, 16384},
        {"16kb", ALL, 16384},
        {"16 KiB", ALL, 16384},
        {"16 kIB ", ALL, 16384},
        {"3m", ALL, 3 << 20},
        {"3MiB", ALL, 3 << 20},
        {"2g", ALL, (uint64_t)2 << 30},
        {"2GB", ALL, (uint64_t)2 << 30},
        {"1T", ALL, (uint64_t)1 << 40},
        {"512b", ALL, 512},
        {"512B", ALL, 512},
        {"16ki", PART, 16},
        {"16kk", PART, 16},
        {"16 k 5", PART, 16},
        {"1.5m", PART, 1},
        {"16x", PART, 16},
        {"0x4000", ALL, 0x4000},
        {"0X4000", ALL, 0x4000},
        {"0xfFk", ALL, 255 * 1024},
        {"0x1b", ALL, 27},
        {"0x", PART, 0},
        {"0xg", PART, 0},
        {"010", ALL, 10},
        {"18446744073709551615k", ALL, UINT64_MAX},
        {"18014398509481984k", ALL, UINT64_MAX},
        {"18014398509481983k", ALL, UINT64_MAX - 1023},
        {"0xffffffffffffffffff", ALL, UINT64_MAX},
    };
    check_numbers(abti_parse_size, "size", sizes, ABTI_ARRAY_LEN(sizes));
}

/* Spells out entry after entry, "1,2,3 4,5,6 ", up to a limit. */
static void spell(const struct abti_cpu_list *list, char *text, size_t size)
{
    size_t len = 0;

    text[0] = '\0';
    for (uint64_t e = 0; e < list->num_entries; e++) {
        struct abti_cpu_entry entry = abti_cpu_list_entry(list, e);
        for (size_t r = 0; r < entry.num_ranges; r++) {
            for (int k = 0; k < entry.ranges[r].num && len < size; k++) {
                long long id = entry.ranges[r].first + entry.shift + (long long)k * entry.ranges[r].stride;
                len += (size_t)snprintf(text + len, size - len, "%lld,", id);
            }
        }
        len -= len > 0;
        len += (size_t)snprintf(text + len, size - len, " ");
    }
}

static void test_good_lists(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"0", "0 "},
        {"0,1,2", "0 1 2 "},
        {"3:3", "3 4 5 "},
        {"3:3:2", "3 5 7 "},
        {"3:3:-2", "3 1 -1 "},
        {"3:2:0", "3 3 "},
        {"-1", "-1 "},
        {"{0,1}", "0,1 "},
        {"{0:4}", "0,1,2,3 "},
        {"{0:2:4,1}:2:2", "0,4,1 2,6,3 "},
        {"{0}:2,7", "0 1 7 "},
        {" { 0 : 2 , 5 } : 2 : 10 , 3 ", "0,1,5 10,11,15 3 "},
        {"\t1\n,\r2", "1 2 "},
        {"+1,--2", "1 2 "},
        {"2147483647", "2147483647 "},
        {"-2147483647", "-2147483647 "},
    };

    for (size_t i = 0; i < ABTI_ARRAY_LEN(cases); i++) {
        struct abti_cpu_list *list = NULL;
        char text[256] = "";
        int err = abti_parse_cpu_list(cases[i].text, &list);
        if (err == 0)
            spell(list, text, sizeof(text));
        is_str(text, cases[i].want, "list '%s'", cases[i].text);
        free(list);
    }
}

static void test_bad_lists(void)
{
    static const char *const cases[] = {
        "",     " ",       ",",     "a",    "1,",    ",1",     "1 2",   "1;2",        "{",    "}",
        "{}",   "{1",      "1}",    "{1,}", "{{1}}", "{1}{2}", "1:",    "1:0",        "1:-1", "1:1048576",
        "1:2:", "1:2:3:4", "{1:0}", "{1}:", "{1}:0", "yes",    "1:2:x", "2147483648", "0x1",  "1.5",
    };

    for (size_t i = 0; i < ABTI_ARRAY_LEN(cases); i++) {
        struct abti_cpu_list *list = NULL;
        is_int(abti_parse_cpu_list(cases[i], &list), -EINVAL, "no list: '%s'", cases[i]);
        ok(!list, "nothing is stored");
    }
}

static void test_long_lists(void)
{
    struct abti_cpu_list *list = NULL;

    is_int(abti_parse_cpu_list("{0:1048575:2}:1048575:3,7", &list), 0, "a list too long to be spelt out");
    if (!list)
        return;
    is_int(list->num_entries, 1048576, "its length");
    struct abti_cpu_entry entry = abti_cpu_list_entry(list, 1048574);
    is_int(entry.shift, 3 * 1048574, "last of the first interval");
    entry = abti_cpu_list_entry(list, 1048575);
    is_int(entry.ranges[0].first + entry.shift, 7, "second interval");
    entry = abti_cpu_list_entry(list, 1048576 + 2);
    is_int(entry.shift, 6, "ranks go round");
    free(list);
}

int main(void)
{
    test_bool();
    test_words();
    test_int();
    test_size();
    test_good_lists();
    test_bad_lists();
    test_long_lists();
    return done_testing();
}
