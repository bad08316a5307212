/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a stream sleeps between two reads of what nobody tells it about. */
#include "idle/repoll.h"
#include "tap.h"

/* The ES sleeps from `now` to its next poll. The time then. */
static uint64_t sleep_until_look(struct abti_repoll *repoll, uint64_t now, bool often)
{
    now = abti_repoll_next(repoll, now, often);
    abti_repoll_learn(repoll, now);
    return now;
}

int main(void)
{
    struct abti_repoll repoll = {0};
    uint64_t now = 1000000000, next = sleep_until_look(&repoll, now, false), expected = ABTI_REPOLL_NS;
    bool doubles = next == now + expected;

    while (expected < ABTI_REPOLL_RARELY_NS) {
        now = next;
        next = sleep_until_look(&repoll, now, false);
        expected *= 2;
        doubles &= next == now + expected;
    }
    ok(doubles, "the first sleep is short, and each that follows in vain twice as long");
    for (int i = 0; i < 3; i++) {
        now = next;
        next = sleep_until_look(&repoll, now, false);
        is_int(next - now, ABTI_REPOLL_RARELY_NS, "up to 8 ms");
    }
    now = next;
    next = sleep_until_look(&repoll, now, true);
    is_int(next - now, ABTI_REPOLL_NS, "a stream that is told to stop looks often");
    now = next;
    next = sleep_until_look(&repoll, now, false);
    is_int(next - now, 2 * ABTI_REPOLL_NS, "and more seldom again after that");
    now = next + ABTI_REPOLL_SOON_NS;
    next = sleep_until_look(&repoll, now, false);
    is_int(next - now, ABTI_REPOLL_NS, "as does one that has run something in between");
    return done_testing();
}
