/* SPDX-License-Identifier: BSD-3-Clause */
/* How often waiters for a mutex look, and how often they are passed over. */
#include "sync/mutex_policy.h"
#include "tap.h"

static void test_looks(bool behind_others, int expected)
{
    struct abti_mutex_looks looks = abti_mutex_allow_looks(behind_others);
    int num = 0, pauses = 1;
    bool doubles = true;

    for (; looks.left > 0; num++, pauses *= 2)
        doubles &= abti_mutex_learn_look(&looks) == pauses;
    is_int(num, expected, "so many looks %s", behind_others ? "behind others" : "alone");
    ok(doubles, "each pause is twice as long");
}

static void test_relook(void)
{
    struct abti_mutex_relook relook = abti_mutex_relook_new, other = abti_mutex_relook_new;
    uint64_t now = 1000000007, step = ABTI_MUTEX_LOOK_FIRST_NS;
    bool in_time = true, on_steps = true;

    for (; step < ABTI_MUTEX_LOOK_RARELY_NS; step *= 2) {
        uint64_t next = abti_mutex_relook_next(&relook, now);
        in_time &= next >= now + step && next < now + 2 * step;
        on_steps &= next % step == 0;
        now = next;
        (void)abti_mutex_relook_next(&other, now);
    }
    ok(in_time, "a look comes after a step, or up to one more, and the step doubles");
    ok(on_steps, "looks come at multiples of their step");
    is_int(relook.step_ns, ABTI_MUTEX_LOOK_RARELY_NS, "up to the longest one");
    uint64_t next = abti_mutex_relook_next(&relook, now);
    ok(next == abti_mutex_relook_next(&other, now + 12345), "two that have waited for long look together");
    is_int(relook.step_ns, ABTI_MUTEX_LOOK_RARELY_NS, "which stays");
}

static void test_turn(void)
{
    struct abti_mutex_turn turn = {0};
    int passes = 0;

    for (; passes < 10 * ABTI_MUTEX_PASSES && abti_mutex_turn_may_pass(&turn); passes++)
        abti_mutex_turn_learn_pass(&turn);
    is_int(passes, ABTI_MUTEX_PASSES, "a waiter is passed over so many times");
    ok(!abti_mutex_turn_may_pass(&turn), "and not again");
}

int main(void)
{
    test_looks(false, ABTI_MUTEX_LOOKS);
    test_looks(true, ABTI_MUTEX_LOOKS_BEHIND);
    test_relook();
    test_turn();
    return done_testing();
}
