/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a stream sleeps between two looks at what nobody tells it about. */
#include "idle/relook.h"
#include "tap.h"

/* The ES sleeps from `now` to its next look. The time then. */
static uint64_t sleep_until_look(struct abti_relook *relook, uint64_t now, bool often)
{
    now = abti_relook_next(relook, now, often);
    abti_relook_learn(relook, now);
    return now;
}

int main(void)
{
    struct abti_relook relook = {0};
    uint64_t now = 1000000000, next = sleep_until_look(&relook, now, false), expected = ABTI_RELOOK_NS;
    bool doubles = next == now + expected;

    while (expected < ABTI_RELOOK_RARELY_NS) {
        now = next;
        next = sleep_until_look(&relook, now, false);
        expected *= 2;
        doubles &= next == now + expected;
    }
    ok(doubles, "the first sleep is short, and each that follows in vain twice as long");
    for (int i = 0; i < 3; i++) {
        now = next;
        next = sleep_until_look(&relook, now, false);
        is_int(next - now, ABTI_RELOOK_RARELY_NS, "up to 8 ms");
    }
    now = next;
    next = sleep_until_look(&relook, now, true);
    is_int(next - now, ABTI_RELOOK_NS, "a stream that is told to stop looks often");
    now = next;
    next = sleep_until_look(&relook, now, false);
    is_int(next - now, 2 * ABTI_RELOOK_NS, "and more seldom again after that");
    now = next + ABTI_RELOOK_SOON_NS;
    next = sleep_until_look(&relook, now, false);
    is_int(next - now, ABTI_RELOOK_NS, "as does one that has run something in between");
    return done_testing();
}
