/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/distance.h"
#include "base/compiler.h"
#include "tap.h"

int main(void)
{
    static const struct {
        const char *a, *b;
        unsigned want;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "", 3},
        {"TRACE", "trace", 0},
        {"TRACE", "TRAC", 1},
        {"TRACE", "TRACES", 1},
        {"TRACE", "TRICE", 1},
        {"TRACE", "TARCE", 1},
        {"TRACE", "RTACE", 1},
        {"TRACE", "RTAEC", 2},
        {"THREAD_STACK_SIZE", "THREAD_STACKSIZE", 1},
        {"kitten", "sitting", 3},
        {"abc", "xyz", 3},
        {"ca", "abc", 3},
    };
    char word[100];

    for (size_t i = 0; i < ABTI_ARRAY_LEN(cases); i++) {
        is_int(abti_distance(cases[i].a, cases[i].b), cases[i].want, "from '%s' to '%s'", cases[i].a, cases[i].b);
        is_int(abti_distance(cases[i].b, cases[i].a), cases[i].want, "from '%s' to '%s'", cases[i].b, cases[i].a);
    }
    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    is_int(abti_distance("", word), ABTI_DISTANCE_ROOM - 1, "the end of a word that is too long does not count");
    is_int(abti_distance(word, word), 99 - (ABTI_DISTANCE_ROOM - 1), "but that of the first one does");
    return done_testing();
}
