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

    for (size_t i = 0; i < ABTI_ARRAY_LEN(falses); i++)
        ok(!abti_parse_bool(falses[i], true) && !abti_parse_bool(falses[i], false), "'%s' is false", falses[i]);
    for (size_t i = 0; i < ABTI_ARRAY_LEN(trues); i++)
        ok(abti_parse_bool(trues[i], true) && abti_parse_bool(trues[i], false), "'%s' is true", trues[i]);
    for (size_t i = 0; i < ABTI_ARRAY_LEN(others); i++)
        ok(abti_parse_bool(others[i], true) && !abti_parse_bool(others[i], false), "'%s' is default", others[i]);
    ok(abti_parse_bool(NULL, true) && !abti_parse_bool(NULL, false), "unset is default");
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

static void test_uint(void)
{
    static const struct {
        const char *text;
        uint64_t dflt, min, max, want;
    } cases[] = {
        {"17", 5, 0, 100, 17},
        {NULL, 5, 0, 100, 5},
        {"", 5, 0, 100, 5},
        {"x", 5, 0, 100, 5},
        {"-", 5, 0, 100, 5},
        {" + - ", 5, 0, 100, 5},
        {NULL, 5, 8, 100, 8},
        {NULL, 500, 8, 100, 100},
        {" \t\r\n42", 5, 0, 100, 42},
        {"\v42", 5, 0, 100, 5},
        {"42k", 5, 0, 100, 42},
        {"42 43", 5, 0, 100, 42},
        {"0x10", 5, 0, 100, 0},
        {"010", 5, 0, 100, 10},
        {"-3", 5, 0, 100, 0},
        {"-3", 5, 1, 100, 1},
        {"--3", 5, 1, 100, 3},
        {"+-+-3", 5, 1, 100, 3},
        {"- 3", 5, 1, 100, 5},
        {"200", 5, 1, 100, 100},
        {"18446744073709551615", 5, 0, UINT64_MAX, UINT64_MAX},
        {"18446744073709551614", 5, 0, UINT64_MAX, UINT64_MAX - 1},
        {"18446744073709551616", 5, 0, UINT64_MAX, UINT64_MAX},
        {"18446744073709551620", 5, 0, UINT64_MAX, UINT64_MAX},
        {"99999999999999999999999999", 5, 0, UINT64_MAX, UINT64_MAX},
        {"-99999999999999999999999999", 5, 0, UINT64_MAX, 0},
        {"50", 5, 80, 60, 60},
    };

    for (size_t i = 0; i < ABTI_ARRAY_LEN(cases); i++) {
        uint64_t got = abti_parse_uint(cases[i].text, cases[i].dflt, cases[i].min, cases[i].max);
        is_int(got, cases[i].want, "number '%s'", cases[i].text ? cases[i].text : "(unset)");
    }
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
    test_uint();
    test_good_lists();
    test_bad_lists();
    test_long_lists();
    return done_testing();
}
